"""Who asks, in the body of a request.

A write belongs to (org, namespace, agent, user_id, session_id); what is left out is none. A
read covers its whole namespace and is narrowed only by what it names: `-` narrows to rows
that have none. `agent` alone says who asks; a search narrows to it by `scope`.
"""

from __future__ import annotations

from pydantic import Field

from loom_client.wire.base import Request
from loom_client.wire.fields import Name, Reference

DEFAULT_ORG = "dev"
DEFAULT_NAMESPACE = "local"


class Tenant(Request):
    """The org and the namespace that an operation works in."""

    org: Name = Field(default=DEFAULT_ORG, description="The organisation.")
    namespace: Name = Field(default=DEFAULT_NAMESPACE, description="The namespace inside the organisation.")


class Writer(Tenant):
    """Whose a written memory is."""

    agent: Reference | None = Field(default=None, description="The agent that writes; left out or '-': none.")
    user_id: Reference | None = Field(default=None, description="The user it is about; left out or '-': none.")
    session_id: Reference | None = Field(default=None, description="The session it comes from; left out or '-': none.")
    run_id: Reference | None = Field(default=None, description="The run that wrote it; left out or '-': none.")


class Reader(Tenant):
    """Which writers' memories are meant, where more than one may hold a key."""

    agent: Reference | None = Field(default=None, description="Only rows of this agent; '-': rows without one.")
    user_id: Reference | None = Field(default=None, description="Only rows of this user; '-': rows without one.")
    session_id: Reference | None = Field(default=None, description="Only rows of this session; '-': rows without one.")
    run_id: Reference | None = Field(default=None, description="Only rows that this run wrote; '-': rows without one.")
