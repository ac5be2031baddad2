"""The wrapper of all remote embedders, with the OpenAI one on a local server: batches, cuts, time, cancellation."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from embedding_server import KEY, EmbeddingServer, embedding_server, vectors
from journal import logging_as
from loom_server.embed import breaker, caller
from loom_server.embed.breaker import FAILURES
from loom_server.embed.openai import openai_embedder
from loom_server.embed.remote import BATCH_BYTES, Remote, revision_of
from loom_server.errors import Cancelled, ConfigError, DeadlineExceeded, EmbedError
from loom_server.model.deadline import Deadline


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pauses between attempts, unless the server asks for one."""
    monkeypatch.setattr(caller, "PAUSES_S", (0.0, 0.0))


def embedder(server: EmbeddingServer, **more: object) -> Remote:
    return openai_embedder(server.settings("openai", **more))


def test_texts_go_in_batches_and_come_back_in_their_order(server: EmbeddingServer) -> None:
    texts = [f"text number {number}" for number in range(10)]
    rows = embedder(server, embedder_batch=4).passages(texts)
    assert sorted(len(asked.texts) for asked in server.asked) == [2, 4, 4]
    assert rows == pytest.approx(vectors(texts, 256) / 3.0, abs=1e-6)


def test_a_request_holds_a_bounded_number_of_bytes(server: EmbeddingServer) -> None:
    length = 4 * 8_192
    texts = [f"{number:04} " + "ü" * length for number in range(13)]
    embedder(server, embed_max_tokens=8_192).passages(texts)
    sizes = [sum(len(text.encode()) for text in asked.texts) for asked in server.asked]
    assert max(sizes) <= BATCH_BYTES
    assert len(sizes) == math.ceil(13 / (BATCH_BYTES // length))


def test_blank_texts_are_not_sent(server: EmbeddingServer) -> None:
    rows = embedder(server).passages(["", "red house", " \n"])
    assert server.texts == ["red house"]
    assert rows.any(axis=1).tolist() == [False, True, False]
    assert not embedder(server).query("\t").any()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("text", "sent"), [("a" * 100, "a" * 32), ("ü" * 100, "ü" * 16), ("aü東" * 9, "aü東" * 5 + "a")]
)
def test_a_text_is_cut_by_bytes_between_characters(server: EmbeddingServer, text: str, sent: str) -> None:
    embedder(server, embed_max_tokens=8).query(text)
    assert server.texts == [sent]


def test_a_lone_surrogate_is_sent_as_a_question_mark(server: EmbeddingServer) -> None:
    embedder(server).query("red \ud800 house")
    assert server.texts == ["red ? house"]


def test_no_more_requests_than_allowed_run_at_once(server: EmbeddingServer) -> None:
    server.order("slow", seconds=0.05)
    shared = embedder(server, embedder_batch=1, embedder_concurrency=3)
    threads = [threading.Thread(target=shared.passages, args=([f"{name} {n}" for n in range(4)],)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(server.asked), server.most_at_once) == (12, 3)


def test_a_slow_endpoint_leaves_half_of_the_time(server: EmbeddingServer) -> None:
    server.order("slow", seconds=3.0)
    shared = embedder(server)
    deadline = Deadline(2.0)
    with pytest.raises(EmbedError, match="time"):
        shared.query("red house", deadline=deadline)
    deadline.check()


def test_time_that_was_over_before_is_no_failure_of_the_embedder(server: EmbeddingServer) -> None:
    with pytest.raises(DeadlineExceeded):
        embedder(server).query("red house", deadline=Deadline(0.0))
    assert server.asked == []


def test_one_attempt_takes_no_longer_than_its_time_out(server: EmbeddingServer) -> None:
    server.order("slow", seconds=1.0)
    with pytest.raises(EmbedError, match="did not answer in time"):
        embedder(server, embedder_timeout_s=0.05).query("red house")
    assert len(server.asked) == 3


def test_a_caller_that_goes_away_is_let_go(server: EmbeddingServer) -> None:
    server.order("slow", seconds=3.0)
    deadline = Deadline(60)
    shared = embedder(server, embedder_concurrency=1, embedder_batch=1)
    threading.Timer(0.1, deadline.cancel).start()
    with pytest.raises(Cancelled):
        shared.passages(["a", "b", "c"], deadline)
    # What waited for its turn is not sent any more.
    server.order("fine")
    shared.query("d")
    assert server.texts == ["a", "d"]


def test_a_passing_failure_is_tried_again(server: EmbeddingServer) -> None:
    server.order("status", status=503, times=2)
    assert embedder(server).query("red house").any()
    assert len(server.asked) == 3


def test_the_wait_that_an_endpoint_asks_for_is_kept_to(server: EmbeddingServer) -> None:
    server.order("status", status=429, times=1, headers={"Retry-After": "0.4"})
    assert embedder(server).query("red house").any()
    first, second = (asked.at for asked in server.asked)
    assert second - first >= 0.4


@pytest.mark.parametrize(("after", "seconds"), [("30", 20.0), ("61", None)])
def test_a_wait_that_does_not_fit_is_told_at_once(server: EmbeddingServer, after: str, seconds: float | None) -> None:
    server.order("status", status=429, headers={"Retry-After": after})
    deadline = None if seconds is None else Deadline(seconds)
    with pytest.raises(EmbedError, match="no more requests") as told:
        embedder(server).query("red house", deadline=deadline)
    assert told.value.retry_after_s == float(after)
    assert len(server.asked) == 1


def test_an_endpoint_that_keeps_failing_is_left_alone(server: EmbeddingServer) -> None:
    shared = embedder(server)
    server.order("status", status=500)
    for _ in range(FAILURES):
        with pytest.raises(EmbedError, match="HTTP 500"):
            shared.query("red house")
    assert len(server.asked) == 3 * FAILURES
    with pytest.raises(EmbedError, match=f"failed {FAILURES} times in a row; it is left alone") as told:
        shared.query("red house")
    assert 0.0 < (told.value.retry_after_s or 0.0) <= 5.0
    assert len(server.asked) == 3 * FAILURES


def test_a_trial_is_one_request(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "PAUSE_S", 0.0)
    shared = embedder(server)
    server.order("status", status=500)
    for _ in range(FAILURES + 2):
        with pytest.raises(EmbedError, match="HTTP 500"):
            shared.query("red house")
    assert len(server.asked) == 3 * FAILURES + 2
    server.order("fine")
    assert shared.query("red house").any()


def test_the_log_tells_once_that_it_is_left_alone_and_that_it_is_back(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(breaker, "PAUSE_S", 0.0)
    shared = embedder(server)
    with logging_as("json", "info"):
        server.order("status", status=401)
        for _ in range(FAILURES + 2):
            with pytest.raises(EmbedError):
                shared.query("red house")
        server.order("fine")
        shared.query("red house")
        shared.query("blue door")
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(one["event"], one["level"]) for one in told] == [
        ("embedder_left_alone", "warning"),
        ("embedder_back", "info"),
    ]
    assert "LOOM_EMBEDDER_API_KEY" in told[0]["reason"]


def test_a_burst_that_passes_counts_nothing(server: EmbeddingServer) -> None:
    shared = embedder(server)
    for number in range(2 * FAILURES):
        server.order("status", status=429, times=2)
        assert shared.query(f"red house {number}").any()


def test_callers_in_a_hurry_do_not_have_the_endpoint_left_alone(server: EmbeddingServer) -> None:
    shared = embedder(server)
    shared.query("green roof")
    server.order("slow", seconds=0.3)
    for _ in range(2 * FAILURES):
        with pytest.raises((EmbedError, DeadlineExceeded)):
            shared.query("red house", deadline=Deadline(0.2))
    assert shared.query("blue door").any()


def test_texts_that_are_refused_do_not_have_the_endpoint_left_alone(server: EmbeddingServer) -> None:
    shared = embedder(server)
    server.order("status", status=400, times=2 * FAILURES)
    for _ in range(2 * FAILURES):
        with pytest.raises(EmbedError, match="refused"):
            shared.query("red house")
    assert shared.query("red house").any()


def test_one_batch_that_fails_fails_the_call_and_ends_the_others(server: EmbeddingServer) -> None:
    server.order("status", status=400, times=1)
    with pytest.raises(EmbedError):
        embedder(server, embedder_batch=1, embedder_concurrency=1).passages(["a", "b", "c"])
    assert embedder(server).query("d").any()
    assert server.texts == ["a", "d"]


def test_a_probe_asks_only_where_nothing_was_answered_lately(server: EmbeddingServer) -> None:
    shared = embedder(server)
    shared.probe()
    shared.probe()
    assert len(server.asked) == 1
    server.order("status", status=400, times=1)
    with pytest.raises(EmbedError):
        shared.query("red house")
    shared.probe()
    assert len(server.asked) == 2
    server.order("status", status=401)
    with pytest.raises(EmbedError):
        shared.query("red house")
    with pytest.raises(EmbedError, match="denied"):
        shared.probe()
    server.order("fine")
    shared.probe()


@pytest.mark.parametrize("kind", ["dimension", "nan"])
def test_a_probe_tells_of_answers_that_are_of_no_use(server: EmbeddingServer, kind: str) -> None:
    shared = embedder(server)
    shared.probe()
    server.order(kind)
    for _ in range(2):
        with pytest.raises(EmbedError):
            shared.query("red house")
        with pytest.raises(EmbedError):
            shared.probe()


def test_an_unknown_dimension_is_asked_for_once(server: EmbeddingServer) -> None:
    given = {"embedder_dimension": 0, "embedder_model": "nomic-embed-text:v1.5"}
    shared = embedder(server, **given)
    assert shared.identity.name == "openai:nomic-embed-text@v1.5:768:1"
    assert len(server.asked) == 1
    assert np.linalg.norm(shared.query("red house")) == pytest.approx(1.0)


def test_an_unknown_dimension_and_an_endpoint_that_is_down(server: EmbeddingServer) -> None:
    server.order("drop")
    with pytest.raises(ConfigError, match="LOOM_EMBEDDER_DIMENSION"):
        embedder(server, embedder_dimension=0, embedder_model="nomic-embed-text:v1.5")
    known = embedder(server, embedder_dimension=768, embedder_model="nomic-embed-text:v1.5")
    server.order("fine")
    assert known.query("red house").shape == (768,)


def test_prefixes_make_another_revision() -> None:
    revisions = [revision_of(*pair) for pair in [("", ""), ("q: ", ""), ("", "q: "), ("q: ", "p: ")]]
    assert revisions[0] == "1"
    assert len(set(revisions)) == 4


def test_no_message_repeats_the_key(server: EmbeddingServer) -> None:
    wrong = f"{KEY}-wrong"
    given = server.settings("openai", embedder_api_key=wrong)
    with pytest.raises(EmbedError, match="denied") as told:
        openai_embedder(given).query("red house")
    assert wrong not in repr(told.getrepr(chain=True)) + repr(given) + str(given)
