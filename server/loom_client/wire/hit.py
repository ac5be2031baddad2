"""The answer of `memory.search`: hits, the verdict over them, and how they were found.

Three numbers of a hit are never mixed: `similarity` is the raw cosine, `rank_score` the order,
`confidence` how sure the search is of the row, comparable across queries.
"""

from __future__ import annotations

from pydantic import Field

from loom_client.wire.base import Answer
from loom_client.wire.fields import Moment
from loom_client.wire.words import AbstainCode, Risk


class LegEvidence(Answer):
    """What one leg says of a hit."""

    rank: int = Field(description="Its place in the leg's order; 1 is best.")
    score: float = Field(description="The leg's own score.")


class MatchedTerm(Answer):
    """A term of the query that a hit carries."""

    term: str = Field(description="The term as asked.")
    offsets: tuple[tuple[int, int], ...] = Field(description="Where it stands in the excerpt: [start, end) characters.")


class Hit(Answer):
    """A row of the answer."""

    memory_key: str = Field(description="The key.")
    memory_id: str = Field(description="The id of the version found.")
    memory_type: str = Field(description="What kind of memory it is.")
    content_excerpt: str = Field(description="The text that was searched, cut; empty where floor_mode elides it.")
    similarity: float = Field(description="Cosine of the query and the row, in [-1, 1].")
    distance: float = Field(description="1 - similarity.")
    rank_score: float = Field(description="What the order is made by.")
    rrf_score: float | None = Field(default=None, description="The reciprocal rank fusion score, in mode 'rrf'.")
    normalized_score: float = Field(description="rank_score as a share of the window's best.")
    confidence: float | None = Field(default=None, description="How sure the search is of this row, in [0, 1].")
    below_threshold: bool = Field(description="Whether the row's own evidence is under the abstain threshold.")
    below_floor: bool = Field(description="Whether it is under the noise floor.")
    tags: tuple[str, ...] | None = Field(default=None, description="Its labels, with include_tags.")
    entities: tuple[str, ...] = Field(description="The people and things it is about.")
    agent: str = Field(description="The agent that wrote it; '' is none.")
    user_id: str = Field(description="The user it is about; '' is none.")
    session_id: str = Field(description="The session it came from; '' is none.")
    namespace: str = Field(description="The namespace.")
    source: str = Field(description="What was found: 'fact'.")
    source_class: str = Field(description="How the writer came to know it.")
    source_resource_id: str = Field(description="The resource that it was made from.")
    status: str = Field(description="'live' or 'superseded'.")
    superseded_by: str | None = Field(default=None, description="The id of the version that took its place.")
    superseded_at: Moment | None = Field(default=None, description="When that was.")
    version: int = Field(description="The version, from 1.")
    created_at: Moment = Field(description="When the version was written.")
    valid_at: Moment | None = Field(description="Since when it is true.")
    body_truncated: bool = Field(description="Whether the excerpt is less than the text.")
    matched_terms: tuple[MatchedTerm, ...] | None = Field(
        default=None, description="Terms of the query in it, with explain."
    )
    explanation: str | None = Field(default=None, description="The row's score in a sentence, with explain.")
    score_components: dict[str, float] | None = Field(
        default=None, description="The parts that sum to rank_score, with explain."
    )
    legs: dict[str, LegEvidence] | None = Field(
        default=None, description="What each leg that found it says, with explain."
    )


class RetrievalWork(Answer):
    """What the search cost."""

    statements: int = Field(description="Statements that ran.")
    rows: int = Field(description="Rows that they returned.")
    ms: dict[str, float] = Field(description="Milliseconds by stage.")


class MemorySearchResponse(Answer):
    """Rows with a verdict. An abstain is an answer: `abstain` says that the rows do not answer."""

    results: tuple[Hit, ...] = Field(description="The rows, best first.")
    abstain: bool = Field(description="Whether the rows do not answer the question.")
    abstain_code: AbstainCode | None = Field(description="Why, for programs; null where it answers.")
    abstain_reason: str = Field(description="Why, for people; empty where it answers.")
    retrieval_confidence: float = Field(description="How sure the search is that the rows answer, in [0, 1].")
    retrieval_risk: Risk = Field(description="The same as a word.")
    degraded: tuple[str, ...] = Field(description="What did not work, as '<leg or stage>: <reason code>'.")
    search_mode: str = Field(description="The mode that ran.")
    retrieval_plan: str = Field(description="What was done and why, in sentences.")
    retrieval_work: RetrievalWork = Field(description="What the search cost.")
    candidates_total: int = Field(description="Rows that the legs brought.")
    stale_dropped: int = Field(description="Rows whose vectors are of another model.")
    below_floor: int = Field(description="Rows under the floor.")
    page_offset: int = Field(default=0, description="Rows of the ranking that stand before this page.")
    next_page: str | None = Field(default=None, description="The cursor of the next page; null on the last one.")
    top_k_ceiling: int = Field(description="The most rows a search may ask for.")
    namespaces_searched: tuple[str, ...] = Field(description="The namespaces.")
    embedding_model: str = Field(description="The model whose vectors were compared; empty where none was.")
    term_leg: str = Field(description="The lexical scorer that served; empty where none did.")
    route_agreement: float | None = Field(
        description="Overlap of the vector and the lexical top tens, in [0, 1]; null where one of them did not run."
    )
    calibration_explanation: str = Field(description="Where the thresholds come from.")
    score_explanation: str | None = Field(default=None, description="How scores of this mode are made, with explain.")
    next: str = Field(description="What a caller may do now.")
    request_id: str = Field(default="", description="The id of the call, as in X-Request-ID.")
