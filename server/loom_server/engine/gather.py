"""Runs the planned legs side by side; a leg that fails is named and the search goes on.

This is the leg boundary: whatever a leg raises becomes a `failed` result with a stable
reason code. Only a caller that went away, or a search whose every leg failed, is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from time import perf_counter

from loom_server.errors import Cancelled, DeadlineExceeded, LoomError, SearchFailed
from loom_server.legs.base import Leg, LegContext
from loom_server.legs.registry import LEGS
from loom_server.model.candidate import LegResult
from loom_server.model.plan import LegPlan
from loom_server.store.together import together


def gather(context: LegContext, executor: Executor, legs: Sequence[Leg] = LEGS) -> tuple[LegResult, ...]:
    """The results of every planned leg, in the plan's order."""
    planned = [(leg, plans) for leg in legs if (plans := _planned(leg, context))]
    answers = together(executor, [partial(_run, leg, context, plans) for leg, plans in planned])
    results = {result.leg: result for answer in answers for result in answer}
    if context.deadline.cancelled:
        raise Cancelled("The caller went away before the answer was ready.")
    if results and all(result.state == "failed" for result in results.values()):
        reasons = ", ".join(f"{name}: {result.reason}" for name, result in results.items())
        if all(result.reason == DeadlineExceeded.code for result in results.values()):
            raise DeadlineExceeded("No leg answered in the time given; raise timeout_ms or narrow the scope.")
        raise SearchFailed(f"Every leg failed ({reasons}); try again, and run `loom doctor` if it stays.")
    return tuple(results[plan.name] for plan in context.plan.legs if plan.name in results)


def _planned(leg: Leg, context: LegContext) -> tuple[LegPlan, ...]:
    return tuple(plan for plan in context.plan.legs if plan.name in leg.serves)


def _run(leg: Leg, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
    start = perf_counter()
    try:
        results = leg.run(context, plans)
    except LoomError as error:
        results = _failed(plans, error.code)
    except Exception as error:  # the leg boundary: junk from one leg must not end the search
        results = _failed(plans, f"unexpected_{type(error).__name__}")
    took = (perf_counter() - start) * 1000.0
    return tuple(_timed(result, took) for result in results)


def _failed(plans: tuple[LegPlan, ...], reason: str) -> tuple[LegResult, ...]:
    return tuple(LegResult(plan.name, "failed", reason=reason) for plan in plans)


def _timed(result: LegResult, took: float) -> LegResult:
    return LegResult(
        result.leg, result.state, result.ids, result.scores, result.matched, result.known, took, result.reason
    )
