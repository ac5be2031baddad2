"""What a namespace prefers: `namespace.get` and `namespace.set`, and how a search reads it.

The language is settled before the first memory: terms are stored as that language's stems,
and a namespace never mixes two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self, cast

from loom_client import wire
from loom_server.engine import browse
from loom_server.errors import Conflict, InvalidInput
from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.service.parts import Parts

DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Preferences:
    """What one namespace was set to."""

    retrieval_defaults: Mapping[str, object] = field(default_factory=dict[str, object])
    language: str = DEFAULT_LANGUAGE
    updated_at: datetime | None = None

    @classmethod
    def of(cls, stored: Mapping[str, object]) -> Self:
        """From the stored JSON object."""
        at = stored.get("updated_at")
        return cls(
            cast("Mapping[str, object]", stored.get("retrieval_defaults", {})),
            str(stored.get("language", DEFAULT_LANGUAGE)),
            datetime.fromisoformat(str(at)) if at else None,
        )

    def stored(self) -> dict[str, object]:
        """As the JSON object that is stored."""
        at = self.updated_at.isoformat() if self.updated_at else None
        chosen = {name: value for name, value in self.retrieval_defaults.items() if value is not None}
        return {"retrieval_defaults": chosen, "language": self.language, "updated_at": at}


class Tenants(Parts):
    """The operations over namespaces."""

    __slots__ = ()

    def preferences(self, org: str, namespace: str, deadline: Deadline) -> Preferences:
        """What the namespace was set to, or the defaults."""
        return Preferences.of(self.namespaces.preferences(org, namespace, deadline))

    def namespace_get(self, request: wire.NamespaceGetRequest, deadline: Deadline) -> wire.NamespaceResponse:
        """What the namespace prefers."""
        return self._answer(request, self.preferences(request.org, request.namespace, deadline), deadline)

    def namespace_set(self, request: wire.NamespaceSetRequest, deadline: Deadline) -> wire.NamespaceResponse:
        """Change what the namespace prefers; what the request does not name stays."""
        if (given := request.retrieval_defaults) is not None:
            self._check_top_k(given.top_k)
        if request.language in (None, self.preferences(request.org, request.namespace, deadline).language):
            return self._answer(request, self._change(request, None, deadline), deadline)
        self._check_unwritten(request, deadline)
        return self._answer(request, self._change_language(request, deadline), deadline)

    def _change_language(self, request: wire.NamespaceSetRequest, deadline: Deadline) -> Preferences:
        """The same, while no write that has read the language before is on its way."""

        def work() -> Preferences:
            self._check_unwritten(request, deadline)
            return self._change(request, request.language, deadline)

        with self.turnstile.alone((request.org, request.namespace), deadline):
            # A write whose caller gave up may still be in the writer's hands.
            return self.writer.between_groups(work, deadline)

    def _change(self, request: wire.NamespaceSetRequest, language: str | None, deadline: Deadline) -> Preferences:
        """Write what the request names, with the given language unless that is to stay."""
        now = self.searcher.clock.now().astimezone(UTC)

        def changed(stored: dict[str, object]) -> dict[str, object]:
            before = Preferences.of(stored)
            given = request.retrieval_defaults
            named = {} if given is None else {name: getattr(given, name) for name in given.model_fields_set}
            return Preferences(
                {**before.retrieval_defaults, **named}, before.language if language is None else language, now
            ).stored()

        return Preferences.of(self.namespaces.change(request.org, request.namespace, changed, deadline))

    def _answer(self, request: wire.Tenant, preferences: Preferences, deadline: Deadline) -> wire.NamespaceResponse:
        chosen = preferences.retrieval_defaults
        return wire.NamespaceResponse(
            org=request.org,
            namespace=request.namespace,
            retrieval_defaults=wire.StoredDefaults.model_validate(
                {name: chosen.get(name) for name in wire.StoredDefaults.model_fields}
            ),
            language=preferences.language,
            embedding_model=self.namespaces.model_of(request.org, deadline),
            updated_at=preferences.updated_at,
        )

    def _check_top_k(self, top_k: int | None) -> None:
        ceiling = self.settings.memory_search_top_k_ceiling
        if top_k is not None and top_k > ceiling:
            raise InvalidInput.field("retrieval_defaults.top_k", f"at most {ceiling}, the ceiling of this service")

    def _check_unwritten(self, request: wire.NamespaceSetRequest, deadline: Deadline) -> None:
        scope, listing = Scope(request.org, request.namespace), browse.Listing(include_superseded=True)
        if browse.count(self.searcher.store, scope, listing, deadline):
            current = self.preferences(request.org, request.namespace, deadline).language
            raise Conflict(
                f"language: the namespace holds memories that were analysed as '{current}'; set the language "
                "before the first memory, or use a new namespace."
            )
