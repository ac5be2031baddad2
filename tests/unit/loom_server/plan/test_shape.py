"""Identifiers, code and paths are told from prose."""

from __future__ import annotations

import pytest

from loom_server.plan.shape import shape_of
from stages import a_query, a_term


def test_whole_identifiers_are_named_in_order() -> None:
    query = a_query(a_term("pg_hba.conf", kind="identifier"), a_term("broken"), a_term("PROJ-7", kind="identifier"))
    assert shape_of(query).identifiers == ("pg_hba.conf", "PROJ-7")


def test_half_of_the_slots_being_pieces_is_code() -> None:
    # identifier and part: 2 of 4 slots; the stop word does not count
    slots = [a_term("a_b", kind="identifier"), a_term("a", kind="part"), a_term("why"), a_term("slow")]
    assert shape_of(a_query(*slots, a_term("the", kind="stop"))).code


def test_fewer_than_half_is_prose() -> None:
    # 2 of 5
    words = [a_term(word) for word in ("why", "slow", "today")]
    assert not shape_of(a_query(a_term("a_b", kind="identifier"), a_term("a", kind="part"), *words)).code


@pytest.mark.parametrize(
    "text",
    [
        "server/app/main.py",
        "src/main.py",
        "/etc/hosts",
        "~/notes",
        "./run",
        "C:\\Users\\anna\\notes",
        "https://example.org/a/b",
        "connect() hangs",
        "std::vector push_back",
        "ptr->next != null",
        "items[] empty",
    ],
)
def test_code_and_paths(text: str) -> None:
    assert shape_of(a_query(a_term("x"), text=text)).code


@pytest.mark.parametrize(
    "text",
    ["red and/or blue", "n/a", "I/O.", "12/05/2024", "24/7 support", "file(s) lost", "what? why! where...", "", " / "],
)
def test_prose_with_marks_is_prose(text: str) -> None:
    assert not shape_of(a_query(a_term("x"), text=text)).code


def test_a_third_of_the_words_is_enough() -> None:
    assert shape_of(a_query(a_term("x"), text="where is src/main.py")).code
    assert not shape_of(a_query(a_term("x"), text="where is it in src/main.py")).code


def test_a_query_of_stop_words_has_no_shape() -> None:
    shape = shape_of(a_query(a_term("to", kind="stop"), a_term("be", kind="stop")))
    assert (shape.identifiers, shape.code) == ((), False)
