"""A small HTTP server that goes wrong to order: one answer a connection, in the order given, the last one for ever.

An answer is the bytes to send; `HANG` keeps the connection silent, `RESET` breaks it off.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

HANG, RESET = b"hang", b"reset"


def http(status: int, body: bytes | object, **headers: str) -> bytes:
    """A whole answer; `retry_after="1"` becomes the header Retry-After."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-length": str(len(content)), "connection": "close", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
    return f"HTTP/1.1 {status} Told\r\n{lines}\r\n".encode() + content


@dataclass
class Faulty:
    """The server's address, and what it was asked: the moment and the request's head, in lower case."""

    address: str
    asked: list[tuple[float, str]] = field(default_factory=list)

    def header(self, name: str) -> list[str]:
        """The values of a header over all requests; '' where it was not sent."""
        heads = [dict(line.split(": ", 1) for line in head.splitlines() if ": " in line) for _, head in self.asked]
        return [head.get(name, "") for head in heads]


@contextmanager
def faulty(*answers: bytes) -> Iterator[Faulty]:
    """The server while the block runs."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    server = Faulty(f"http://127.0.0.1:{listener.getsockname()[1]}")
    ended = threading.Event()
    thread = threading.Thread(target=_serve, args=(listener, server, answers, ended))
    thread.start()
    try:
        yield server
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _serve(listener: socket.socket, server: Faulty, answers: Sequence[bytes], ended: threading.Event) -> None:
    kept: list[socket.socket] = []
    while not ended.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:
            break
        answer = answers[min(len(server.asked), len(answers) - 1)]
        server.asked.append((monotonic(), _request(connection)))
        if answer == HANG:
            kept.append(connection)
            continue
        if answer == RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(answer)
        connection.close()
    for connection in kept:
        connection.close()


def _request(connection: socket.socket) -> str:
    """Read a whole request; its head."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    told = head.decode().lower()
    length = int(told.partition("content-length: ")[2].partition("\r\n")[0] or 0)
    while len(body) < length:
        body += connection.recv(65_536)
    return told.replace("\r\n", "\n")
