"""What of a log is to be compacted, and when: the choice alone, pure. `cleaner.py` does the work.

A compacted log has a clean head, which holds each key once, and a dirty tail. A round reads the dirty part up
to the *first uncleanable offset*, then rewrites everything below it. Nothing is cleaned that is not stable,
that is still being written to, or that is younger than min.compaction.lag.ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from odradek.log.facts import LogFacts, SegmentFacts
from odradek.log.settings import LogSettings

RELATIVE_OFFSET_MAX = (1 << 31) - 1  # what an index entry can hold

Log = TypeVar("Log")


class Cleanable(NamedTuple):
    """How far a log could be cleaned now, and how much that would be worth."""

    first_dirty: int
    first_uncleanable: int  # where a segment begins
    clean_bytes: int
    dirty_bytes: int  # below the first uncleanable offset
    overdue_ms: int  # for how long max.compaction.lag.ms has been exceeded
    checkpoint_is_wrong: bool  # it pointed outside the log and should be written anew

    @property
    def dirty_ratio(self) -> float:
        return self.dirty_bytes / ((self.clean_bytes + self.dirty_bytes) or 1)

    def is_due(self, settings: LogSettings) -> bool:
        if self.overdue_ms > 0:
            return self.dirty_bytes > 0
        return self.dirty_ratio > settings.min_cleanable_dirty_ratio


def cleanable(log: LogFacts, settings: LogSettings, cleaned_until: int | None, now_ms: int) -> Cleanable:
    """What can be cleaned of `log`, whose checkpoint says that it is clean below `cleaned_until`."""
    checkpoint = log.start_offset if cleaned_until is None else cleaned_until
    is_wrong = not log.start_offset <= checkpoint <= log.end_offset
    first_dirty = log.start_offset if is_wrong else checkpoint
    dirty = [segment for segment, end in log.with_ends() if end > first_dirty and segment is not log.active]
    too_young = next((each for each in dirty if _is_too_young(each, settings, now_ms)), log.active)
    first_uncleanable = _segment_at(log, min(log.stable_offset, too_young.base_offset))
    return Cleanable(
        first_dirty,
        first_uncleanable,
        sum(segment.size for segment in log.segments if segment.base_offset < first_dirty),
        sum(segment.size for segment in dirty if segment.base_offset < first_uncleanable),
        _overdue_ms(dirty, settings, now_ms),
        is_wrong,
    )


def dirtiest_first(logs: Mapping[Log, tuple[Cleanable, LogSettings]]) -> list[Log]:
    """In which order to clean those that are due: by how large a part is dirty."""
    due = {log: found.dirty_ratio for log, (found, settings) in logs.items() if found.is_due(settings)}
    return sorted(due, key=due.__getitem__, reverse=True)


class SegmentFiles(NamedTuple):
    """The sizes of one segment's files, by which segments are grouped."""

    base_offset: int
    size: int
    index_size: int
    time_index_size: int


def grouped(
    segments: Sequence[SegmentFiles], first_uncleanable: int, settings: LogSettings
) -> Iterator[list[SegmentFiles]]:
    """Neighbours that will fit into one segment together even if nothing of them is dropped."""
    group: list[SegmentFiles] = []
    ends = [*(segment.base_offset for segment in segments[1:]), first_uncleanable]
    for segment, end in zip(segments, ends, strict=True):
        if group and not _fits(group, segment, end, settings):
            yield group
            group = []
        group.append(segment)
    if group:
        yield group


def _is_too_young(segment: SegmentFacts, settings: LogSettings, now_ms: int) -> bool:
    lag = settings.min_compaction_lag_ms
    return lag > 0 and segment.largest_timestamp_ms > now_ms - lag


def _segment_at(log: LogFacts, offset: int) -> int:
    """Where the segment begins that holds `offset`."""
    return max((s.base_offset for s in log.segments if s.base_offset <= offset), default=log.start_offset)


def _overdue_ms(dirty: Sequence[SegmentFacts], settings: LogSettings, now_ms: int) -> int:
    oldest = min((each.first_timestamp_ms for each in dirty if each.first_timestamp_ms > 0), default=now_ms)
    return max(0, now_ms - settings.max_compaction_lag_ms - oldest)


def _fits(group: Sequence[SegmentFiles], segment: SegmentFiles, end: int, settings: LogSettings) -> bool:
    """Bytes and index entries are counted as if all stayed."""
    together = [*group, segment]
    return (
        sum(each.size for each in together) <= settings.segment_bytes
        and sum(each.index_size for each in together) <= settings.segment_index_bytes
        and sum(each.time_index_size for each in together) <= settings.segment_index_bytes
        # An empty segment brings no offset that must be told apart: it is merged over any distance.
        and (segment.size == 0 or end - 1 - group[0].base_offset <= RELATIVE_OFFSET_MAX)
    )
