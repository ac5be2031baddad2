"""What a service says of itself, `ops.health` and `ops.capabilities`, and what it is asked to do: `ops.reembed`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from loom_client.wire.base import Answer, Request
from loom_client.wire.fields import Name
from loom_client.wire.words import ReembedAction

ReembedState: TypeAlias = Literal["idle", "planned", "running", "done", "failed", "cancelled"]


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
    stale_rows: int | None = Field(
        description="Rows without a vector of the live model, at most a minute old; null where they were not counted."
    )
    reembedding: ReembedState = Field(description="How the re-embedding of this service stands.")


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


class OpsReembedRequest(Request):
    """Move vectors to the model of the embedder that serves now."""

    action: ReembedAction = Field(
        default="status", description="Count what is to be done, begin, tell how far it is, or stop."
    )
    org: Name | None = Field(default=None, description="Only this organisation; left out: all of them.")


class OpsReembedResponse(Answer):
    """How far the one re-embedding of the service is, or what it would have to do."""

    state: ReembedState = Field(description="How it stands; 'planned' answers the action 'plan'.")
    model: str = Field(description="The model that vectors are moved to.")
    org: str | None = Field(description="The organisation it is about; null: all of them.")
    orgs: int = Field(description="Organisations that have something to be done.")
    orgs_done: int = Field(description="Those that are finished.")
    rows_total: int = Field(description="Rows that lacked a vector when it began, and since.")
    rows_done: int = Field(description="Rows that got theirs.")
    rows_left: int = Field(description="Rows that still lack one.")
    characters: int = Field(description="Characters of the rows that lacked a vector when they were counted.")
    started_at: datetime | None = Field(description="When it began.")
    ended_at: datetime | None = Field(description="When it ended.")
    error_code: str | None = Field(description="Code of what ended it, where it failed or was cancelled.")
    error: str | None = Field(description="What ended it, and what to do.")
