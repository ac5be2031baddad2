"""Judging where other processes write, too: a group is judged until its versions are claimed.

    judge -> claim the next version of each key -> contested: wait a moment, judge again by what is stored by then

After the last wait whoever wanted a contested key is refused as `WriteContended`, and the others of the group go on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from loom_server.errors import WriteContended
from loom_server.ingest.judge import Answer, Judgement
from loom_server.ingest.request import Request
from loom_server.model.memory import Key
from loom_server.store.claims import WAITS_S, Claim, Claimed, Claims


def contend(judge: Callable[[Sequence[Request]], Judgement], claims: Claims, requests: Sequence[Request]) -> Judgement:
    """The judgement of the requests, with its claims. Raises what `judge` raises."""
    refused: set[Key] = set()
    while True:
        asked = [request for request in requests if request.key not in refused]
        if not asked:
            return Judgement(tuple(_contended(request.key) for request in requests), (), (), datetime.now(UTC))
        contested: frozenset[Claim] = frozenset()
        for wait in WAITS_S:
            at = time.monotonic()
            judgement = judge(asked)
            claimed = claims.take(_claims(judgement), at)
            contested = claimed.contested
            if not contested:
                return _with_refusals(judgement, claimed, requests, refused)
            time.sleep(random.uniform(0, wait))  # noqa: S311
        refused |= {claim.key for claim in contested}


def _claims(judgement: Judgement) -> set[Claim]:
    """The first new version of each key; nobody judges by a later one before it is committed."""
    first: dict[Key, int] = {}
    for version in judgement.versions:
        first.setdefault(version.memory.key, version.memory.version)
    return {Claim(key, number) for key, number in first.items()}


def _with_refusals(judgement: Judgement, claimed: Claimed, requests: Sequence[Request], refused: set[Key]) -> Judgement:
    answers = iter(judgement.answers)
    whole: list[Answer] = [_contended(request.key) if request.key in refused else next(answers) for request in requests]
    return replace(judgement, answers=tuple(whole), claimed=claimed)


def _contended(key: Key) -> WriteContended:
    return WriteContended(f"memory_key: other processes keep writing {key.memory_key!r}; write again in a moment.")
