from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from odradek.log.disk import Disk, OsDisk
from odradek.model.errors import StorageError
from odradek.testing.sim_disk import SimDisk, SimFile

SEEDS = range(300)


def disk_with(seed: int, path: str = "/d/file") -> tuple[SimDisk, SimFile]:
    """A disk with one durable, empty file."""
    disk = SimDisk(Random(seed))
    disk.make_directory("/d")
    file = disk.open(path, create=True)
    disk.sync_directory("/d")
    return disk, file


def test_what_was_synced_survives_and_the_rest_comes_from_what_was_written() -> None:
    kept, lengths = set(), set()
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"synced")
        file.sync()
        file.append(b"later")
        disk.crash()
        data = disk.read_file("/d/file")
        assert data.startswith(b"synced")
        assert len(data) <= len(b"syncedlater")
        kept.add(data)
        lengths.add(len(data))
    assert {b"synced", b"syncedlater", b"syncedlat"} <= kept
    assert lengths == set(range(6, 12))
    assert any(b"\0" in data for data in kept), "never a hole"
    assert any(set(data) - set(b"syncedlater\0") for data in kept), "never a flipped bit"


def test_a_name_that_was_not_synced_may_be_gone() -> None:
    found = set()
    for seed in SEEDS:
        disk, _ = disk_with(seed)
        for name in ("a", "b"):
            disk.open(f"/d/{name}", create=True).sync()
        disk.rename("/d/file", "/d/renamed")
        disk.crash()
        found.add(tuple(disk.list("/d")))
    assert found == {("file",), ("a", "file"), ("a", "b", "file"), ("a", "b", "renamed")}


def test_two_directories_keep_no_order_between_them() -> None:
    found = set()
    for seed in SEEDS:
        disk = SimDisk(Random(seed))
        for name in ("first", "second"):
            disk.make_directory(f"/{name}")
            disk.open(f"/{name}/file", create=True)
        disk.crash()
        found.add((disk.exists("/first/file"), disk.exists("/second/file")))
    assert len(found) == 4


def test_a_removed_file_may_come_back_until_its_directory_is_synced() -> None:
    found = set()
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"old")
        file.sync()
        disk.remove("/d/file")
        disk.crash()
        found.add(disk.read_file("/d/file") if disk.exists("/d/file") else None)
    assert found == {None, b"old"}
    disk, _ = disk_with(0)
    disk.remove("/d/file")
    disk.sync_directory("/d")
    disk.crash()
    assert disk.list("/d") == []


def test_an_unsynced_truncation_may_be_undone_and_mixed_with_what_came_after() -> None:
    found = set()
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"a" * 64)
        file.sync()
        file.truncate(16)
        file.append(b"b" * 64)
        disk.crash()
        data = disk.read_file("/d/file")
        assert data[:16] == b"a" * 16
        found.add(data)
    assert b"a" * 64 in found
    assert b"a" * 16 + b"b" * 64 in found
    assert any(data[16:].count(b"a") and data.count(b"b") for data in found)


def test_an_unsynced_change_of_size_happened_or_did_not() -> None:
    found = set()
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"a" * 64)
        file.sync()
        file.truncate(16)
        disk.crash()
        found.add(disk.read_file("/d/file"))
    assert found == {b"a" * 64, b"a" * 16}


def test_a_tail_that_was_cut_off_before_it_was_synced_may_show() -> None:
    found = set()
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"x" * 64)
        file.truncate(0)
        disk.crash()
        found.add(disk.read_file("/d/file"))
    assert b"" in found
    assert any(b"x" * 16 in data for data in found)


def test_a_failed_sync_distrusts_the_file_and_loses_what_it_was_for() -> None:
    lost = 0
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"0123456789")
        disk.error_rate = 1.0
        with pytest.raises(StorageError):
            file.sync()
        disk.error_rate = 0.0
        for touch in (lambda file=file: file.append(b"x"), file.sync):
            with pytest.raises(StorageError):
                touch()
        again = disk.open("/d/file")
        assert again.read(0, 10) == b"0123456789", "the page cache still has it"
        again.append(b"after")
        again.sync()
        disk.crash()
        data = disk.read_file("/d/file")
        assert data[10:] == b"after"
        lost += data[:10] != b"0123456789"
    assert lost > len(SEEDS) / 2


def test_a_killed_process_loses_no_byte_but_a_crash_after_it_does() -> None:
    found = set()
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.append(b"written")
        disk.kill()
        assert disk.read_file("/d/file") == b"written"
        disk.crash()
        found.add(disk.read_file("/d/file"))
    assert len(found) > 1


@pytest.mark.parametrize("end", [SimDisk.crash, SimDisk.kill])
def test_a_file_opened_before_the_end_is_of_no_use_after_it(end: object) -> None:
    disk, file = disk_with(0)
    assert callable(end)
    end(disk)
    with pytest.raises(AssertionError):
        file.append(b"x")


