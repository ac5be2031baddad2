"""From keyword arguments to a call that can be sent.

    fields -> the operation's request (strict) -> the JSON of the fields that were given -> Call

A number that JSON has no word for (NaN, infinity) is refused: it would arrive as null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from secrets import token_hex
from types import MappingProxyType
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from loom_client.errors import InvalidCall
from loom_client.exchange import MARGIN_S, Call
from loom_client.wire.base import Answer, Request
from loom_client.wire.contracts import CONTRACTS, Contract

A = TypeVar("A", bound=Answer)

KEY_CHARS = 255
_KEY = re.compile(rf"[!-~]{{1,{KEY_CHARS}}}")
_BY_REQUEST: Mapping[type[Request], Contract] = MappingProxyType({one.request: one for one in CONTRACTS.values()})


def request_of(name: str, fields: Mapping[str, object]) -> Request:
    """The request of an operation. Raises `InvalidCall` that names each wrong field."""
    try:
        return CONTRACTS[name].request.model_validate(dict(fields))
    except ValidationError as error:
        raise InvalidCall.of(name, error) from None


def contract_of(request: Request) -> Contract:
    """The operation that a request belongs to. Raises `InvalidCall` for a part of a request."""
    contract = _BY_REQUEST.get(type(request))
    if contract is None:
        raise InvalidCall(f"{type(request).__name__} is not the request of an operation.")
    return contract


def call_of(request: Request, kind: type[A], timeout_s: float, key: str | None) -> Call[A]:
    """The call of a request. `timeout_s` holds where the request names no time of its own; `key` None: a new one.

    Raises `InvalidCall`, also for a key that a header cannot hold, or that stands beside a read.
    """
    contract = contract_of(request)
    own = getattr(request, "timeout_ms", None)
    writes = contract.access == "write"
    if key is not None and not (writes and _KEY.fullmatch(key)):
        raise InvalidCall(f"idempotency_key: is for writes, and has 1 to {KEY_CHARS} visible ASCII characters.")
    return Call(
        contract.name,
        body_of(request),
        kind,
        writes,
        timeout_s if own is None else own / 1000 + MARGIN_S,
        (token_hex(16) if key is None else key) if writes else "",
    )


def body_of(request: Request) -> bytes:
    """The request as it goes over the wire. Raises `InvalidCall` for what JSON cannot hold."""
    name = type(request).__name__
    if not _finite(request.model_dump(exclude_unset=True)):
        raise InvalidCall(f"{name}: holds NaN or infinity, which JSON cannot; send text or null.")
    try:
        return request.model_dump_json(exclude_unset=True).encode()
    except PydanticSerializationError:
        raise InvalidCall(f"{name}: holds text that is not Unicode (half of a surrogate pair).") from None


def _finite(value: Any) -> bool:
    pending: list[Any] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, float) and not math.isfinite(one):
            return False
        if isinstance(one, dict):
            pending.extend(cast("dict[str, Any]", one).values())
        elif isinstance(one, list):
            pending.extend(cast("list[Any]", one))
    return True
