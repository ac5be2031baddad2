"""The request of `memory.search`: `query` is the only field that must be there.

A search covers all agents of its namespace. `user_id`, `session_id` or `session_ids` and
`run_id` narrow it wherever they are given; `scope` says what else the identity narrows to, and
then that part must be given. What is left out is decided by the namespace's
`retrieval_defaults`, then by a setting.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from loom_client.wire.base import refused
from loom_client.wire.fields import Key, Label, Labels, Metadata, Moment, Reference
from loom_client.wire.identity import Reader
from loom_client.wire.marks import NotBuilt
from loom_client.wire.words import (
    FloorMode,
    LegName,
    MemoryType,
    Recipe,
    RetrievalBudget,
    SearchMode,
    SearchScope,
    SourceClasses,
)

QUERY_CHARS = 1_000_000
MOST_ROWS = 1_000
MOST_SESSIONS = 1_000
MOST_EXCLUDED = 1_000
LONGEST_MS = 600_000
CURSOR_CHARS = 512
LEAST_QUALITY = 0.3

_SCOPED_FIELD = {"agent": "agent", "user": "user_id", "session": "session_id"}

Weight = Annotated[float, Field(ge=0.0, le=100.0)]
Quota = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Cosine = Annotated[float, Field(ge=-1.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
Milliseconds = Annotated[int, Field(ge=1, le=LONGEST_MS)]

_NO_RERANK = NotBuilt("no reranker runs")
_NO_TERMS = NotBuilt("no rank term acts; the order is the search_mode's own")
_NO_BODIES = NotBuilt("every hit carries its excerpt")


class SearchSelection(Reader):
    """Whose rows, and which of them."""

    agent: Reference | None = Field(
        default=None, description="Who asks; with scope 'agent', only rows of this agent; '-': rows without one."
    )
    query: str = Field(min_length=1, max_length=QUERY_CHARS, description="The question, in the asker's own words.")
    scope: SearchScope = Field(
        default="namespace", description="What the identity narrows to, beyond what it always does."
    )
    session_ids: Annotated[list[Reference], Field(min_length=1, max_length=MOST_SESSIONS)] | None = Field(
        default=None, description="Only rows of one of these sessions; '-': rows without one."
    )
    namespaces: Annotated[list[str] | None, NotBuilt("search one namespace at a time")] = Field(
        default=None, description="Further namespaces to search."
    )
    namespace_scope: Annotated[str | None, NotBuilt("search one namespace at a time")] = Field(
        default=None, description="A glob over the namespaces that the caller may read."
    )
    read_scope: Annotated[Literal["namespace", "org"] | None, NotBuilt("a search reads its own namespace")] = Field(
        default=None, description="Whose rows may be read."
    )
    memory_type: MemoryType | None = Field(default=None, description="Only memories of this kind.")
    category: Label | None = Field(default=None, description="Only memories of this category.")
    tags: Labels = Field(default=[], description="The same filter as tags_any.")
    tags_any: Labels = Field(default=[], description="Only memories that carry one of these tags.")
    tags_all: Labels = Field(default=[], description="Only memories that carry all of these tags.")
    tags_none: Labels = Field(default=[], description="Only memories that carry none of these tags.")
    source_class: SourceClasses | None = Field(
        default=None, description="Only memories known in this way, or in one of these."
    )
    created_after: Moment | None = Field(default=None, description="Only versions written at this time or later.")
    created_before: Moment | None = Field(default=None, description="Only versions written before this time.")
    valid_from: Moment | None = Field(default=None, description="Only memories whose valid_at is this time or later.")
    valid_to: Moment | None = Field(default=None, description="Only memories whose valid_at is this time or earlier.")
    metadata: Metadata = Field(default={}, description="Only memories whose metadata holds each of these values.")
    quality_filter: bool = Field(
        default=False, description=f"Leave out memories of a confidence below {LEAST_QUALITY}."
    )
    entity_filter: Annotated[list[str] | None, NotBuilt("filter on tags or metadata")] = Field(
        default=None, description="Entities that a row is lifted for."
    )
    as_of: Annotated[str | None, NotBuilt("memory.get reads one key as of a time")] = Field(
        default=None, description="Search what counted at this time."
    )
    observation_date: Annotated[str | None, NotBuilt("filter on created_after or valid_from")] = Field(
        default=None, description="The day (YYYY-MM-DD) that words like 'last week' are counted from."
    )
    timezone: Annotated[str | None, NotBuilt("give times with their zone")] = Field(
        default=None, description="The zone that days are meant in."
    )

    @model_validator(mode="after")
    def _selects(self) -> Self:
        part = _SCOPED_FIELD.get(self.scope)
        given = getattr(self, part) if part else True
        if part and given is None and not (part == "session_id" and self.session_ids):
            raise refused(part, f"is required by scope '{self.scope}'")
        if self.session_ids is not None and self.session_id is not None:
            raise refused("session_ids", "stands beside session_id; leave one of them out")
        if self.tags and self.tags_any:
            raise refused("tags", "is the same filter as tags_any; leave one of them out")
        _in_order("created_before", self.created_after, self.created_before)
        _in_order("valid_to", self.valid_from, self.valid_to)
        return self


def _in_order(path: str, first: Moment | None, last: Moment | None) -> None:
    if first is not None and last is not None and last < first:
        raise refused(path, "lies before the time that it closes")


class SearchMethod(SearchSelection):
    """How candidates are found and ordered."""

    search_mode: SearchMode | None = Field(default=None, description="How candidates are ordered.")
    legs: Annotated[list[LegName], Field(min_length=1, max_length=11)] | None = Field(
        default=None, description="Only these legs run."
    )
    leg_weights: dict[LegName, Weight] = Field(
        default={}, description="Weights in the fusion; a leg at 0 does not run."
    )
    candidates: dict[LegName, Quota] = Field(default={}, description="How many candidates a leg may bring.")
    alpha: Share | None = Field(default=None, description="Share of the lexical score in 'hybrid'.")
    rrf_k: Annotated[int, Field(ge=1, le=10_000)] | None = Field(default=None, description="The constant of 'rrf'.")
    rrf_adaptive_lexical: bool | None = Field(
        default=None, description="Whether 'rrf' trusts words less in a path-shaped query; on where left out."
    )
    timeout_ms: Milliseconds | None = Field(default=None, description="Time for the search; the service has a cap.")
    recipe: Annotated[Recipe | None, NotBuilt("name search_mode, legs and their weights")] = Field(
        default=None, description="A named set of choices."
    )
    retrieval_budget: Annotated[RetrievalBudget | None, NotBuilt("every search runs its legs once")] = Field(
        default=None, description="What a search may spend."
    )
    hyde: Annotated[bool | None, NotBuilt("the query is searched as it stands")] = Field(
        default=None, description="Whether a language model may write a likely answer to search for."
    )
    rerank: Annotated[str | None, _NO_RERANK] = Field(default=None, description="The reranker.")
    rerank_candidates: Annotated[Quota | None, _NO_RERANK] = Field(
        default=None, description="How many rows it is given."
    )
    rerank_top_n: Annotated[Quota | None, _NO_RERANK] = Field(default=None, description="How many rows stay after it.")
    rerank_timeout_ms: Annotated[Milliseconds | None, _NO_RERANK] = Field(
        default=None, description="Time for the reranker."
    )
    diversity: Annotated[Share | None, NotBuilt("use exclude_keys to pass over what is known")] = Field(
        default=None, description="How much the rows of a window must differ."
    )


class SearchTerms(SearchMethod):
    """Bounded terms that lift or lower a row; none is built."""

    tags_soft: Annotated[bool | None, _NO_TERMS] = Field(
        default=None, description="Whether tags lift instead of filter."
    )
    tag_boost: Annotated[Share | None, _NO_TERMS] = Field(default=None, description="How much a soft tag lifts.")
    category_soft: Annotated[bool | None, _NO_TERMS] = Field(
        default=None, description="Whether the category lifts instead of filters."
    )
    category_boost: Annotated[Share | None, _NO_TERMS] = Field(
        default=None, description="How much a soft category lifts."
    )
    confidence_weight: Annotated[Share | None, _NO_TERMS] = Field(
        default=None, description="How much confidence lifts."
    )
    prior_cap: Annotated[Share | None, _NO_TERMS] = Field(
        default=None, description="The most that these may add together."
    )
    reinforcement_weight: Annotated[Share | None, _NO_TERMS] = Field(
        default=None, description="How much earlier recalls lift."
    )
    sensitivity_penalty: Annotated[Share | None, _NO_TERMS] = Field(
        default=None, description="How much a sensitive row is lowered."
    )
    demote_tags: Annotated[list[str] | None, NotBuilt("leave rows out with tags_none")] = Field(
        default=None, description="Tags whose rows sink to the bottom."
    )
    personalization: Annotated[Literal["none", "user"] | None, _NO_TERMS] = Field(
        default=None, description="Whether terms that come from the user act."
    )


class MemorySearchRequest(SearchTerms):
    """Search memories; the answer is rows with a verdict, or an abstain with its reason."""

    top_k: Quota | None = Field(default=None, description="Rows to answer with; the service has a ceiling.")
    include_tags: bool = Field(default=False, description="Whether hits carry their tags.")
    include_superseded: bool = Field(default=False, description="Whether versions that no longer count are found too.")
    exclude_keys: Annotated[list[Key], Field(max_length=MOST_EXCLUDED)] = Field(
        default=[], description="Keys that are left out."
    )
    min_similarity: Cosine | None = Field(default=None, description="The floor of this search.")
    floor_mode: FloorMode | None = Field(default=None, description="What happens to rows under the floor.")
    explain: bool | None = Field(default=None, description="Whether hits carry the parts of their score.")
    include_top_n_unmatched: Annotated[Count | None, NotBuilt("name the legs with legs")] = Field(
        default=None, description="How many rows found by their vector alone may join a lexical order."
    )
    include_usage: Annotated[bool | None, NotBuilt("recalls are not counted")] = Field(
        default=None, description="Whether hits carry how often they were recalled."
    )
    include_duplicates: Annotated[bool | None, NotBuilt("duplicates are not marked")] = Field(
        default=None, description="Whether rows known as duplicates are found too."
    )
    include_proposed: Annotated[bool | None, NotBuilt("no memory waits for approval")] = Field(
        default=None, description="Whether rows that wait for approval are found too."
    )
    page: Annotated[str, Field(min_length=1, max_length=CURSOR_CHARS)] | None = Field(
        default=None, description="The page of this cursor: the next_page of the same search."
    )
    bodies: Annotated[Literal["full", "excerpt", "none"] | None, _NO_BODIES] = Field(
        default=None, description="How much of each value is sent."
    )
    body_budget_tokens: Annotated[Count | None, _NO_BODIES] = Field(
        default=None, description="Most tokens of all bodies."
    )
    source_span_chars: Annotated[Count | None, _NO_BODIES] = Field(
        default=None, description="Characters of the source around each hit."
    )
    auto_touch: Annotated[bool | None, NotBuilt("recalls are not counted")] = Field(
        default=None, description="Whether this search counts as a recall."
    )
    render: Annotated[Literal["json", "reader"] | None, NotBuilt("the answer is JSON")] = Field(
        default=None, description="Whether a text for a language model is written too."
    )
