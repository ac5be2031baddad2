"""`Client`: the service from code that blocks.

    with Client() as loom:
        loom.memory.set("deploy/window", "Deploys go out on Tuesdays.")

One client may be shared by threads; they then keep one pace. Methods are named as the operations are, and take their
fields as keyword arguments. Every error is a `LoomClientError`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Self, TypeVar, Unpack

import httpx

from loom_client import wire
from loom_client.arguments import MemoryItemFields, MemoryListFields, MemorySearchFields, MemorySetManyFields
from loom_client.chunks import chunks, joined
from loom_client.exchange import Broken, Conversation, Got, Pause, Post, Session, exchange
from loom_client.methods import Calls, MemoryMethods, NamespaceMethods, OpsMethods
from loom_client.requests import call_of, contract_of, request_of
from loom_client.retry import RetryPolicy
from loom_client.transport import arguments, broken, got, options

TIMEOUT_S = 35.0
A = TypeVar("A", bound=wire.Answer)


class Memory(MemoryMethods):
    """The operations on memories, and three that make many calls."""

    def list_all(self, **fields: Unpack[MemoryListFields]) -> Iterator[wire.StoredMemory]:
        """Every memory of `list`, page after page; `limit` is the size of a page."""
        asked: MemoryListFields = fields
        while True:
            page = self.list(**asked)
            yield from page.memories
            if page.next_cursor is None:
                return
            asked = {**asked, "cursor": page.next_cursor}

    def search_pages(self, query: str, **fields: Unpack[MemorySearchFields]) -> Iterator[wire.MemorySearchResponse]:
        """The answers of `search`, page after page; `top_k` is the size of a page.

        Where what was ranked has changed meanwhile, the last answer has no rows and the abstain code `page_expired`.
        """
        asked: MemorySearchFields = fields
        while True:
            answer = self.search(query, **asked)
            yield answer
            if answer.next_page is None:
                return
            asked = {**asked, "page": answer.next_page}

    def set_all(
        self, items: Iterable[wire.MemoryItem | MemoryItemFields], **fields: Unpack[MemorySetManyFields]
    ) -> wire.MemorySetManyResponse:
        """`set_many` in as many calls as the service's limits need, with the results in the order of `items`.

        Where a call fails, what the calls before it wrote stays; writing it again changes nothing.
        """
        limits = self._ask("ops.capabilities", {}, wire.OpsCapabilitiesResponse).limits
        return joined([self.set_many(part, **fields) for part in chunks(items, fields, limits)])


class Client(Calls):
    """A connection to the service at `base_url` (else LOOM_URL, else http://127.0.0.1:7777).

    `api_key` (else LOOM_API_KEY) is sent as a bearer token. `timeout_s` bounds each silence of the service where the
    request names no `timeout_ms`. `idempotency_keys=False` sends none, and then no write is sent twice. `transport`
    replaces the network, for tests. Raises `InvalidCall` for what cannot be used.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: RetryPolicy | None = None,
        idempotency_keys: bool = True,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**options(base_url, api_key), transport=transport)
        self._session = Session(retries or RetryPolicy(), keys_known=idempotency_keys)
        self._timeout_s = timeout_s
        self.memory = Memory(self._named)
        self.namespace = NamespaceMethods(self._named)
        self.ops = OpsMethods(self._named)

    def send(self, request: wire.Request) -> wire.Answer:
        """`call` for a request whose kind is known only when it runs."""
        return self._ask(request, contract_of(request).response, None)

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _named(self, name: str, fields: Mapping[str, object], kind: type[A]) -> A:
        return self._ask(request_of(name, fields), kind, None)

    def _ask(self, request: wire.Request, kind: type[A], key: str | None) -> A:
        return self._run(exchange(call_of(request, kind, self._timeout_s, key), self._session))

    def _run(self, talk: Conversation[A]) -> A:
        came: Got | Broken | None = None
        while True:
            try:
                came = self._do(talk.send(came))
            except StopIteration as end:
                return end.value

    def _do(self, step: Pause | Post) -> Got | Broken | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            return got(self._http.post(**arguments(step)))
        except httpx.HTTPError as error:
            return broken(error, self._http.base_url)
