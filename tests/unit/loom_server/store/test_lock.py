"""One process a directory, whatever became of the process before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path

import pytest

from loom_server.errors import StoreLocked, StoreUnavailable
from loom_server.store import lock
from loom_server.store.lock import LOCK_FILE, DirectoryLock, owner_of
from store_process import StoreProcess

ADDRESS = "http://127.0.0.1:7777"


def test_a_new_directory_is_made_and_had_no_clean_close(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(tmp_path / "a" / "b")
    assert not held.was_clean
    assert json.loads((tmp_path / "a" / "b" / LOCK_FILE).read_text())["pid"] == os.getpid()
    held.release(clean=True)


@pytest.mark.parametrize("clean", [True, False])
def test_the_next_owner_learns_how_the_one_before_left(tmp_path: Path, clean: bool) -> None:
    DirectoryLock.acquire(tmp_path).release(clean=clean)
    held = DirectoryLock.acquire(tmp_path)
    assert held.was_clean is clean
    held.release(clean=False)


@pytest.mark.parametrize(
    "text",
    [
        '{"pid": 1, "cl',
        "",
        "\0",
        "[]",
        "[" * 60_000,
        '{"pid": "1", "since": "", "address": "", "clean": true}',
        '{"pid": 1, "since": "", "address": "", "clean": "yes"}',
        '{"clean": true}',
    ],
)
def test_a_damaged_file_counts_as_no_clean_close(tmp_path: Path, text: str) -> None:
    DirectoryLock.acquire(tmp_path).release(clean=True)
    (tmp_path / LOCK_FILE).write_text(text)
    held = DirectoryLock.acquire(tmp_path)
    assert not held.was_clean
    held.release(clean=True)


def test_a_shorter_text_leaves_nothing_of_the_longer_one(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(tmp_path)
    held.publish_address(ADDRESS * 20)
    held.publish_address("")
    assert json.loads((tmp_path / LOCK_FILE).read_text())["address"] == ""
    held.release(clean=True)


def test_releasing_twice_is_releasing_once(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(tmp_path)
    held.release(clean=True)
    held.release(clean=False)
    held = DirectoryLock.acquire(tmp_path)
    assert held.was_clean
    held.release(clean=True)


def test_the_same_process_is_refused_too(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(tmp_path)
    with pytest.raises(StoreLocked, match=f"process {os.getpid()} since 20"):
        DirectoryLock.acquire(tmp_path)
    held.release(clean=True)


def test_an_owner_that_has_not_written_yet_is_still_an_owner(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(tmp_path)
    (tmp_path / LOCK_FILE).write_text("")
    with pytest.raises(StoreLocked, match="being opened by another process"):
        DirectoryLock.acquire(tmp_path)
    held.release(clean=True)


def test_a_name_that_the_engine_cannot_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is not UTF-8"):
        DirectoryLock.acquire(tmp_path / os.fsdecode(b"a\xff"))
    DirectoryLock.acquire(tmp_path / "ä").release(clean=True)


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match=r"file/below cannot be used \(.+\); set LOOM_DATA_DIR"):
        DirectoryLock.acquire(tmp_path / "file" / "below")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_file_is_no_lock(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / LOCK_FILE)
    with pytest.raises(StoreUnavailable, match=r"loom\.lock is no regular file; remove it"):
        DirectoryLock.acquire(tmp_path)


def test_an_owner_whose_address_is_none_has_told_nothing(tmp_path: Path) -> None:
    held = DirectoryLock.acquire(tmp_path)
    (tmp_path / LOCK_FILE).write_text('{"pid": 1, "since": "x", "address": 7, "clean": false}')
    assert owner_of(tmp_path) is None
    held.release(clean=True)


def test_a_disk_that_takes_no_mark_leaves_an_unclean_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(ENOSPC, "No space left on device")

    held = DirectoryLock.acquire(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        held.release(clean=True)
        with pytest.raises(StoreUnavailable, match=r"cannot be used \(No space left on device\)"):
            DirectoryLock.acquire(tmp_path)
    again = DirectoryLock.acquire(tmp_path)
    assert not again.was_clean
    again.release(clean=True)


def test_a_system_without_such_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    with pytest.raises(StoreUnavailable, match="POSIX"):
        DirectoryLock.acquire(tmp_path)


def test_a_second_process_learns_who_holds_the_directory_and_where(tmp_path: Path) -> None:
    with StoreProcess(tmp_path, ADDRESS) as first, StoreProcess(tmp_path) as second:
        assert second.opened["refused"] == "store_locked"
        message = second.opened["message"]
        assert f"held by process {first.pid} since 20" in message
        assert f"answers at {ADDRESS}; ask it there" in message
        assert str(tmp_path) in message
        assert first.tell("fill 3") == {"rows": 3}


def test_a_lock_left_by_a_killed_process_is_taken(tmp_path: Path) -> None:
    with StoreProcess(tmp_path, ADDRESS) as first:
        assert first.opened == {"open": True}
        assert first.tell("fill 5") == {"rows": 5}
        first.kill()
        with StoreProcess(tmp_path) as second:
            assert second.opened == {"open": False}
            assert second.tell("fill 2") == {"rows": 7}
            second.close()
        with StoreProcess(tmp_path) as third:
            assert third.opened == {"open": False}, "nobody has swept"
            assert third.tell("settle") == {"settled": True}
            third.close()
        with StoreProcess(tmp_path) as fourth:
            assert fourth.opened == {"open": True}
