from __future__ import annotations

from random import Random

import pytest

from odradek.log.checkpoint import read_offsets
from odradek.log.offset_file import OffsetFile
from odradek.model.ids import Partition
from odradek.testing.sim_disk import SimDisk

PATH = "/replication-offset-checkpoint"
A, B = Partition("a", 0), Partition("b", 0)


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(Random(0))


@pytest.fixture
def file(disk: SimDisk) -> OffsetFile:
    made = OffsetFile(disk, PATH)
    made.keep({A: 1})
    return made


def said(disk: SimDisk) -> dict[Partition, int]:
    return read_offsets(disk, PATH)


def test_what_is_kept_is_there_after_a_crash(disk: SimDisk, file: OffsetFile) -> None:
    file.keep({A: 2})
    disk.crash()
    assert said(disk) == {A: 2}


def test_what_it_says_already_is_not_written_again(disk: SimDisk, file: OffsetFile) -> None:
    before = disk.counts.copy()
    file.keep({A: 1})
    assert file.draft({A: 1}) is None
    assert disk.counts == before


def test_a_draft_takes_the_files_place_when_it_is_told_to(disk: SimDisk, file: OffsetFile) -> None:
    draft = file.draft({A: 2})
    assert draft is not None
    draft.write()
    assert said(disk) == {A: 1}
    draft.place()
    assert said(disk) == file.says == {A: 2}
    assert file.draft({A: 2}) is None


def test_whatever_a_crash_leaves_is_one_or_the_other(disk: SimDisk, file: OffsetFile) -> None:
    seen = []
    for number in range(2, 40):
        before = said(disk)
        draft = file.draft({A: number})
        assert draft is not None
        draft.write()
        draft.place()
        disk.crash()
        assert said(disk) in (before, {A: number})
        seen.append(said(disk) == before)
        file = OffsetFile(disk, PATH)
        file.says = said(disk)
    assert set(seen) == {False, True}


def test_a_draft_that_was_overtaken_is_dropped(disk: SimDisk, file: OffsetFile) -> None:
    draft = file.draft({A: 9})
    assert draft is not None
    file.keep({A: 1})
    draft.write()
    draft.place()
    assert said(disk) == file.says == {A: 1}
    assert disk.list("/") == [PATH[1:]]


def test_what_is_kept_over_a_draft_is_written_even_if_the_draft_says_so_too(
    disk: SimDisk, file: OffsetFile
) -> None:
    """The draft may never be placed: its broker stops."""
    file.draft({A: 9})
    file.keep({A: 9})
    assert said(disk) == {A: 9}


def test_both_what_it_says_and_what_it_is_about_to_say_are_promised(file: OffsetFile) -> None:
    file.keep({A: 5, B: 5})
    draft = file.draft({B: 7})
    assert draft is not None
    assert (file.promises(A), file.promises(B), file.promises(Partition("c", 0))) == (5, 7, 0)
    draft.write()
    draft.place()
    assert (file.promises(A), file.promises(B)) == (0, 7)


def test_a_draft_that_was_never_written_is_followed_by_another(disk: SimDisk, file: OffsetFile) -> None:
    file.draft({A: 2})
    draft = file.draft({A: 3})
    assert draft is not None
    draft.write()
    draft.place()
    assert said(disk) == {A: 3}
