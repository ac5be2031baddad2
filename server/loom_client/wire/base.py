"""What all requests and all answers have in common.

A request is strict: a text is never read as a number, an unknown field is an error, and null
stands only where a field says so. An answer carries the fields that were set and no others, so
that a feature that is not built shows no empty field; a client reads past fields that a newer
service sends.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError


class Request(BaseModel):
    """The base of every request and of the objects inside one."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Answer(BaseModel):
    """The base of every answer. `None` is sent as null; a field that was not set is not sent."""

    model_config = ConfigDict(extra="ignore")

    def json_bytes(self) -> bytes:
        """The answer as it goes over the wire."""
        return self.__pydantic_serializer__.to_json(self, exclude_unset=True)

    def plain(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True)


def refused(path: str, message: str) -> PydanticCustomError:
    """An error about how fields stand to each other, told at the one that is to be mended."""
    return PydanticCustomError("fields", "{message}", {"path": path, "message": message})
