"""What a namespace prefers: `namespace.get` and `namespace.set`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from loom_client.wire.base import Answer, Request, refused
from loom_client.wire.fields import Moment
from loom_client.wire.identity import Tenant
from loom_client.wire.marks import NotBuilt
from loom_client.wire.search import Quota
from loom_client.wire.words import FloorMode, Language, Recipe, RetrievalBudget, SearchMode


class RetrievalDefaults(Request):
    """What a search of the namespace does where its request says nothing; null: the setting decides."""

    search_mode: SearchMode | None = Field(default=None, description="How candidates are ordered.")
    top_k: Quota | None = Field(default=None, description="Rows to answer with.")
    floor_mode: FloorMode | None = Field(default=None, description="What happens to rows under the floor.")
    recipe: Annotated[Recipe | None, NotBuilt("set search_mode")] = Field(
        default=None, description="A named set of choices."
    )
    retrieval_budget: Annotated[RetrievalBudget | None, NotBuilt("every search runs its legs once")] = Field(
        default=None, description="What a search may spend."
    )
    rerank_endpoint: Annotated[str | None, NotBuilt("no reranker runs")] = Field(
        default=None, description="The reranker."
    )


class NamespaceGetRequest(Tenant):
    """Read what the namespace prefers."""


class NamespaceSetRequest(Tenant):
    """Change what the namespace prefers: a field that is given is set, one that is null is cleared."""

    retrieval_defaults: RetrievalDefaults | None = Field(default=None, description="What its searches do by default.")
    language: Language | None = Field(
        default=None, description="The language that its values are analysed as; settled before the first memory."
    )
    timezone: Annotated[str | None, NotBuilt("give times with their zone")] = Field(
        default=None, description="The zone that days are meant in."
    )
    text_capture_consent: Annotated[bool | None, NotBuilt("no query is logged")] = Field(
        default=None, description="Whether queries may be kept in the trace log."
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        chosen = self.retrieval_defaults is not None and self.retrieval_defaults.model_fields_set
        if not chosen and self.language is None:
            raise refused("retrieval_defaults", "with a field to set, or language, is required")
        return self


class StoredDefaults(Answer):
    """The namespace's own retrieval defaults; null: the setting decides."""

    search_mode: str | None = Field(description="How candidates are ordered.")
    top_k: int | None = Field(description="Rows to answer with.")
    floor_mode: str | None = Field(description="What happens to rows under the floor.")


class NamespaceResponse(Answer):
    """What the namespace prefers, and what its org is held to."""

    org: str = Field(description="The organisation.")
    namespace: str = Field(description="The namespace.")
    retrieval_defaults: StoredDefaults = Field(description="What its searches do by default.")
    language: str = Field(description="The language that its values are analysed as.")
    embedding_model: str | None = Field(description="The model that the org's vectors are of; null before the first.")
    updated_at: Moment | None = Field(description="When the preferences were last set; null: never.")
