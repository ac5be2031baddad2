"""A file's text, or the fault that names why there is none.

UTF-8 with or without a byte order mark, or UTF-16 with one. Nothing is guessed: a wrong
guess would store mangled words that no query ever finds.
"""

from __future__ import annotations

import codecs

from loom_server.ingest.files.row import Bounds, Fault, SourceFile

BINARY_PROBE_BYTES = 8192
EMPTY = "empty"


def read_text(file: SourceFile, bounds: Bounds) -> str | Fault:
    """The whole text with line ends as `\\n`. A file without any is a skipped fault."""
    if file.size > bounds.file_bytes:
        return Fault(file.name, "", f"{file.size:,} bytes; at most {bounds.file_bytes:,} are read, so split the file")
    try:
        data = file.path.read_bytes()
    except OSError as error:
        return Fault(file.name, "", f"cannot be read: {error.strerror}")
    text = decode(data, file.name)
    if isinstance(text, Fault):
        return text
    if not text.strip():
        return Fault(file.name, "", EMPTY, "skipped")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode(data: bytes, name: str) -> str | Fault:
    """Bytes as text; a fault carries the line of the first wrong byte."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _strict(data, name, "utf-16", "UTF-16")
    if b"\0" in data[:BINARY_PROBE_BYTES]:
        return Fault(name, "", "binary, not text")
    return _strict(data, name, "utf-8-sig", "UTF-8")


def _strict(data: bytes, name: str, codec: str, label: str) -> str | Fault:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Fault(name, str(line), f"not {label} (byte 0x{data[error.start]:02x}); save the file as UTF-8")