def test_a_full_disk_refuses_to_grow_and_leaves_the_file_as_it_was() -> None:
    disk, file = disk_with(1)
    disk.capacity = 10
    file.append(b"12345678")
    with pytest.raises(StorageError, match="/d/file: could not write: No space left on device"):
        file.append(b"9abc")
    other = disk.open("/d/other", create=True)
    other.reserve(1000)  # takes no room before it is written to
    with pytest.raises(StorageError, match="No space"):
        other.append(b"9ab")
    assert disk.read_file("/d/file") == b"12345678"
    file.truncate(4)
    file.append(b"efghij")
    assert (disk.used, disk.space("/d")) == (10, (10, 0))


def test_below_a_broken_path_nothing_works_and_beside_it_everything_does() -> None:
    disk, file = disk_with(0)
    disk.make_directory("/de")
    disk.broken.add("/d")
    for attempt in (
        lambda: file.append(b"x"),
        lambda: file.read(0, 1),
        lambda: disk.open("/d/file"),
        lambda: disk.list("/d"),
        lambda: disk.rename("/d/file", "/d/other"),
    ):
        with pytest.raises(StorageError, match="Input/output error"):
            attempt()
    disk.open("/de/file", create=True).append(b"fine")


def test_zeros_that_were_synced_survive_as_other_bytes_do() -> None:
    for seed in SEEDS:
        disk, file = disk_with(seed)
        file.reserve(16)
        file.truncate(16)
        file.sync()
        file.append(b"later")
        disk.crash()
        assert disk.read_file("/d/file")[:16] == bytes(16)


def test_the_same_seed_lies_the_same() -> None:
    def story(seed: int) -> list[object]:
        disk, file = disk_with(seed)
        file.append(bytes(100))
        disk.open("/d/other", create=True)
        disk.crash()
        return [disk.list("/d"), disk.read_file("/d/file")]

    assert [story(seed) for seed in range(20)] == [story(seed) for seed in range(20)]


def test_a_file_is_dated_with_its_last_change() -> None:
    disk, file = disk_with(0)
    disk.now_ms = 500
    file.append(b"x")
    disk.now_ms = 900
    file.sync()
    assert disk.modified_ms("/d/file") == 500


def test_operations_are_counted() -> None:
    disk, file = disk_with(0)
    disk.counts.clear()
    file.append(b"x")
    file.sync()
    disk.replace_file("/d/text", b"y")
    assert disk.counts["sync"] == 2
    assert disk.counts["sync_directory"] == 1


@pytest.fixture(params=["os", "sim"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Disk, str]:
    if request.param == "os":
        return OsDisk(), str(tmp_path / "data")
    return SimDisk(Random(0)), "/data"


def test_both_disks_do_the_same_while_nothing_fails(place: tuple[Disk, str]) -> None:
    disk, root = place
    disk.make_directory(f"{root}/a/b")
    disk.make_directory(f"{root}/a/b")
    assert disk.list(f"{root}/a") == ["b"]
    file = disk.open(f"{root}/a/b/f", create=True)
    file.reserve(100)
    file.append(b"hello ")
    file.append(memoryview(b"world"))
    assert (file.size, disk.size(file.path)) == (11, 100)
    assert file.read(6, 100).rstrip(b"\0") == b"world"
    file.truncate(5)
    assert (file.size, disk.read_file(file.path)) == (5, b"hello")
    file.truncate(7)
    assert disk.read_file(file.path) == b"hello\0\0"
    file.close()
    disk.rename(f"{root}/a/b/f", f"{root}/a/b/g")
    disk.replace_file(f"{root}/a/b/h", b"whole")
    disk.replace_file(f"{root}/a/b/h", b"anew")
    disk.remove(f"{root}/a/b/missing")
    assert disk.list(f"{root}/a/b") == ["g", "h"]
    assert disk.read_file(f"{root}/a/b/h") == b"anew"
    disk.rename(f"{root}/a/b", f"{root}/a/c")
    disk.remove_tree(f"{root}/a/c")
    disk.remove_tree(f"{root}/a/c")
    assert not disk.exists(f"{root}/a/c")
    assert disk.exists(f"{root}/a")


def test_both_disks_say_what_is_not_there(place: tuple[Disk, str]) -> None:
    disk, root = place
    disk.make_directory(root)
    for attempt in (
        lambda: disk.open(f"{root}/none"),
        lambda: disk.open(f"{root}/none/file", create=True),
        lambda: disk.read_file(f"{root}/none"),
        lambda: disk.size(f"{root}/none"),
        lambda: disk.list(f"{root}/none"),
        lambda: disk.rename(f"{root}/none", f"{root}/other"),
    ):
        with pytest.raises(FileNotFoundError):
            attempt()


def test_both_disks_lock_a_file_once(place: tuple[Disk, str]) -> None:
    disk, root = place
    disk.make_directory(root)
    lock = disk.lock(f"{root}/.lock")
    assert lock
    assert disk.lock(f"{root}/.lock") is None
    disk.read_file(f"{root}/.lock")
    assert disk.lock(f"{root}/.lock") is None
    lock.release()
    again = disk.lock(f"{root}/.lock")
    assert again
    again.release()
