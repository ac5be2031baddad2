"""A file's name as a part of keys and ids.

The name stands as it is where the wire lets it: printable, and at most `STEM_CHARS` long, so that
a trail and a number still fit into a key. A longer one keeps its end, behind a short hash of
the whole, so that two long names stay two.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata

STEM_CHARS = 120
HASH_CHARS = 8
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SESSION_MARKS = frozenset("_.:@/+#=~-")


def printable(name: str) -> str:
    """The name as valid Unicode; bytes that are none, and control characters, show as `?`."""
    text = os.fsencode(name).decode("utf-8", "replace").replace("\ufffd", "?")
    return _CONTROL.sub("?", text)


def stem(name: str) -> str:
    """What the keys of a file's rows begin with."""
    if len(name) <= STEM_CHARS:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:HASH_CHARS]
    return f"{digest}~{name[-(STEM_CHARS - HASH_CHARS - 1) :]}"


def session_name(name: str) -> str:
    """The name as a session id: what an id may not hold becomes `-`."""
    kept = (c if c in _SESSION_MARKS or unicodedata.category(c)[0] in "LMN" else "-" for c in stem(name))
    return "".join(kept)
