from __future__ import annotations

import re
from pathlib import Path

from pydantic import SecretStr

from loom_server.evaluation.about import changed, machine, versions
from loom_server.settings import Settings


def test_settings_that_differ_are_told_and_places_and_secrets_are_not() -> None:
    settings = Settings(
        data_dir=Path("/somewhere"), port=9999, log_hash_key=SecretStr("hidden"), memory_search_top_k=7, embedder="hash"
    )
    assert changed(settings) == {"LOOM_EMBEDDER": "hash", "LOOM_MEMORY_SEARCH_TOP_K": "7"}


def test_the_place_is_told() -> None:
    found = versions()
    assert set(found) == {"loom", "engine", "python"}
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{12}", found["loom"])
    assert " x " in machine()
