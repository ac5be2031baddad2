"""The pages of a ranking: what the next one is, and whether a search can still go on with it.

    served = sha256(what was degraded, ids of the rows on all pages so far, ascending)

A later page makes the ranking anew, from the rows that had been written by the first page, and goes on where its first
`offset` rows are those that were served. So no row comes twice, and at the end all that was ranked has come. Else the
page has expired and nothing is served: where a served row was deleted, ended or changed, or where figures of the
namespace, which every write moves a little, put another row among the first. A row written since is taken out of the
legs before they meet; where it held a place at a leg's quota another row lacks it, and the page has expired too. So
has one on which another leg failed than before, since its rows would be passed over.

Order within what was served may differ by then, and so may that of rows still to come: neither can be seen.
Pages end with the ranking, which holds at most what the legs bring: the sum of their quotas.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from loom_server.model.candidate import LegResult, Ranked
from loom_server.model.page import Page
from loom_server.model.plan import Plan
from loom_server.model.window import Window

DIGEST_CHARS = 16
_ID_BYTES = 8


@dataclass(frozen=True, slots=True)
class Turn:
    """The window of a page. `following` begins the next one, None at the end or where the page has `expired`."""

    window: Window
    following: Page | None = None
    expired: bool = False


def written_by(results: Sequence[LegResult], newest: int) -> tuple[LegResult, ...]:
    """The legs' results without rows of an id above `newest`."""
    return tuple(_written_by(result, newest) for result in results)


def displaces(results: Sequence[LegResult], kept: Sequence[LegResult], plan: Plan) -> bool:
    """Whether rows that are not in `kept` held places of a full leg, which others would have."""
    quotas = {leg.name: leg.quota for leg in plan.legs}
    pairs = zip(results, kept, strict=True)
    return any(len(one.ids) > len(other.ids) and len(one.ids) >= quotas.get(one.leg, 0) for one, other in pairs)


def turn(window: Window, page: Page | None, newest: int, refilled: bool, degraded: Sequence[str] = ()) -> Turn:
    """The page of a window that begins where `page` says, None being the first.

    `newest` is the highest row id of the moment at which the search began. A row above it that the first page ranked
    all the same, since it came while the legs ran or from a writer whose clock is ahead, takes part in later pages too.
    """
    if page is not None and page.served != _digest(window.before, degraded):
        return expired(window)
    if not window.beyond:
        return Turn(window)
    if page is None:
        page = Page(0, "", max(newest, *(row.memory.id for row in window.ordered)), refilled)
    shown = (*window.before, *window.rows)
    return Turn(window, replace(page, offset=len(shown), served=_digest(shown, degraded)))


def expired(window: Window) -> Turn:
    """A page that cannot go on: the same ranking, of which no row is served."""
    return Turn(replace(window, before=(), rows=(), beyond=window.ordered, without_body=frozenset()), expired=True)


def _digest(rows: Iterable[Ranked], degraded: Sequence[str]) -> str:
    ids = b"".join(row_id.to_bytes(_ID_BYTES, "little") for row_id in sorted(row.memory.id for row in rows))
    return hashlib.sha256("\n".join(degraded).encode() + b"\0" + ids).hexdigest()[:DIGEST_CHARS]


def _written_by(result: LegResult, newest: int) -> LegResult:
    kept = [place for place, row_id in enumerate(result.ids) if row_id <= newest]
    if len(kept) == len(result.ids):
        return result
    return replace(
        result,
        ids=tuple(result.ids[place] for place in kept),
        scores=tuple(result.scores[place] for place in kept),
        matched=tuple(result.matched[place] for place in kept),
    )
