"""One log through crashes, on a disk that lies; see `odradek/testing/log_life.py` and `laws.py`.

A failing seed fails forever: `./check sim SEED`.
"""

from __future__ import annotations

import pytest

from odradek.testing.log_life import LogLife

EVERYDAY = {
    "append_plain": 20,
    "roll": 2,
    "flush": 3,
    "begin_flush": 2,
    "end_flush": 2,
    "checkpoint": 1,
    "begin_checkpoint": 2,
    "end_checkpoint": 2,
    "advance_high_watermark": 3,
    "begin_epoch": 1,
    "crash": 2,
    "kill": 1,
    "stop_cleanly": 1,
}
STEPS = 60


@pytest.mark.simulation(seeds=350)
def test_a_log_keeps_what_was_flushed(seed: int) -> None:
    LogLife(seed, EVERYDAY).live(STEPS)


@pytest.mark.simulation(seeds=350)
def test_a_log_remembers_its_producers(seed: int) -> None:
    producers = {
        "append_idempotent": 15,
        "append_transactional": 15,
        "append_marker": 6,
        "append_duplicate": 3,
    }
    LogLife(seed, EVERYDAY | producers).live(STEPS)


@pytest.mark.simulation(seeds=350)
def test_a_log_can_be_cut(seed: int) -> None:
    cuts = {
        "append_as_follower": 10,
        "append_transactional": 5,
        "append_marker": 2,
        "cut": 4,
        "start_over": 1,
    }
    LogLife(seed, EVERYDAY | cuts).live(STEPS)


@pytest.mark.simulation(seeds=350)
def test_a_log_forgets_its_oldest_records(seed: int) -> None:
    retention = {"delete_records": 3, "retain": 4, "append_idempotent": 5, "append_transactional": 5}
    LogLife(seed, EVERYDAY | retention | {"append_marker": 3, "advance_high_watermark": 8}).live(STEPS)


@pytest.mark.simulation(seeds=350)
def test_a_log_survives_full_and_failing_disks(seed: int) -> None:
    failures = {
        "fill_up": 1,
        "make_room": 1,
        "fail_sometimes": 1,
        "append_transactional": 5,
        "append_marker": 2,
    }
    LogLife(seed, EVERYDAY | failures | {"cut": 1, "retain": 1}).live(STEPS)


@pytest.mark.simulation(seeds=350)
def test_a_log_moves_between_directories_and_is_deleted(seed: int) -> None:
    moves = {
        "move": 8,
        "recreate": 1,
        "delete_records": 1,
        "cut": 1,
        "fail_sometimes": 1,
        "advance_high_watermark": 5,
    }
    LogLife(seed, EVERYDAY | moves).live(STEPS)
