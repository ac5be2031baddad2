"""The one shape of an error: HTTP's `detail` and JSON-RPC's `error.data` have the same members."""

from __future__ import annotations

from pydantic import Field

from loom_client.wire.base import Answer
from loom_client.wire.ops import StartProgress


class FieldProblem(Answer):
    """One refused field."""

    path: str = Field(description="The field, its parents joined by dots; '' is the request itself.")
    message: str = Field(description="What is wrong and how to mend it.")


class Problem(Answer):
    """What went wrong, for programs (`code`) and for people (`message`)."""

    code: str = Field(description="A stable word for the kind of error.")
    message: str = Field(description="A sentence that says what to do.")
    category: str = Field(description="Whose matter it is: request, availability, store, embedder, ….")
    retryable: bool = Field(description="Whether the same call may succeed later.")
    retry_after_s: float | None = Field(default=None, description="Seconds to wait before that, where it is known.")
    errors: tuple[FieldProblem, ...] = Field(default=(), description="The refused fields.")
    request_id: str = Field(default="", description="The id of the call, as in X-Request-ID.")


class ProblemBody(Answer):
    """The body of every HTTP answer that is not a success."""

    detail: Problem = Field(description="The error.")


class StartProblem(ProblemBody):
    """The same while the service starts."""

    startup: StartProgress = Field(description="How far the start is.")
