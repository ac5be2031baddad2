"""A local server that speaks the wires of the remote embedders, and goes wrong to order.

    OpenAI    POST /v1/embeddings             base64 or numbers, as `encoding_format` asks
    Voyage    POST /voyage/v1/embeddings      the same, with input types
    Cohere    POST /v2/embed                  base64 or numbers, by embedding type
    Bedrock   POST /model/{id}/invoke         one text, signed with AWS's Signature Version 4

Vectors are hashed words, so texts that share words are near. A key that is not `KEY`, or a signature that is not
right, is answered 403 or 401. What is asked for wrongly (an unknown model, an input type that does not exist, an
empty text, too many texts) is answered 400, as the providers do.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from loom_server.embed.hashed import HashedEmbedder
from loom_server.settings import Settings

REMOTE = ("openai", "cohere", "voyage", "bedrock")
KEY = "sk-local-3f1c9a7d5b"
ACCESS_KEY, SECRET_KEY, REGION = "AKIDLOCALTESTS", "local/secret+key", "eu-central-1"
DIMENSION = 256
"""Of the vectors in tests: small, and one that each API takes."""

MODELS = {
    "openai": {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "nomic-embed-text:v1.5": 768},
    "cohere": {"embed-v4.0": 1536, "embed-english-v3.0": 1024, "embed-of-tomorrow": 640},
    "voyage": {"voyage-4": 1024, "voyage-3": 1024, "voyage-of-tomorrow": 640},
    "bedrock": {"amazon.titan-embed-text-v2:0": 1024},
}
MOST = {"openai": 2048, "cohere": 96, "voyage": 128, "bedrock": 1}
ROLES = {
    "cohere": {"search_query": "query", "search_document": "document"},
    "voyage": {"query": "query", "document": "document"},
}
ORIGINS = {"openai": "/v1", "cohere": "", "voyage": "/voyage/v1", "bedrock": ""}


@dataclass(frozen=True)
class Order:
    """How the next `times` requests go.

    `kind` is `slow`, `status`, `drop`, what stands in the body (`html`, `list`), or what is wrong with the vectors
    (`nan`, `dimension`, `count`).
    """

    kind: str
    times: int = 1_000_000
    status: int = 500
    seconds: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request: the moment it came, its provider, texts and body."""

    at: float
    provider: str
    texts: tuple[str, ...]
    body: Mapping[str, Any]


