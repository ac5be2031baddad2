"""The kinds of text and time that fields are made of, each with its bound and its sentence.

| kind | holds |
|---|---|
| `Name` | 1–128 letters, marks, digits and `_ . : @ / + # = ~ -`: an org, a namespace, a writer |
| `Reference` | a `Name`, or `-` for "none" |
| `Key` | 1–512 characters without control characters |
| `Label` | 1–256 characters without control characters: a tag, a category, an entity |
| `Moment` | ISO 8601 in the years 1901 to 2298; without a zone it is UTC |

Names become parts of keys and paths, so they hold no space, quote or glob character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

NONE = "-"
NAME_CHARS = 128
KEY_CHARS = 512
LABEL_CHARS = 256
MOST_LABELS = 64
FIRST_YEAR, LAST_YEAR = 1901, 2298
_LONGEST_MOMENT = 40

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:@/+#=~-]+")
_NAME_PATTERN = r"^[\p{L}\p{M}\p{N}_.:@/+#=~-]+$"
_NAME_MARKS = frozenset("_.:@/+#=~-")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TEXT_PATTERN = r"^[^\u0000-\u001f\u007f-\u009f]*$"


@dataclass(frozen=True, slots=True)
class Characters:
    """Text of `least` to `most` characters, each of which `allows` lets through."""

    least: int
    most: int
    pattern: str
    rule: str
    allows: Callable[[str], bool]

    def check(self, value: str) -> str:
        """The value, or an error that states the whole rule."""
        if self.least <= len(value) <= self.most and self.allows(value):
            return value
        raise PydanticCustomError("characters", "must have {rule}", {"rule": self.rule})

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "minLength": self.least, "maxLength": self.most, "pattern": self.pattern}


def _is_name(value: str) -> bool:
    if _PLAIN_NAME.fullmatch(value):
        return value != NONE
    return all(c in _NAME_MARKS or unicodedata.category(c)[0] in "LMN" for c in value)


def _is_reference(value: str) -> bool:
    return value == NONE or _is_name(value)


def _is_printable(value: str) -> bool:
    return _CONTROL.search(value) is None


def plain(least: int, most: int) -> Characters:
    """Text without control characters."""
    return Characters(
        least, most, _TEXT_PATTERN, f"{least} to {most} characters and no control characters", _is_printable
    )


_ALPHABET = "letters, digits and _ . : @ / + # = ~ -"
Name = Annotated[
    str, Characters(1, NAME_CHARS, _NAME_PATTERN, f"1 to {NAME_CHARS} {_ALPHABET}, and not be '-'", _is_name)
]
Reference = Annotated[
    str,
    Characters(1, NAME_CHARS, _NAME_PATTERN, f"1 to {NAME_CHARS} {_ALPHABET}; '-' means none", _is_reference),
]
Key = Annotated[str, plain(1, KEY_CHARS)]
Label = Annotated[str, plain(1, LABEL_CHARS)]
OptionalLabel = Annotated[str, plain(0, LABEL_CHARS)]
Labels = Annotated[list[Label], Field(max_length=MOST_LABELS)]
Metadata = Annotated[dict[Label, JsonValue], Field(max_length=MOST_LABELS)]


def _is_sha256(value: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{64}", value) is not None


Sha256 = Annotated[str, Characters(64, 64, "^[0-9a-f]{64}$", "64 hexadecimal digits in lower case", _is_sha256)]


def read_moment(value: object) -> datetime:
    """ISO 8601 text, or a datetime, as a time in UTC."""
    moment = value if isinstance(value, datetime) else _parsed(value)
    if moment is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        rule = f"a time such as 2026-05-01T09:30:00Z, in the years {FIRST_YEAR} to {LAST_YEAR}"
        raise PydanticCustomError("moment", "must be {rule}", {"rule": rule})
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _parsed(value: object) -> datetime | None:
    if not isinstance(value, str) or len(value) > _LONGEST_MOMENT:
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


Moment = Annotated[datetime, BeforeValidator(read_moment)]
