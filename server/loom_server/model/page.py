"""A page of a search: which part of which ranking.

    rows of the page = ranking[offset : offset + top_k]

A ranking is not kept anywhere. A page names the rows that stand before it by a digest, and is served from the ranking
that the same search makes anew, where that begins with the very same rows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """Where a page begins.

    `served` is the digest of the rows of all pages before it, and of what was degraded. Rows with an id above `newest`
    were written after the first page, and take no part. `refilled` says that the legs were asked for rows that may be
    served alone, since others had crowded these out on the first page.
    """

    offset: int
    served: str
    newest: int
    refilled: bool = False
