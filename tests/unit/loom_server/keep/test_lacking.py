"""Rows without a vector of a model are counted by org, with the orgs that are held to another one."""

from __future__ import annotations

from typing import cast

import pytest

from loom_server.keep import lacking as module
from loom_server.keep.lacking import Lacking, lacking, namespaces_of
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.namespaces import Namespaces
from loom_server.store.store import Statement
from moving import NEW, OLD
from writing import a_draft, a_key, delete, write, writing

MODEL = NEW.identity.name


@pytest.mark.parametrize("passes", [1, 4])
def test_rows_and_characters_of_an_org(
    store: EmbeddedStore, org: str, monkeypatch: pytest.MonkeyPatch, passes: int
) -> None:
    with writing(store, OLD) as writer:
        write(writer, a_draft(org, "a", "first fox"), a_draft(org, "b", "Füchse"), a_draft(org, "c", "!!!"))
        write(writer, a_draft(org, "a", "second fox", namespace="other"))
        delete(writer, a_key(org, "a"))
    versions = store.query(Statement("test.versions", "SELECT count() AS n FROM loom.memory")).column("n")[0]
    monkeypatch.setattr(module, "PASS_ROWS", 1 + cast(int, versions) // passes)
    assert lacking(store, MODEL, org) == Lacking((org,), 3, 9 + 6 + 10)
    assert lacking(store, OLD.identity.name, org) == Lacking((), 0, 0)
    assert org in lacking(store, MODEL).orgs
    assert namespaces_of(store, org) == ["notes", "other"]


def test_an_org_whose_rows_are_done_is_unfinished_until_it_is_held_to_the_model(store: EmbeddedStore, org: str) -> None:
    namespaces = Namespaces(store)
    namespaces.fix_model(org, OLD.identity.name)
    assert lacking(store, MODEL, org) == Lacking((org,), 0, 0)
    namespaces.mark_moving(org, True)
    namespaces.move_model(org, MODEL)
    assert (namespaces.model_of(org), namespaces.moving(org)) == (MODEL, True)
    assert lacking(store, MODEL, org).orgs == (org,)
    namespaces.mark_moving(org, False)
    assert (Namespaces(store).model_of(org), Namespaces(store).moving(org)) == (MODEL, False)
    assert lacking(store, MODEL, org) == Lacking()
