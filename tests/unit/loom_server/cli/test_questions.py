from __future__ import annotations

import pytest

from loom_server.cli.questions import Choices, Question, further_fields
from loom_server.errors import InvalidInput, NotSupported


def test_options_become_fields_and_the_rest_stays_with_the_service() -> None:
    choices = Choices(mode="hybrid", top_k=3, page="abc", field=['tags_any=["a"]', "user_id=mara"])
    request = Question("who?", choices).request({"namespace": "platform"})
    assert request.model_dump(exclude_unset=True) == {
        "namespace": "platform",
        "query": "who?",
        "search_mode": "hybrid",
        "top_k": 3,
        "page": "abc",
        "tags_any": ["a"],
        "user_id": "mara",
    }


def test_a_field_reads_as_json_where_it_can() -> None:
    assert further_fields(["a=1", "b=x=y", 'c="1"', "d=", "e=null"]) == {
        "a": 1,
        "b": "x=y",
        "c": "1",
        "d": "",
        "e": None,
    }


@pytest.mark.parametrize("text", ["top_k", "=3"])
def test_a_field_without_name_or_value_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="not of the form name=value"):
        further_fields([text])


def test_wrong_fields_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"top_k .*must be at least 1|top_k"):
        Question("q", Choices(top_k=0)).request({})
    with pytest.raises(NotSupported, match="hyde"):
        Question("q", Choices(field=["hyde=true"])).request({})
    with pytest.raises(InvalidInput, match="search_mode"):
        Question("q", Choices(mode="best")).request({})
