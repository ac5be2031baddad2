"""Static vectors: the two formulas by hand, the tokens that count, and the package's data files."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from loom_server.embed.static import SMOOTHING, TENSOR, TOKENIZER, WEIGHTS, StaticEmbedder
from loom_server.errors import ConfigError, EmbedError

INSTALLED = Path(str(distribution("wordllama").locate_file("wordllama")))

PARAPHRASES = [
    ("Where does the team deploy its software?", "The production servers run in Frankfurt."),
    ("How do I get my money back?", "Refunds are paid within two weeks."),
    ("Who is allergic to nuts?", "Maria cannot eat peanuts or almonds."),
    ("When does the flight leave?", "The plane takes off at nine in the morning."),
    ("What car does he drive?", "He bought a red Toyota last year."),
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder(256)


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """The package's vectors, read without the code under test."""
    return load_file(INSTALLED / WEIGHTS)[TENSOR].astype(np.float64)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(INSTALLED / TOKENIZER))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_a_passage_is_the_unit_mean_of_its_token_vectors(embedder, table, tokenizer) -> None:
    red, house = table[tokenizer.token_to_id("▁red")], table[tokenizer.token_to_id("▁house")]
    rows = embedder.passages(["red house", "red red house"])
    assert rows[0] == pytest.approx(unit((red + house) / 2), abs=1e-6)
    assert rows[1] == pytest.approx(unit((2 * red + house) / 3), abs=1e-6)


def test_a_query_weights_each_token_by_its_share(embedder, table, tokenizer) -> None:
    asked: list[Sequence[str]] = []

    def share(tokens: Sequence[str]) -> list[float]:
        asked.append(tokens)
        return [0.001, 0.0]

    vector = embedder.query("red house", share)
    red, house = table[tokenizer.token_to_id("▁red")], table[tokenizer.token_to_id("▁house")]
    # a / (a + share): 0.001 / 0.002 for "red", and 1 for "house", which the namespace has never seen.
    assert SMOOTHING == 0.001
    assert vector == pytest.approx(unit(0.5 * red + 1.0 * house), abs=1e-6)
    assert asked == [("▁red", "▁house")]


def test_each_occurrence_of_a_token_is_weighted(embedder, table, tokenizer) -> None:
    red, house = table[tokenizer.token_to_id("▁red")], table[tokenizer.token_to_id("▁house")]
    vector = embedder.query("red house red", lambda tokens: [0.003 if token == "▁red" else 0.0 for token in tokens])
    assert vector == pytest.approx(unit(2 * 0.25 * red + house), abs=1e-6)


def test_a_share_just_outside_its_bounds_counts_as_the_bound(embedder) -> None:
    outside = embedder.query("red house", lambda _: [1.5, -0.2])
    assert (outside == embedder.query("red house", lambda _: [1.0, 0.0])).all()


@pytest.mark.parametrize("shares", [[0.1], [0.1, 0.1, 0.1], [], [0.1, float("nan")]])
def test_shares_that_do_not_fit_the_tokens_are_refused(embedder, shares: list[float]) -> None:
    with pytest.raises(EmbedError, match=r"wordllama:l2_supercat:256:\S+ was given no share for some of 2 tokens"):
        embedder.query("red house", lambda _: shares)


def test_a_query_without_tokens_asks_for_no_share(embedder) -> None:
    assert not embedder.query("  ", lambda _: [0.5]).any()


def test_tokens_are_spelled_as_the_vocabulary_does(embedder) -> None:
    assert embedder.tokens("the house of the Grüße") == ("▁the", "▁house", "▁of", "▁the", "▁Gr", "ü", "ße")


def test_tokens_are_the_same_before_and_after_the_text_was_embedded(embedder) -> None:
    texts = ["red fox", " red fox ", "", "ünique 42"]
    before = [embedder.tokens(text) for text in texts]
    embedder.passages(texts)
    assert [embedder.tokens(text) for text in texts] == before


def test_no_marker_of_a_beginning_is_counted(embedder, tokenizer) -> None:
    assert tokenizer.encode("red house").tokens == ["<s>", "▁red", "▁house"]
    assert embedder.tokens("red house") == ("▁red", "▁house")


def test_a_text_that_spells_a_marker_means_its_characters(embedder) -> None:
    assert embedder.tokens("a <s> b") == ("▁a", "▁<", "s", ">", "▁b")


def test_blanks_around_a_text_do_not_count(embedder) -> None:
    assert embedder.tokens(" \n red house\t") == ("▁red", "▁house")


def test_tokens_beyond_the_limit_do_not_count(embedder) -> None:
    eight = StaticEmbedder(8)
    text = "one two three four five six seven eight nine ten"
    assert eight.tokens(text) == embedder.tokens(text)[:8]
    assert (eight.passages([text]) == eight.passages(["one two three four five six seven eight"])).all()
    assert (eight.query(text) == eight.query("one two three four five six seven eight")).all()
    assert not (eight.passages([text]) == embedder.passages([text])).all()


@pytest.mark.parametrize(
    "text",
    [
        "addEventListener " * 900,
        "addEventListener" * 900,
        "naïve words, and 数字 " * 900,
        "東京都に住んでいます" * 1_500,
    ],
    ids=["longest tokens", "without a space", "mixed", "no spaces at all"],
)
def test_the_cut_of_a_long_text_changes_no_token_that_counts(embedder, tokenizer, text: str) -> None:
    whole = tokenizer.encode(text.strip(), add_special_tokens=False).tokens
    assert len(whole) > 256
    assert embedder.tokens(text) == tuple(whole[:256])


