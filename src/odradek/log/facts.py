"""What a log tells its chores (retention, compaction) about itself, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class SegmentFacts(NamedTuple):
    base_offset: int
    size: int  # of its .log, in bytes
    largest_timestamp_ms: int  # of its records; where none has one, when the file last changed
    first_timestamp_ms: int = -1  # of its first batch; -1 where it has none


class LogFacts(NamedTuple):
    """One log at one moment: its segments oldest first, the last of them being written to."""

    segments: Sequence[SegmentFacts]
    start_offset: int
    stable_offset: int
    high_watermark: int
    end_offset: int

    @property
    def active(self) -> SegmentFacts:
        return self.segments[-1]

    def with_ends(self) -> Iterator[tuple[SegmentFacts, int]]:
        """Each segment with the offset that follows it."""
        ends = [segment.base_offset for segment in self.segments[1:]]
        return zip(self.segments, [*ends, self.end_offset], strict=True)
