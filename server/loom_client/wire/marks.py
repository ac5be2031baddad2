"""Marks on fields whose feature is not built, and what a request that uses one is told.

    recipe: Annotated[str | None, NotBuilt("name search_mode and legs instead")] = None

Validation itself refuses a marked field that is present and not null, at any depth, with the
error type `not_supported`; so there is no second list that could fall behind the models. A
null is the same as leaving the field out. `BuiltOnly` does the same for single values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import (
    BaseModel,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

NOT_SUPPORTED = "not_supported"
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True)
class NotBuilt:
    """Marks a known field that is refused. `instead` ends the sentence "is not built yet; …"."""

    instead: str

    def refuse(self, value: object) -> object:
        """The value, where it is null; else a `not_supported` error."""
        if value is None:
            return None
        raise PydanticCustomError(NOT_SUPPORTED, "is not built yet; {instead}", {"instead": self.instead})

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.refuse, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        shown = handler(schema)
        shown["x-not-built"] = self.instead
        return shown


@dataclass(frozen=True, slots=True)
class BuiltOnly:
    """Marks a closed set of values of which only `built` can be used."""

    built: tuple[str, ...]

    def judge(self, value: object, known: ValidatorFunctionWrapHandler) -> object:
        """The value, where it is built; else an error that names the values that are."""
        try:
            known(value)
        except ValidationError:
            raise PydanticCustomError("choice", "must be one of {built}", self._context(value)) from None
        if value in self.built:
            return value
        raise PydanticCustomError(NOT_SUPPORTED, "'{value}' is not built yet; use one of {built}", self._context(value))

    def _context(self, value: object) -> dict[str, object]:
        return {"value": str(value)[:_SHOWN_CHARS], "built": ", ".join(self.built)}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self.judge, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        shown = handler(schema)
        shown["x-built-values"] = list(self.built)
        return shown


def unbuilt(model: type[BaseModel]) -> dict[str, str]:
    """The model's own fields that are not built, each with what to use instead."""
    marks = {name: info.metadata for name, info in model.model_fields.items()}
    return {name: mark.instead for name, found in marks.items() for mark in found if isinstance(mark, NotBuilt)}
