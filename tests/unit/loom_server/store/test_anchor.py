"""What is removed or replaced is seen; what only changes is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from loom_server.errors import StoreUnavailable
from loom_server.store.anchor import Anchor
from loom_server.store.embedded import ENGINE_DIRECTORY
from loom_server.store.lock import LOCK_FILE
from store_process import StoreProcess


def test_a_folder_may_change(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path)
    (tmp_path / "file").write_text("new")
    anchor.check()
    anchor.close()


def test_a_folder_that_was_removed_moved_or_made_anew_is_another(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    anchor = Anchor(place)
    place.rename(tmp_path / "elsewhere")
    for make in (lambda: None, place.mkdir):
        make()
        with pytest.raises(StoreUnavailable, match="place was removed or replaced while it was in use"):
            anchor.check()
    place.rmdir()
    (tmp_path / "elsewhere").rename(place)
    anchor.check()
    anchor.close()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"nothing cannot be read \("):
        Anchor(tmp_path / "nothing")


@pytest.mark.parametrize("lost", [ENGINE_DIRECTORY, LOCK_FILE])
def test_a_store_takes_nothing_for_a_directory_that_is_gone(tmp_path: Path, lost: str) -> None:
    with StoreProcess(tmp_path) as process:
        assert process.tell("fill 3") == {"rows": 3}
        if lost == LOCK_FILE:
            (tmp_path / lost).unlink()
        else:
            shutil.rmtree(tmp_path / lost)
        told = process.tell("fill 3")
        assert told["refused"] == "store_unavailable"
        assert f"{lost} was removed or replaced" in told["message"]
        process.close()
