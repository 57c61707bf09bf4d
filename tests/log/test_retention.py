from __future__ import annotations

import random

import pytest

from odradek.log.facts import LogFacts, SegmentFacts
from odradek.log.retention import Expired, Reason, expired
from odradek.log.settings import LogSettings

NOW = 1_000_000
FOREVER = LogSettings(retention_ms=-1, retention_bytes=-1)
COMPACTED = frozenset({"compact"})


def log(*segments: tuple[int, int, int], start: int = 0, high_watermark: int = 400) -> LogFacts:
    """Segments as (base offset, size, largest timestamp); the log ends at offset 400."""
    return LogFacts([SegmentFacts(*each) for each in segments], start, high_watermark, high_watermark, 400)


FOUR = log((0, 100, 10), (100, 100, 20), (200, 100, 30), (300, 100, 40))


def gone(answer: Expired) -> list[tuple[int, Reason]]:
    return [(segment.base_offset, reason) for segment, reason in answer.segments]


def test_without_a_limit_nothing_goes() -> None:
    assert expired(FOUR, FOREVER, NOW) == Expired((), roll_first=False)


def test_a_segment_goes_when_its_newest_record_is_older_than_the_limit() -> None:
    settings = LogSettings(retention_ms=NOW - 25)
    assert gone(expired(FOUR, settings, NOW)) == [(0, Reason.AGE), (100, Reason.AGE)]
    exactly = LogSettings(retention_ms=NOW - 20)
    assert gone(expired(FOUR, exactly, NOW)) == [(0, Reason.AGE)]


def test_an_old_segment_behind_a_young_one_stays() -> None:
    mixed = log((0, 100, NOW), (100, 100, 10), (200, 100, 10))
    assert not expired(mixed, LogSettings(retention_ms=1000), NOW).segments


def test_size_keeps_at_least_the_limit() -> None:
    for limit, left in [(400, 4), (399, 4), (301, 4), (300, 3), (201, 3), (200, 2), (100, 1), (1, 1), (0, 0)]:
        settings = LogSettings(retention_ms=-1, retention_bytes=limit)
        assert 4 - len(expired(FOUR, settings, NOW).segments) == left, limit


def test_what_lies_below_the_log_start_goes_whatever_the_policy() -> None:
    settings = LogSettings(cleanup_policy=COMPACTED, retention_ms=0, retention_bytes=0)
    moved = FOUR._replace(start_offset=200)
    assert gone(expired(moved, settings, NOW)) == [(0, Reason.LOG_START), (100, Reason.LOG_START)]
    assert gone(expired(FOUR._replace(start_offset=199), settings, NOW)) == [(0, Reason.LOG_START)]


def test_a_log_start_at_the_end_leaves_the_newest_segment() -> None:
    assert gone(expired(FOUR._replace(start_offset=400), FOREVER, NOW))[-1] == (200, Reason.LOG_START)


def test_compact_and_delete_together_expire_by_age() -> None:
    settings = LogSettings(cleanup_policy=frozenset({"compact", "delete"}), retention_ms=NOW - 15)
    assert gone(expired(FOUR, settings, NOW)) == [(0, Reason.AGE)]


def test_what_is_not_replicated_stays() -> None:
    settings = LogSettings(retention_ms=0)
    assert gone(expired(FOUR._replace(high_watermark=250), settings, NOW)) == [
        (0, Reason.AGE),
        (100, Reason.AGE),
    ]


def test_the_newest_segment_goes_only_after_a_roll() -> None:
    everything = expired(FOUR, LogSettings(retention_ms=0), NOW)
    assert len(everything.segments) == 4
    assert everything.roll_first


def test_an_empty_newest_segment_is_not_rolled_again() -> None:
    rolled = log((0, 100, 10), (400, 0, 0))
    answer = expired(rolled, LogSettings(retention_ms=0), NOW)
    assert gone(answer) == [(0, Reason.AGE)]
    assert not answer.roll_first


@pytest.mark.parametrize("seed", range(50))
def test_what_goes_is_a_prefix_and_once_it_is_gone_nothing_more_goes(seed: int) -> None:
    rng = random.Random(seed)
    bases = range(0, 400, rng.randrange(20, 90))
    segments = [SegmentFacts(base, rng.randrange(1, 100), rng.randrange(100)) for base in bases]
    before = LogFacts(segments, rng.randrange(400), 400, rng.randrange(401), 400)
    settings = LogSettings(retention_ms=rng.randrange(-1, 100), retention_bytes=rng.randrange(-1, 500))
    answer = expired(before, settings, 100)
    count = len(answer.segments)
    assert [segment for segment, _ in answer.segments] == segments[:count]
    left = segments[count:] + ([SegmentFacts(400, 0, 0)] if answer.roll_first else [])
    assert not expired(before._replace(segments=left), settings, 100).segments
