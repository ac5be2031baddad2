"""One run at a time, told as it goes, and ended with the service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from loom_server.errors import Conflict, EmbedError, NotReady
from loom_server.keep.lacking import Lacking
from loom_server.keep.reembed import Stop, Told
from loom_server.observe.metrics import Metrics
from loom_server.service.reembedding import Progress, Reembedding


class Held:
    """Work that tells of ten rows and two orgs, does four and one of them, and waits."""

    def __init__(self) -> None:
        self.at_work, self.go = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def __call__(self, stop: Stop, told: Told) -> None:
        told.surveyed(Lacking(("a", "b"), 10, 300))
        told.embedded(4)
        told.finished("a")
        self.at_work.set()
        assert self.go.wait(30)
        stop.deadline(1.0)
        if self.error is not None:
            raise self.error
        told.embedded(8)
        told.finished("b")


@pytest.fixture
def job() -> Iterator[Reembedding]:
    made = Reembedding()
    yield made
    made.close()


def plain(progress: Progress) -> Progress:
    """Without what differs from run to run."""
    return replace(progress, started_at=None, ended_at=None, error=None)


def begun(job: Reembedding, org: str | None = None, metrics: Metrics | None = None) -> Held:
    work = Held()
    assert job.start(org, work, metrics).state == "running"
    assert work.at_work.wait(30)
    return work


def over(job: Reembedding, work: Held) -> Progress:
    work.go.set()
    thread = job.thread
    assert thread is not None
    thread.join(30)
    return job.progress


def value(metrics: Metrics, name: str) -> float | None:
    return metrics.registry.get_sample_value(name)


def test_a_run_tells_how_far_it_is_and_how_it_ended(job: Reembedding) -> None:
    assert job.progress == Progress()
    metrics = Metrics()
    work = begun(job, metrics=metrics)
    half = job.progress
    assert plain(half) == Progress("running", None, 2, 1, 10, 4, 300)
    assert (half.rows_left, half.ended_at) == (6, None)
    assert (value(metrics, "loom_reembed_rows_total"), value(metrics, "loom_reembed_rows_left")) == (4, 6)
    done = over(job, work)
    assert plain(done) == Progress("done", None, 2, 2, 12, 12, 300)
    assert done.started_at and done.ended_at and done.started_at <= done.ended_at
    assert (value(metrics, "loom_reembed_rows_total"), value(metrics, "loom_reembed_rows_left")) == (12, 0)


def test_a_second_start_joins_the_run_of_the_same_orgs_and_refuses_others(job: Reembedding) -> None:
    work = begun(job, "acme")
    again = Held()
    assert job.start("acme", again).org == "acme"
    with pytest.raises(Conflict, match="A re-embedding of acme runs already"):
        job.start(None, again)
    assert not again.at_work.is_set()
    assert over(job, work).state == "done"
    assert begun(job).go.set() is None


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (EmbedError("The embedder is away."), "embed_error", "The embedder is away."),
        (ValueError("a text of a caller"), "internal", "ValueError: the log of the service tells more."),
    ],
)
def test_a_failure_is_told_by_its_code(job: Reembedding, error: Exception, code: str, message: str) -> None:
    work = begun(job)
    work.error = error
    failed = over(job, work)
    assert failed.error is not None
    assert (failed.state, failed.error.code, failed.error.message) == ("failed", code, message)
    assert failed.rows_done == 4


def test_a_run_that_is_cancelled_ends_at_its_next_step(job: Reembedding) -> None:
    work = begun(job)
    assert job.cancel().state == "running"
    cancelled = over(job, work)
    assert (cancelled.state, cancelled.rows_done) == ("cancelled", 4)
    assert over(job, begun(job)).state == "done"


def test_closing_stops_the_run_waits_for_it_and_lets_none_begin() -> None:
    job = Reembedding()
    work = begun(job)
    work.go.set()
    job.close()
    assert job.progress.state in ("cancelled", "done")
    assert job.thread is not None
    assert not job.thread.is_alive()
    with pytest.raises(NotReady, match="start the re-embedding again when it runs"):
        job.start(None, work)


def test_cancelling_ends_the_time_of_the_step_that_runs() -> None:
    stop = Stop()
    step = stop.deadline(60.0)
    stop.ask()
    assert step.cancelled
