from __future__ import annotations

import pytest

from odradek.log.epochs import NO_EPOCH, NO_OFFSET, LeaderEpochs
from odradek.testing.sim_disk import SimDisk

LOG_END = 100
Entries = list[tuple[int, int]]


@pytest.fixture
def epochs(disk: SimDisk, directory: str) -> LeaderEpochs:
    epochs = LeaderEpochs(disk, directory)
    for epoch, start in ((2, 10), (4, 40), (7, 80)):
        epochs.begin(epoch, start)
    epochs.save()
    return epochs


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (NO_EPOCH, (NO_EPOCH, NO_OFFSET)),
        (0, (0, 10)),
        (1, (1, 10)),
        (2, (2, 40)),
        (3, (2, 40)),
        (4, (4, 80)),
        (6, (4, 80)),
        (7, (7, LOG_END)),
        (8, (NO_EPOCH, NO_OFFSET)),
    ],
)
def test_every_question_where_an_epoch_ended(
    epochs: LeaderEpochs, asked: int, answer: tuple[int, int]
) -> None:
    assert epochs.end_of(asked, LOG_END) == answer


def test_without_epochs_nothing_is_known(disk: SimDisk, directory: str) -> None:
    epochs = LeaderEpochs(disk, directory)
    assert epochs.latest == NO_EPOCH
    assert epochs.end_of(0, LOG_END) == (NO_EPOCH, NO_OFFSET)
    assert epochs.at(5) == NO_EPOCH


@pytest.mark.parametrize(("offset", "epoch"), [(9, NO_EPOCH), (10, 2), (39, 2), (40, 4), (99, 7)])
def test_an_offset_has_the_epoch_that_began_last_before_it(
    epochs: LeaderEpochs, offset: int, epoch: int
) -> None:
    assert epochs.at(offset) == epoch


@pytest.mark.parametrize(
    ("epoch", "start", "expected"),
    [
        (9, 90, [(2, 10), (4, 40), (7, 80), (9, 90)]),
        (7, 85, [(2, 10), (4, 40), (7, 80)]),
        (7, 60, [(2, 10), (4, 40), (7, 60)]),
        (9, 80, [(2, 10), (4, 40), (9, 80)]),
        (9, 30, [(2, 10), (9, 30)]),
        (3, 90, [(2, 10), (3, 90)]),
        (NO_EPOCH, 90, [(2, 10), (4, 40), (7, 80)]),
    ],
)
def test_a_beginning_epoch_replaces_what_contradicts_it(
    epochs: LeaderEpochs, epoch: int, start: int, expected: Entries
) -> None:
    epochs.begin(epoch, start)
    assert epochs.entries == expected


@pytest.mark.parametrize(
    ("end", "expected"),
    [(100, [(2, 10), (4, 40), (7, 80)]), (80, [(2, 10), (4, 40)]), (41, [(2, 10), (4, 40)]), (10, [])],
)
def test_epochs_that_began_behind_the_new_end_go(epochs: LeaderEpochs, end: int, expected: Entries) -> None:
    epochs.cut_from(end)
    assert epochs.entries == expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (5, [(2, 10), (4, 40), (7, 80)]),
        (39, [(2, 10), (4, 40), (7, 80)]),
        (40, [(4, 40), (7, 80)]),
        (99, [(7, 80)]),
    ],
)
def test_epochs_that_ended_before_the_new_start_go(
    epochs: LeaderEpochs, start: int, expected: Entries
) -> None:
    epochs.cut_before(start)
    assert epochs.entries == expected


def test_what_was_saved_survives_a_crash(epochs: LeaderEpochs, disk: SimDisk, directory: str) -> None:
    epochs.begin(9, 90)
    epochs.save()
    disk.crash()
    assert LeaderEpochs(disk, directory).entries == [(2, 10), (4, 40), (7, 80), (9, 90)]
    assert disk.read_file(f"{directory}/leader-epoch-checkpoint") == b"0\n4\n2 10\n4 40\n7 80\n9 90\n"


@pytest.mark.parametrize(
    ("cut", "left"), [("cut_from", [(2, 10), (4, 40)]), ("cut_before", [(4, 40), (7, 80)])]
)
def test_epochs_that_go_are_gone_at_once(
    epochs: LeaderEpochs, disk: SimDisk, directory: str, cut: str, left: Entries
) -> None:
    getattr(epochs, cut)(45)
    disk.crash()
    assert LeaderEpochs(disk, directory).entries == left


def test_an_epoch_that_has_only_begun_costs_nothing(
    epochs: LeaderEpochs, disk: SimDisk, directory: str
) -> None:
    disk.counts.clear()
    epochs.begin(9, 90)
    assert not disk.counts
    assert epochs.end_of(7, LOG_END) == (7, 90)
    assert LeaderEpochs(disk, directory).latest == 7


def test_what_changes_nothing_writes_nothing(epochs: LeaderEpochs, disk: SimDisk) -> None:
    disk.counts.clear()
    epochs.begin(7, 80)
    epochs.save()
    epochs.cut_from(100)
    epochs.cut_before(0)
    assert not disk.counts


def test_cleared_they_are_gone(epochs: LeaderEpochs, disk: SimDisk, directory: str) -> None:
    epochs.clear()
    assert LeaderEpochs(disk, directory).entries == []