def test_batches_join_without_a_seam(embedder) -> None:
    texts = [f"note {number} about house {number % 7}" for number in range(600)]
    rows = embedder.passages(texts)
    assert all((rows[number] == embedder.passages([texts[number]])[0]).all() for number in (0, 255, 256, 257, 511, 599))


@pytest.mark.parametrize(("question", "answer"), PARAPHRASES)
def test_a_paraphrase_is_nearer_than_every_other_answer(embedder, question: str, answer: str) -> None:
    answers = [text for _, text in PARAPHRASES]
    cosines = embedder.passages(answers) @ embedder.query(question)
    assert answers[int(np.argmax(cosines))] == answer


@pytest.fixture
def root_logging() -> Iterator[None]:
    """Importing wordllama configures the root logger; put it back."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.mark.usefixtures("root_logging")
def test_passages_equal_the_packages_own_embedding(embedder) -> None:
    from wordllama import WordLlama

    own = WordLlama.load(cache_dir=INSTALLED, disable_download=True)
    texts = [text for pair in PARAPHRASES for text in pair]
    texts += ["Two  spaces, v1.9.2 and pg_hba.conf\nin lines", "日本語 😀", "word " * 150 + "end"]
    assert embedder.passages(texts) == pytest.approx(own.embed(texts, norm=True), abs=1e-3)


def test_the_packages_code_is_not_imported() -> None:
    script = (
        "import sys; from loom_server.embed.static import StaticEmbedder; "
        "StaticEmbedder(8).passages(['red']); print('wordllama' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=_environment()
    )
    assert done.stdout.strip() == "False"


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": ""}


def test_the_identity_is_a_digest_of_the_data_and_not_of_the_limit(embedder) -> None:
    assert embedder.identity == StaticEmbedder(8).identity
    assert embedder.identity.name == "wordllama:l2_supercat:256:mean-4d243a4b2dae"
    assert not embedder.identity.fake


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package called `otherllama` with the real tokenizer and no weights yet."""
    described = tmp_path / "otherllama-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: otherllama\nVersion: 1.0\n")
    root = tmp_path / "otherllama"
    for name in (WEIGHTS, TOKENIZER):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(INSTALLED / TOKENIZER, root / TOKENIZER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return root


def save_weights(package: Path, table: np.ndarray, name: str = TENSOR) -> None:
    save_file({name: table}, package / WEIGHTS)


def refusal() -> str:
    with pytest.raises(ConfigError) as refused:
        StaticEmbedder(256, package="otherllama")
    return refused.value.message


def test_a_package_that_is_not_installed_is_named_with_the_mend() -> None:
    assert refusal() == (
        'LOOM_EMBEDDER=static needs the package otherllama, which is not installed: pip install "otherllama".'
    )


def test_a_missing_file_is_named(package: Path) -> None:
    assert refusal() == f"Package otherllama has no readable otherllama/{WEIGHTS}; reinstall otherllama."
    save_weights(package, np.ones((32_000, 256), dtype=np.float16))
    (package / TOKENIZER).unlink()
    assert refusal() == f"Package otherllama has no readable otherllama/{TOKENIZER}; reinstall otherllama."


def test_other_weights_are_another_model(package: Path, embedder) -> None:
    save_weights(package, np.ones((32_000, 256), dtype=np.float16))
    other = StaticEmbedder(256, package="otherllama")
    assert other.query("red") == pytest.approx(np.full(256, 1 / 16), abs=1e-6)
    assert other.identity.revision != embedder.identity.revision


def test_weights_that_are_no_safetensors_are_refused(package: Path) -> None:
    (package / WEIGHTS).write_bytes(b"no weights")
    assert f"{WEIGHTS} of package otherllama holds no {TENSOR}" in refusal()


def test_weights_under_another_name_are_refused(package: Path) -> None:
    save_weights(package, np.ones((32_000, 256), dtype=np.float16), name="other")
    assert f"{WEIGHTS} of package otherllama holds no {TENSOR}" in refusal()


@pytest.mark.parametrize("table", [np.ones((32_000, 64)), np.full((32_000, 256), np.nan), np.ones(256)])
def test_a_table_of_another_width_or_with_nan_is_refused(package: Path, table: np.ndarray) -> None:
    save_weights(package, table.astype(np.float16))
    assert f"{WEIGHTS} of package otherllama lacks 256 finite numbers a token" in refusal()


def test_a_tokenizer_of_another_vocabulary_is_refused(package: Path) -> None:
    save_weights(package, np.ones((31_999, 256), dtype=np.float16))
    assert "its tokenizer and its 31999 vectors do not belong together" in refusal()


def test_a_file_that_is_no_tokenizer_is_refused(package: Path) -> None:
    save_weights(package, np.ones((32_000, 256), dtype=np.float16))
    (package / TOKENIZER).write_text("{}")
    assert refusal() == f"{TOKENIZER} of package otherllama is no tokenizer; reinstall otherllama."


def test_a_lone_surrogate_is_no_failure(embedder) -> None:
    assert embedder.tokens("\ud800 red") == embedder.tokens("? red")


def test_the_background_falls_with_the_rank_of_a_token(embedder: StaticEmbedder) -> None:
    # ids: "▁the" 278, "▁of" 310; rank = id - 258; share ~ 1 / (rank + 2.7), so 22.7 : 54.7
    the, of = embedder.background(("▁the", "▁of"))
    assert the / of == pytest.approx(54.7 / 22.7)


def test_the_background_adds_up_to_one(embedder: StaticEmbedder) -> None:
    assert sum(embedder.background(embedder._names)) == pytest.approx(1.0)  # pyright: ignore[reportPrivateUsage]
