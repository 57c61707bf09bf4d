"""Which segments may go: by age, by size, or because the log's start has passed them.

Pure: told what the segments are, it answers which of the oldest are expired and why. What replication still
needs stays: a segment goes only when all of it lies below the high watermark. The newest segment is being
written to; it goes by age or size only, and only after the log has rolled to an empty one.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from odradek.log.facts import LogFacts, SegmentFacts
from odradek.log.settings import LogSettings


class Reason(Enum):
    """Why a segment goes, in the words of the log line that says so."""

    LOG_START = "all of it lies below the log's start offset"
    SIZE = "the log holds retention.bytes without it"
    AGE = "its newest record is older than retention.ms"


class Expired(NamedTuple):
    """The oldest segments, which may go. Where the newest is among them the log must roll first."""

    segments: tuple[tuple[SegmentFacts, Reason], ...]
    roll_first: bool


def expired(log: LogFacts, settings: LogSettings, now_ms: int) -> Expired:
    """What of `log` may go now. Always its oldest part, so that no hole opens."""
    size = sum(segment.size for segment in log.segments)
    going: list[tuple[SegmentFacts, Reason]] = []
    for segment, end in log.with_ends():
        if end > log.high_watermark or (segment is log.active and segment.size == 0):
            break
        if segment is not log.active and end <= log.start_offset:
            reason = Reason.LOG_START
        elif settings.deletes and 0 <= settings.retention_bytes <= size - segment.size:
            reason = Reason.SIZE
        elif settings.deletes and 0 <= settings.retention_ms < now_ms - segment.largest_timestamp_ms:
            reason = Reason.AGE
        else:
            break
        going.append((segment, reason))
        size -= segment.size
    return Expired(tuple(going), roll_first=len(going) == len(log.segments))
