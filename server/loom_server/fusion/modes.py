"""The search modes. A new mode is one file and one line here.

A mode takes the pool, every row of which has had its cosine filled in, and the plan, and
answers with a relevance for each row that belongs in its order. It is pure and does not
depend on the order of the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from loom_server.fusion.bm25_hybrid import bm25_hybrid
from loom_server.fusion.hybrid import hybrid
from loom_server.fusion.lexical import lexical
from loom_server.fusion.rrf import rrf
from loom_server.fusion.semantic import semantic
from loom_server.model.candidate import Candidate, Relevance
from loom_server.model.plan import Plan
from loom_server.model.query import SearchMode

Mode = Callable[[Sequence[Candidate], Plan], Mapping[int, Relevance]]

MODES: Mapping[SearchMode, Mode] = MappingProxyType(
    {"semantic": semantic, "rrf": rrf, "hybrid": hybrid, "bm25_hybrid": bm25_hybrid, "lexical": lexical}
)


def relevance(mode: SearchMode, pool: Sequence[Candidate], plan: Plan) -> Mapping[int, Relevance]:
    """The relevance of each row by its id; a row that is absent is not in the mode's order."""
    return MODES[mode](pool, plan)
