from __future__ import annotations

import pytest

from odradek.log.open_files import OpenFiles
from odradek.testing.sim_disk import SimDisk


@pytest.fixture
def names(disk: SimDisk, directory: str) -> list[str]:
    names = [f"{directory}/{letter}" for letter in "abc"]
    for name in names:
        disk.open(name, create=True)
    disk.counts.clear()
    return names


def test_a_file_is_opened_once_while_there_is_room(disk: SimDisk, names: list[str]) -> None:
    files = OpenFiles(disk, held_max=3)
    assert [files.open(name) for name in names] == [files.open(name) for name in names]
    assert disk.counts["open"] == 3


def test_the_file_that_was_not_used_for_longest_goes_first(disk: SimDisk, names: list[str]) -> None:
    files = OpenFiles(disk, held_max=2)
    for name in (names[0], names[1], names[0], names[2]):
        files.open(name)
    assert disk.counts["open"] == 3
    files.open(names[0])
    assert disk.counts["open"] == 3
    files.open(names[1])
    assert disk.counts["open"] == 4


def test_a_forgotten_file_is_opened_anew(disk: SimDisk, names: list[str]) -> None:
    files = OpenFiles(disk)
    first = files.open(names[0])
    files.forget(names[0])
    assert files.open(names[0]) is not first


def test_a_file_that_is_not_there_is_an_answer(disk: SimDisk, directory: str) -> None:
    with pytest.raises(FileNotFoundError):
        OpenFiles(disk).open(f"{directory}/d")
