"""A stand-in for ClickHouse's HTTP interface over the embedded engine: `python clickhouse_http.py DIR [--port N]`.

The engine is real and so is the wire; the server is not ClickHouse's. It proves a client's code
and its handling of the wire. It has no sessions, users, TLS or clusters, and does not carry a
`query_id`. Of a form, into which the driver puts long parameters, a field may hold `FIELD_BYTES`, as
in ClickHouse. The status of an engine's error is always 500.

It prints `{"url": ...}` as one JSON line. `POST /orders` with a JSON object gives the next
statements' faults: `{"drop": N}` runs N statements and closes without an answer, `{"refuse": N}`
answers 503 without running, `{"close": N}` closes without running, `{"stall": N}` keeps them waiting for
`STALL_S` before they run. A new order replaces the old.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
import sys
import time
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.frame
from backports import zstd

_TRANSPORT = frozenset(
    "query query_id session_id wait_end_of_query client_protocol_version send_progress_in_http_headers "
    "http_headers_progress_interval_ms enable_http_compression cancel_http_readonly_queries_on_client_close "
    "database role quota_key compress decompress buffer_size session_timeout session_check".split()
)
_UNPACK: dict[str, Any] = {"gzip": gzip.decompress, "lz4": lz4.frame.decompress, "zstd": zstd.decompress}
_FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
# Not \s before the line break: a block of ten columns begins with one.
_INSERT = re.compile(rb"(\s*INSERT\s+INTO\s[^\n]*?)\s+FORMAT\s+(\w+)[ \t\r]*\n", re.IGNORECASE)
STALL_S = 3.0
URI_BYTES = 1_048_576
"""ClickHouse's `http_max_uri_size`."""
FIELD_BYTES = 131_072
"""ClickHouse's `http_max_field_value_size`."""
_CODE = re.compile(r"Code: (\d+)")


class StandIn(ThreadingHTTPServer):
    """The engine of one directory behind a loopback port."""

    daemon_threads = True

    def __init__(self, directory: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.path = str(directory)
        self._engine = chdb.connect(self.path)
        self._orders: dict[str, int] = {}
        self._guard = Lock()

    def order(self, orders: dict[str, int]) -> None:
        """Replace the faults that are still to come."""
        with self._guard:
            self._orders = dict(orders)

    def fault(self) -> str:
        """The fault of this statement, or nothing."""
        with self._guard:
            for kind, left in self._orders.items():
                if left > 0:
                    self._orders[kind] = left - 1
                    return kind
        return ""


def fields(kind: str, body: bytes) -> dict[str, str]:
    """A form's fields. Raises ValueError where one is longer than a ClickHouse server reads."""
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    found: dict[str, str] = {}
    for part in message.iter_parts():
        value = cast(bytes, part.get_payload(decode=True))
        if len(value) > FIELD_BYTES:
            raise ValueError("Code: 1000. DB::Exception: HTML Form Exception: Field value too long")
        found[str(part.get_param("name", header="content-disposition"))] = value.decode()
    return found


def run(path: str, given: dict[str, str], body: bytes) -> tuple[bytes, str]:
    """Run one request on a handle of its own: the answer and its format, empty where it has none."""
    text = given.get("query", "").encode()
    whole = text + b"\n" + body if text else body
    handle: Any = chdb.connect(path)
    try:
        for name, value in given.items():
            if name not in _TRANSPORT and not name.startswith("param_"):
                handle.query(f"SET {name} = '{value}'")
        if found := _INSERT.match(whole):
            writer = handle.send_insert(found[1].decode(), found[2].decode())
            writer.append(whole[found.end() :])
            writer.finish()
            return b"", ""
        sql = whole.decode().strip()
        named = _FORMAT.search(sql)
        bound = {name.removeprefix("param_"): value for name, value in given.items() if name.startswith("param_")}
        if named:
            return handle.query(sql[: named.start()], named[1], params=bound).bytes(), named[1]
        # Without a FORMAT the names tell an empty result from none.
        answer = handle.query(sql, "TabSeparatedWithNames", params=bound).bytes()
        return answer.partition(b"\n")[2], "TabSeparated" if answer else ""
    finally:
        handle.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One packet an answer: else Nagle and the delayed acknowledgement cost 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: StandIn

    def handle_one_request(self) -> None:
        # The library's own reads 64 KiB of an address, where the driver puts a command's parameters.
        self.raw_requestline = self.rfile.readline(URI_BYTES)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            self.do_POST()

    def do_POST(self) -> None:
        body = self._body()
        address = urlsplit(self.path)
        if address.path == "/orders":
            self.server.order(json.loads(body))
            return self._answer(200, b"", {})
        kind = self.server.fault()
        if kind == "refuse":
            return self._answer(503, b"refused by order", {})
        if kind == "close":
            return self._hang_up()
        if kind == "stall":
            time.sleep(STALL_S)
        try:
            packed = self.headers.get("Content-Encoding", "")
            body = _UNPACK[packed](body) if packed in _UNPACK else body
            given = dict(parse_qsl(address.query, keep_blank_values=True, max_num_fields=None))
            if self.headers.get_content_type() == "multipart/form-data":
                given, body = given | fields(self.headers["Content-Type"], body), b""
            answer, form = run(self.server.path, given, body)
        except (RuntimeError, ValueError, KeyError) as error:
            code = _CODE.search(str(error))
            return self._answer(500, str(error).encode(), {"X-ClickHouse-Exception-Code": code[1] if code else "1002"})
        if kind == "drop":
            return self._hang_up()
        return self._answer(200, answer, {"X-ClickHouse-Format": form} if form else {})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content)), "X-ClickHouse-Timezone": "UTC"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: standard error belongs to the engine."""


if __name__ == "__main__":
    port = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 0
    with StandIn(Path(sys.argv[1]), port) as server:
        print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
        server.serve_forever()
