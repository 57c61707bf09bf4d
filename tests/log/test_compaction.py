from __future__ import annotations

import pytest

from odradek.log.compaction import (
    RELATIVE_OFFSET_MAX,
    Cleanable,
    SegmentFiles,
    cleanable,
    dirtiest_first,
    grouped,
)
from odradek.log.facts import LogFacts, SegmentFacts
from odradek.log.settings import LogSettings

NOW = 1_000_000
COMPACT = LogSettings(cleanup_policy=frozenset({"compact"}))


def log(*segments: tuple[int, int, int, int], start: int = 0, stable: int = 400) -> LogFacts:
    """Segments as (base offset, size, largest timestamp, first timestamp); the log ends at offset 400."""
    return LogFacts([SegmentFacts(*each) for each in segments], start, stable, 400, 400)


FOUR = log((0, 100, 19, 10), (100, 100, 29, 20), (200, 100, 39, 30), (300, 100, 49, 40))


def test_a_log_never_cleaned_is_dirty_up_to_its_active_segment() -> None:
    found = cleanable(FOUR, COMPACT, None, NOW)
    assert (found.first_dirty, found.first_uncleanable) == (0, 300)
    assert (found.clean_bytes, found.dirty_bytes, found.dirty_ratio) == (0, 300, 1.0)
    assert not found.checkpoint_is_wrong


def test_what_is_clean_counts_against_the_dirty_ratio() -> None:
    found = cleanable(FOUR, COMPACT, 200, NOW)
    assert (found.clean_bytes, found.dirty_bytes) == (200, 100)
    assert not found.is_due(COMPACT)
    assert found.is_due(LogSettings(min_cleanable_dirty_ratio=0.3))
    assert not found.is_due(LogSettings(min_cleanable_dirty_ratio=100 / 300))


def test_a_round_may_end_inside_a_segment() -> None:
    """A full key map ends a round anywhere; that segment is then clean and dirty both, as Kafka counts it."""
    found = cleanable(FOUR, COMPACT, 150, NOW)
    assert (found.first_dirty, found.clean_bytes, found.dirty_bytes) == (150, 200, 200)


@pytest.mark.parametrize(("stable", "uncleanable"), [(400, 300), (300, 300), (299, 200), (100, 100), (99, 0)])
def test_an_undecided_transaction_stops_it_at_the_segment_before(stable: int, uncleanable: int) -> None:
    found = cleanable(FOUR._replace(stable_offset=stable), COMPACT, None, NOW)
    assert found.first_uncleanable == uncleanable
    assert found.dirty_bytes == uncleanable


def test_young_segments_are_left_alone() -> None:
    settings = LogSettings(min_compaction_lag_ms=NOW - 29)
    assert cleanable(FOUR, settings, None, NOW).first_uncleanable == 200
    younger = LogSettings(min_compaction_lag_ms=NOW - 28)
    assert cleanable(FOUR, younger, None, NOW).first_uncleanable == 100


def test_a_log_with_nothing_to_clean_is_never_due() -> None:
    clean = cleanable(FOUR, COMPACT, 300, NOW)
    assert clean.dirty_bytes == 0
    assert not clean.is_due(LogSettings(min_cleanable_dirty_ratio=0.0))
    only_active = cleanable(log((0, 100, 10, 10)), COMPACT, None, NOW)
    assert not only_active.is_due(LogSettings(min_cleanable_dirty_ratio=0.0, max_compaction_lag_ms=1))


def test_a_record_that_waited_too_long_makes_it_due_whatever_the_ratio() -> None:
    settings = LogSettings(min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=NOW - 31)
    found = cleanable(FOUR, settings, 200, NOW)
    assert found.overdue_ms == 1
    assert found.is_due(settings)
    in_time = LogSettings(min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=NOW - 30)
    assert not cleanable(FOUR, in_time, 200, NOW).is_due(in_time)


def test_records_without_a_timestamp_are_never_overdue() -> None:
    settings = LogSettings(max_compaction_lag_ms=1)
    assert cleanable(log((0, 100, -1, -1), (100, 1, 1, 1)), settings, None, NOW).overdue_ms == 0


@pytest.mark.parametrize("checkpoint", [50, 401])
def test_a_checkpoint_outside_the_log_means_nothing_is_clean(checkpoint: int) -> None:
    moved = FOUR._replace(start_offset=100)
    found = cleanable(moved, COMPACT, checkpoint, NOW)
    assert found.checkpoint_is_wrong
    assert found.first_dirty == 100


def test_of_those_that_are_due_the_dirtiest_comes_first() -> None:
    def found(dirty_bytes: int) -> tuple[Cleanable, LogSettings]:
        return Cleanable(0, 100, 100 - dirty_bytes, dirty_bytes, 0, checkpoint_is_wrong=False), COMPACT

    assert dirtiest_first({"a": found(60), "b": found(90), "c": found(10)}) == ["b", "a"]
    assert dirtiest_first({"c": found(10)}) == []


def bases(segments: list[SegmentFiles], end: int, settings: LogSettings) -> list[list[int]]:
    return [[each.base_offset for each in group] for group in grouped(segments, end, settings)]


def test_segments_merge_up_to_the_size_of_one() -> None:
    segments = [SegmentFiles(base, 40, 8, 12) for base in range(0, 500, 100)]
    assert bases(segments, 500, LogSettings(segment_bytes=100)) == [[0, 100], [200, 300], [400]]
    assert bases(segments, 500, LogSettings(segment_bytes=200)) == [[0, 100, 200, 300, 400]]
    assert bases(segments, 500, LogSettings(segment_bytes=1)) == [[0], [100], [200], [300], [400]]


def test_segments_merge_up_to_what_their_indexes_hold() -> None:
    segments = [SegmentFiles(base, 1, 8, 0) for base in (0, 100, 200)]
    assert bases(segments, 300, LogSettings(segment_index_bytes=16)) == [[0, 100], [200]]
    by_time = [SegmentFiles(base, 1, 0, 12) for base in (0, 100, 200)]
    assert bases(by_time, 300, LogSettings(segment_index_bytes=24)) == [[0, 100], [200]]


def test_segments_merge_up_to_the_offsets_that_an_index_entry_can_tell_apart() -> None:
    segments = [SegmentFiles(base, 1, 8, 12) for base in (0, 100, RELATIVE_OFFSET_MAX + 1)]
    assert bases(segments, RELATIVE_OFFSET_MAX + 10, LogSettings()) == [[0, 100], [RELATIVE_OFFSET_MAX + 1]]
    one_more = [SegmentFiles(base, 1, 8, 12) for base in (0, 100)]
    assert bases(one_more, RELATIVE_OFFSET_MAX + 1, LogSettings()) == [[0, 100]]
    assert bases(one_more, RELATIVE_OFFSET_MAX + 2, LogSettings()) == [[0], [100]]


def test_empty_segments_merge_over_any_distance() -> None:
    """Or a log that once lost all its records would keep an empty file for every 2^31 offsets."""
    segments = [SegmentFiles(base, 0, 0, 0) for base in (0, 1 << 32, 1 << 33)]
    assert len(bases(segments, 1 << 34, LogSettings())) == 1
