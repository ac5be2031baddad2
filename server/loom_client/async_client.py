"""`AsyncClient`: the same client for code that awaits.

    async with AsyncClient() as loom:
        await loom.memory.set("deploy/window", "Deploys go out on Tuesdays.")

One client may be shared by tasks; they then keep one pace. All that it decides stands in `exchange`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Self, TypeVar, Unpack

import anyio
import httpx

from loom_client import wire
from loom_client.arguments import MemoryItemFields, MemoryListFields, MemorySearchFields, MemorySetManyFields
from loom_client.async_methods import AsyncCalls, AsyncMemoryMethods, AsyncNamespaceMethods, AsyncOpsMethods
from loom_client.chunks import chunks, joined
from loom_client.client import TIMEOUT_S
from loom_client.exchange import Broken, Conversation, Got, Pause, Post, Session, exchange
from loom_client.requests import call_of, contract_of, request_of
from loom_client.retry import RetryPolicy
from loom_client.transport import arguments, broken, got, options

A = TypeVar("A", bound=wire.Answer)


class AsyncMemory(AsyncMemoryMethods):
    """The operations on memories, and three that make many calls."""

    async def list_all(self, **fields: Unpack[MemoryListFields]) -> AsyncIterator[wire.StoredMemory]:
        """Every memory of `list`, page after page; `limit` is the size of a page."""
        asked: MemoryListFields = fields
        while True:
            page = await self.list(**asked)
            for memory in page.memories:
                yield memory
            if page.next_cursor is None:
                return
            asked = {**asked, "cursor": page.next_cursor}

    async def search_pages(
        self, query: str, **fields: Unpack[MemorySearchFields]
    ) -> AsyncIterator[wire.MemorySearchResponse]:
        """The answers of `search`, page after page; `top_k` is the size of a page.

        Where what was ranked has changed meanwhile, the last answer has no rows and the abstain code `page_expired`.
        """
        asked: MemorySearchFields = fields
        while True:
            answer = await self.search(query, **asked)
            yield answer
            if answer.next_page is None:
                return
            asked = {**asked, "page": answer.next_page}

    async def set_all(
        self, items: Iterable[wire.MemoryItem | MemoryItemFields], **fields: Unpack[MemorySetManyFields]
    ) -> wire.MemorySetManyResponse:
        """`set_many` in as many calls as the service's limits need, with the results in the order of `items`.

        Where a call fails, what the calls before it wrote stays; writing it again changes nothing.
        """
        limits = (await self._ask("ops.capabilities", {}, wire.OpsCapabilitiesResponse)).limits
        return joined([await self.set_many(part, **fields) for part in chunks(items, fields, limits)])


class AsyncClient(AsyncCalls):
    """A connection to the service at `base_url`; takes what `Client` takes."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: RetryPolicy | None = None,
        idempotency_keys: bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**options(base_url, api_key), transport=transport)
        self._session = Session(retries or RetryPolicy(), keys_known=idempotency_keys)
        self._timeout_s = timeout_s
        self.memory = AsyncMemory(self._named)
        self.namespace = AsyncNamespaceMethods(self._named)
        self.ops = AsyncOpsMethods(self._named)

    async def send(self, request: wire.Request) -> wire.Answer:
        """`call` for a request whose kind is known only when it runs."""
        return await self._ask(request, contract_of(request).response, None)

    async def aclose(self) -> None:
        """Let the connections go."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    async def _named(self, name: str, fields: Mapping[str, object], kind: type[A]) -> A:
        return await self._ask(request_of(name, fields), kind, None)

    async def _ask(self, request: wire.Request, kind: type[A], key: str | None) -> A:
        return await self._run(exchange(call_of(request, kind, self._timeout_s, key), self._session))

    async def _run(self, talk: Conversation[A]) -> A:
        came: Got | Broken | None = None
        while True:
            try:
                came = await self._do(talk.send(came))
            except StopIteration as end:
                return end.value

    async def _do(self, step: Pause | Post) -> Got | Broken | None:
        if isinstance(step, Pause):
            await anyio.sleep(step.seconds)
            return None
        try:
            return got(await self._http.post(**arguments(step)))
        except httpx.HTTPError as error:
            return broken(error, self._http.base_url)
