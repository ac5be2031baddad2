"""The closed sets of words of the wire, known and built.

A word that is known and not built is refused as `not_supported`; one that is not known is a
wrong value.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from loom_client.wire.marks import BuiltOnly

MemoryType = Literal["fact", "preference", "episode", "procedure", "semantic"]
SourceClass = Literal["asserted", "observed", "extracted", "imported", "external"]
Sensitivity = Literal["none", "low", "medium", "high"]
Status = Literal["live", "superseded", "tombstoned"]
FloorMode = Literal["readmit", "ids_only", "drop"]
SearchScope = Literal["namespace", "agent", "user", "session"]
AbstainCode = Literal["page_expired", "no_match", "entity_absent", "below_threshold", "low_calibrated_confidence"]
Risk = Literal["low", "medium", "high", "abstain"]
Recipe = Literal["fast", "balanced", "quality", "verbatim", "code", "temporal", "graph", "memloom", "teamloop"]
RetrievalBudget = Literal["fast", "standard", "deep"]
ReembedAction = Literal["plan", "start", "status", "cancel"]
Language = Literal[
    "ar", "da", "de", "en", "es", "fi", "fr", "hu", "it", "ja", "km", "lo", "my", "nb", "nl", "pt", "ro", "ru", "sv",
    "th", "und", "zh",
]  # fmt: skip
"""ISO 639 codes; `und` leaves words as they are written."""

BUILT_MODES = ("semantic", "rrf", "hybrid", "bm25_hybrid", "lexical")
SearchMode = Annotated[
    Literal["semantic", "rrf", "hybrid", "bm25_hybrid", "lexical", "graph", "temporal", "related"],
    BuiltOnly(BUILT_MODES),
]

BUILT_LEGS = ("fact", "lexical", "bm25")
LegName = Annotated[
    Literal[
        "fact", "key_axis", "lexical", "bm25", "chunk", "digest", "entity", "graph", "record", "key_match", "computed"
    ],
    BuiltOnly(BUILT_LEGS),
]


def _one_or_many(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    # The branches of a union would report their errors one by one, under names that no request has.
    try:
        return handler(value)
    except ValidationError:
        choices = ", ".join(get_args(SourceClass))
        raise PydanticCustomError(
            "choice", "must be one of {choices}, or a list of them", {"choices": choices}
        ) from None


SourceClasses = Annotated[
    SourceClass | Annotated[list[SourceClass], Field(min_length=1, max_length=5)], WrapValidator(_one_or_many)
]