class Refusal(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class EmbeddingServer(ThreadingHTTPServer):
    """Listens on a port of loopback."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._running = 0
        self._order: Order | None = None
        self._left = 0
        self._guard = threading.Lock()

    def order(self, kind: str, **how: Any) -> None:
        """Have the next requests go wrong; a new order replaces the old one, `fine` ends it."""
        with self._guard:
            self._order = None if kind == "fine" else Order(kind, **how)
            self._left = 0 if self._order is None else self._order.times

    def settings(self, provider: str, **more: object) -> Settings:
        """Settings of an embedder that asks this server."""
        return settings_for(provider, self.server_port, **more)

    @property
    def texts(self) -> list[str]:
        """Every text that was asked for, in the order of arrival."""
        return [text for asked in self.asked for text in asked.texts]

    @contextmanager
    def taken(self, asked: Asked) -> Iterator[Order | None]:
        """A request is under way; its order, where there is one."""
        with self._guard:
            self.asked.append(asked)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            order = self._order if self._left > 0 else None
            self._left -= 1
        try:
            yield order
        finally:
            with self._guard:
                self._running -= 1


def settings_for(provider: str, port: int, **more: object) -> Settings:
    """Settings of an embedder that asks the server on `port`."""
    given: dict[str, object] = {
        "embedder": provider,
        "embedder_base_url": f"http://127.0.0.1:{port}{ORIGINS[provider]}",
        "embedder_dimension": DIMENSION,
    }
    if provider == "bedrock":
        os.environ |= {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        given["embedder_region"] = REGION
    else:
        given["embedder_api_key"] = KEY
    return Settings.model_validate({**given, **more})


@contextmanager
def embedding_server(port: int = 0) -> Iterator[EmbeddingServer]:
    """The server while the block runs."""
    with EmbeddingServer(port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@cache
def shared_server() -> EmbeddingServer:
    """One that lives as long as the process and never goes wrong."""
    server = EmbeddingServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@cache
def _words(dimension: int, role: str) -> HashedEmbedder:
    return HashedEmbedder(dimension, max_words=8_192, passage_prefix=role)


def vectors(texts: Sequence[str], dimension: int, role: str = "") -> np.ndarray:
    """What the server answers: not of length 1, which is for the client to mend."""
    return _words(dimension, role).passages(texts) * np.float32(3.0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One packet an answer: else Nagle and the delayed acknowledgement cost 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: EmbeddingServer

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw)
        provider = self._provider()
        texts = tuple(body.get("texts") or body.get("input") or [body.get("inputText", "")])
        with self.server.taken(Asked(time.monotonic(), provider, texts, body)) as order:
            if order is not None and order.kind == "slow":
                time.sleep(order.seconds)
            if order is not None and order.kind == "drop":
                self.close_connection = True
                return
            try:
                self._authorised(provider, raw)
                self._answer(200, self._answered(provider, texts, body, order), order)
            except Refusal as refusal:
                told: Any = {_REASONS[provider]: str(refusal)} if provider in _REASONS else {"error": _error(refusal)}
                self._answer(refusal.status, told, order)

    def _provider(self) -> str:
        path = unquote(self.path)
        known = {"/v1/embeddings": "openai", "/voyage/v1/embeddings": "voyage", "/v2/embed": "cohere"}
        return known.get(path, "bedrock" if re.fullmatch(r"/model/[^/]+/invoke", path) else "")

    def _authorised(self, provider: str, raw: bytes) -> None:
        given = self.headers.get("Authorization", "")
        if provider == "":
            raise Refusal(404, "no such path")
        if provider == "bedrock":
            if not hmac.compare_digest(given, signed(self.path, dict(self.headers), raw)):
                raise Refusal(403, "The request signature we calculated does not match the signature you provided.")
        elif given != f"Bearer {KEY}":
            # As real ones do, it repeats a part of the key.
            raise Refusal(401, f"Incorrect API key provided: {given}")

    def _answered(self, provider: str, texts: Sequence[str], body: Mapping[str, Any], order: Order | None) -> Any:
        if order is not None and order.kind == "status":
            raise Refusal(order.status, "by order")
        model = unquote(self.path).split("/")[2] if provider == "bedrock" else body["model"]
        native = MODELS[provider].get(model)
        if native is None:
            raise Refusal(404, f"unknown model {model}")
        if len(texts) > MOST[provider] or not all(isinstance(text, str) and text.strip() for text in texts):
            raise Refusal(400, "empty or too many texts")
        roles = ROLES.get(provider)
        if roles is not None and body["input_type"] not in roles:
            raise Refusal(400, "unknown input type")
        role = "" if roles is None else roles[body["input_type"]]
        dimension = body.get("dimensions") or body.get("output_dimension") or native
        rows = _spoiled(vectors(texts, dimension, role), "" if order is None else order.kind)
        return _SHAPES[provider](rows, body)

    def _answer(self, status: int, told: Any, order: Order | None) -> None:
        kind = "" if order is None else order.kind
        html = kind == "html"
        content = b"<html>\xff sign in</html>" if html else json.dumps([told] if kind == "list" else told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if html else "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in ({} if order is None else order.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _spoiled(rows: np.ndarray, kind: str) -> np.ndarray:
    match kind:
        case "nan":
            rows[-1, 0] = np.nan
        case "dimension":
            rows = rows[:, :-1]
        case "count":
            rows = np.vstack([rows, rows[:1]])
    return rows


def _listed(rows: np.ndarray, body: Mapping[str, Any]) -> Any:
    """OpenAI's and Voyage's shape; the last item comes first, since each says its place."""
    coded = body.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(row.tobytes()).decode() if coded else row.tolist(),
        }
        for index, row in enumerate(rows.astype("<f4"))
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


def _by_type(rows: np.ndarray, body: Mapping[str, Any]) -> Any:
    coded = [base64.b64encode(row.tobytes()).decode() for row in rows.astype("<f4")]
    embeddings = {name: coded if name == "base64" else rows.tolist() for name in body["embedding_types"]}
    about = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}}
    return {"id": "local", "embeddings": embeddings, "texts": body["texts"], "meta": about}


def _alone(rows: np.ndarray, body: Mapping[str, Any]) -> Any:
    # The API answers a request for one text with one vector, so a wrong count is none.
    vector = rows[0].tolist() if len(rows) == 1 else []
    return {"embedding": vector, "inputTextTokenCount": 1, "embeddingsByType": {"float": vector}}


def _error(refusal: Refusal) -> Mapping[str, Any]:
    """OpenAI's own object."""
    return {"message": str(refusal), "type": "told", "param": None, "code": None}


_REASONS = {"cohere": "message", "voyage": "detail", "bedrock": "message"}
"""The member in which the others tell why they refuse."""

_SHAPES = {"openai": _listed, "voyage": _listed, "cohere": _by_type, "bedrock": _alone}


def signed(path: str, headers: Mapping[str, str], body: bytes) -> str:
    """The Authorization header that Signature Version 4 asks for over the headers that the client says it signed."""
    given = {name.lower(): value.strip() for name, value in headers.items()}
    told = re.search(r"Credential=([^,]+), SignedHeaders=([^,]+)", given.get("authorization", ""))
    if told is None:
        return ""
    scope, names = told[1].split("/")[1:], told[2].split(";")
    lines = "".join(f"{name}:{given.get(name, '')}\n" for name in names)
    digest = hashlib.sha256(body).hexdigest()
    canonical = "\n".join(["POST", quote(path, safe="/-_.~"), "", lines, told[2], digest])
    moment = given.get("x-amz-date", "")
    text = "\n".join(["AWS4-HMAC-SHA256", moment, "/".join(scope), hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{SECRET_KEY}".encode()
    for part in (moment[:8], REGION, "bedrock", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    credential = "/".join([ACCESS_KEY, *scope])
    return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={told[2]}, Signature={signature}"
