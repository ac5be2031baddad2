"""What a service says of itself: `ops.health` and `ops.capabilities`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loom_client.wire.base import Answer, Request


class OpsHealthRequest(Request):
    """Ask how the service is."""


class HealthCheck(Answer):
    """One thing that was looked at."""

    name: str = Field(description="What was looked at.")
    ok: bool = Field(description="Whether it works.")
    detail: str = Field(description="What was seen, or what to do.")


class OpsHealthResponse(Answer):
    """How the service is. It serves while `status` is 'ok' or 'degraded'."""

    status: Literal["ok", "degraded", "failed"] = Field(description="The worst of the checks.")
    version: str = Field(description="The version of the service.")
    schema_version: int = Field(description="The last migration that was applied.")
    embedding_model: str = Field(description="The model that turns text into vectors.")
    uptime_s: float = Field(description="Seconds since it became ready.")
    checks: tuple[HealthCheck, ...] = Field(description="What was looked at.")


class StartProgress(Answer):
    """How far the start of the service is."""

    status: Literal["starting", "started", "failed"] = Field(description="Whether it has ended, and how.")
    stage: str | None = Field(default=None, description="The stage that runs now, or in which the start failed.")
    stage_ms: float | None = Field(default=None, description="For how many milliseconds it has run.")
    ms: dict[str, float] = Field(description="The stages that have ended, each with its milliseconds.")


class OpsCapabilitiesRequest(Request):
    """Ask what the service can do."""


class OperationFields(Answer):
    """One operation and the fields of its request."""

    access: Literal["read", "write"] = Field(description="Whether it changes anything.")
    summary: str = Field(description="What it does.")
    required: tuple[str, ...] = Field(description="Fields that must be given.")
    fields: tuple[str, ...] = Field(description="Fields that are built, nested ones as 'parent.field'.")
    not_built: dict[str, str] = Field(description="Fields that are refused, each with what to use instead.")


class OpsCapabilitiesResponse(Answer):
    """What the service can do."""

    version: str = Field(description="The version of the service.")
    operations: dict[str, OperationFields] = Field(description="Its operations by name.")
    search_modes: tuple[str, ...] = Field(description="The modes that are built.")
    legs: tuple[str, ...] = Field(description="The legs that are built.")
    embedding_model: str = Field(description="The model that turns text into vectors.")
    limits: dict[str, int] = Field(description="Bounds of a request.")
