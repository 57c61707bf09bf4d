"""The real disk, by what the port promises of every disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from odradek.log.disk import OsDisk, OsFile
from odradek.model.errors import StorageError

DISK = OsDisk()


@pytest.fixture
def file(tmp_path: Path) -> OsFile:
    file = DISK.open(f"{tmp_path}/file", create=True)
    file.append(b"one")
    return file


def test_what_is_appended_is_read_anywhere(file: OsFile) -> None:
    file.append(memoryview(b"two"))
    assert file.size == 6
    assert file.read(0, 100) == b"onetwo"
    assert file.read(2, 2) == b"et"
    assert file.read(6, 1) == b""


def test_appends_go_on_where_an_existing_file_ends(file: OsFile, tmp_path: Path) -> None:
    again = DISK.open(file.path)
    again.append(b"two")
    assert (tmp_path / "file").read_bytes() == b"onetwo"


def test_a_reserved_file_looks_long_and_is_appended_to_where_it_ended(file: OsFile, tmp_path: Path) -> None:
    file.reserve(1 << 20)
    assert DISK.size(file.path) == 1 << 20
    assert (tmp_path / "file").stat().st_blocks <= 8
    file.append(b"two")
    file.truncate(file.size)
    assert (tmp_path / "file").read_bytes() == b"onetwo"


def test_a_truncated_file_goes_on_from_there(file: OsFile, tmp_path: Path) -> None:
    file.truncate(1)
    file.append(b"K")
    file.sync()
    assert (tmp_path / "file").read_bytes() == b"oK"


def test_an_append_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "read-only").write_bytes(b"before")
    descriptor = os.open(tmp_path / "read-only", os.O_RDONLY)
    file = OsFile(f"{tmp_path}/read-only", descriptor, 6)
    with pytest.raises(StorageError, match="read-only"):
        file.append(b"after")
    assert file.size == 6


def test_what_may_hold_half_an_append_is_not_appended_to_again(tmp_path: Path) -> None:
    """Neither writing nor cutting back works on a descriptor opened for reading."""
    (tmp_path / "read-only").write_bytes(b"before")
    file = OsFile(f"{tmp_path}/read-only", os.open(tmp_path / "read-only", os.O_RDONLY), 6)
    for _ in range(2):
        with pytest.raises(StorageError):
            file.append(b"after")
    with pytest.raises(StorageError, match="earlier failure"):
        file.sync()


def test_a_full_disk_is_a_storage_error_that_says_so() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this machine has no /dev/full")
    file = OsFile(str(full), os.open(full, os.O_RDWR), 0)
    with pytest.raises(StorageError, match=os.strerror(errno.ENOSPC)):
        file.append(b"anything")


def test_a_file_closes_when_nobody_holds_it(tmp_path: Path) -> None:
    file = DISK.open(f"{tmp_path}/file", create=True)
    descriptor = file.fileno()
    del file
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        os.fstat(descriptor)


def test_a_removed_file_is_read_on_by_who_has_it_open(file: OsFile) -> None:
    DISK.remove(file.path)
    DISK.remove(file.path)
    assert not DISK.exists(file.path)
    assert file.read(0, 3) == b"one"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    for content in (b"first, and longer", b"second"):
        DISK.replace_file(f"{tmp_path}/file", content)
        assert DISK.read_file(f"{tmp_path}/file") == content
    assert DISK.list(str(tmp_path)) == ["file"]


def test_a_rename_takes_the_place_of_what_was_there(file: OsFile, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"other")
    DISK.rename(f"{tmp_path}/other", file.path)
    DISK.sync_directory(str(tmp_path))
    assert (tmp_path / "file").read_bytes() == b"other"


def test_directories_are_made_with_their_parents_and_removed_with_their_files(tmp_path: Path) -> None:
    DISK.make_directory(f"{tmp_path}/a/b/c")
    DISK.make_directory(f"{tmp_path}/a/b/c")
    (tmp_path / "a" / "b" / "file").touch()
    DISK.remove_tree(f"{tmp_path}/a")
    DISK.remove_tree(f"{tmp_path}/a")
    assert DISK.list(str(tmp_path)) == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: DISK.open(path),
        lambda path: DISK.read_file(path),
        lambda path: DISK.size(path),
        lambda path: DISK.modified_ms(path),
        lambda path: DISK.list(path),
        lambda path: DISK.rename(path, f"{path}-2"),
    ],
)
def test_a_file_that_is_not_there_is_no_failure_of_the_disk(ask: object, tmp_path: Path) -> None:
    assert callable(ask)
    with pytest.raises(FileNotFoundError):
        ask(f"{tmp_path}/nothing")


def test_a_lock_excludes_everybody_until_it_is_released(tmp_path: Path) -> None:
    lock = DISK.lock(f"{tmp_path}/.lock")
    assert lock is not None
    assert DISK.lock(f"{tmp_path}/.lock") is None
    lock.release()
    assert DISK.lock(f"{tmp_path}/.lock") is not None


def test_a_file_knows_when_it_changed(file: OsFile) -> None:
    os.utime(file.path, (12, 12.5))
    assert DISK.modified_ms(file.path) == 12_500
