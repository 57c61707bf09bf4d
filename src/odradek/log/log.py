"""PartitionLog: one partition's records on disk, and every offset that is known of them.

Synchronous, and without a clock: whoever calls says what time it is. A log is a row of segments of which only
the last, the active one, is written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from odradek.log.facts import LogFacts
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerStates
from odradek.log.recovery import NOTHING_KNOWN, Known
from odradek.log.segment import FoundTimestamp, Segment
from odradek.log.settings import LogSettings
from odradek.log.txn_index import AbortedTransaction
from odradek.wire.batch import Buffer
from odradek.wire.parts import FileSlice

NO_TIMESTAMP = -1


class Origin(Enum):
    """Who wrote a batch that a leader is to append."""

    CLIENT = "client"
    COORDINATOR = "coordinator"  # a group or transaction coordinator of this broker


class ReadUpTo(Enum):
    """How far a reader may see."""

    LOG_END = "log end"  # followers
    HIGH_WATERMARK = "high watermark"  # read_uncommitted
    LAST_STABLE = "last stable offset"  # read_committed


class Appended(NamedTuple):
    """Where a batch lies now; of a duplicate, where it has lain all the time."""

    base_offset: int
    last_offset: int
    append_time_ms: int  # NO_TIMESTAMP where the topic keeps the producer's timestamps
    log_start: int
    duplicate: bool = False


class LogRead(NamedTuple):
    """Whole batches, the last perhaps cut by the reader's own limit; no slice: nothing to read yet."""

    slice: FileSlice | None
    aborted: tuple[AbortedTransaction, ...] = ()  # for LAST_STABLE: whose data in the slice does not count


class Flush(NamedTuple):
    """What has to be synced so that everything below `offset` is durable. `run` may run on a thread."""

    offset: int

    def run(self) -> None: ...


class PartitionLog:
    """Open one with `PartitionLog.open`."""

    directory: str  # named "<topic>-<number>" while the log serves
    settings: LogSettings  # replaced whole when the topic's configuration changes
    log_start: int
    log_end: int
    high_watermark: int
    recovery_point: int  # everything below was synced
    producers: ProducerStates
    segments: Sequence[Segment]  # oldest first; the last is the active one

    @classmethod
    def open(
        cls,
        files: OpenFiles,
        directory: str,
        settings: LogSettings,
        *,
        now_ms: int,
        clean: bool = True,
        known: Known = NOTHING_KNOWN,
        jitter: float = 0.0,
    ) -> PartitionLog:
        """The log in `directory`, which exists and may be empty. Not `clean`: recovered first by
        `recovery.recover`, which may as well have run before, in another process. `jitter` in [0, 1) is this
        log's share of segment.jitter.ms."""
        raise NotImplementedError

    # -- writing -----------------------------------------------------------------------------------------

    def append(
        self, records: bytearray | memoryview, leader_epoch: int, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> Appended:
        """As leader: check one batch, give it its place and write it. `records` is stamped in place.
        `ApiError` refuses it and leaves the log as it was."""
        raise NotImplementedError

    def append_as_follower(self, records: Buffer) -> int:
        """Batches as a leader sent them, offsets given; a partial one at the end is left out.
        Answers the new log end."""
        raise NotImplementedError

    def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        *,
        aborted: bool,
        coordinator_epoch: int,
        leader_epoch: int,
        now_ms: int,
    ) -> Appended:
        """As leader: decide a producer's transaction."""
        raise NotImplementedError

    def roll(self, now_ms: int) -> None:
        """Begin a new active segment at the log's end; nothing if the active one is empty."""
        raise NotImplementedError

    def begin_epoch(self, leader_epoch: int) -> None:
        """As a new leader: this epoch starts at the log's end."""
        raise NotImplementedError

    # -- reading -----------------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, up_to: ReadUpTo, *, min_one_message: bool = True) -> LogRead:
        """From the batch that holds `offset`. `ApiError(OFFSET_OUT_OF_RANGE)` outside log start .. end."""
        raise NotImplementedError

    def find_timestamp(self, timestamp: int) -> FoundTimestamp | None:
        """The first record that is not older than `timestamp`."""
        raise NotImplementedError

    def find_max_timestamp(self) -> FoundTimestamp | None:
        """The first record that has the largest timestamp of all."""
        raise NotImplementedError

    @property
    def last_stable_offset(self) -> int:
        """No undecided transaction lies below it, nor anything above the high watermark."""
        raise NotImplementedError

    @property
    def latest_epoch(self) -> int | None:
        raise NotImplementedError

    def end_of_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest epoch not above `leader_epoch`; (-1, -1) if there is none."""
        raise NotImplementedError

    def epoch_at(self, offset: int) -> int | None:
        raise NotImplementedError

    def facts(self) -> LogFacts:
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Of all segments, in bytes."""
        raise NotImplementedError

    # -- what moves the offsets ----------------------------------------------------------------------------

    def advance_high_watermark(self, offset: int) -> None:
        """Never falls, never passes the log's end."""
        raise NotImplementedError

    def delete_records(self, before: int) -> int:
        """Move the log's start to `before` (-1: the high watermark); say where it is now. Whole segments
        go later, by retention."""
        raise NotImplementedError

    def advance_log_start(self, offset: int) -> None:
        """As follower: the leader's log starts here."""
        raise NotImplementedError

    def truncate_to(self, offset: int) -> bool:
        """Forget everything from `offset` on. False if there was nothing."""
        raise NotImplementedError

    def truncate_fully_and_start_at(self, offset: int) -> None:
        raise NotImplementedError

    # -- segments come and go (retention, compaction) ------------------------------------------------------

    def drop_segments(self, end: int, now_ms: int) -> list[Segment]:
        """Take out the segments that lie wholly below `end` (rolling first if the active one does), rename
        their files to .deleted, and move the log's start. The files go with `purge`."""
        raise NotImplementedError

    def replace_segments(self, old: Sequence[Segment], new_base_offset: int, now_ms: int) -> None:
        """Put the finished files <base>.<kind>.cleaned in the place of `old`: to .swap, `old` to .deleted,
        then to their names; a crash anywhere between is completed by recovery."""
        raise NotImplementedError

    def purge(self, now_ms: int) -> None:
        """Remove the .deleted files whose file.delete.delay.ms has passed."""
        raise NotImplementedError

    # -- durability ------------------------------------------------------------------------------------------

    @property
    def unflushed(self) -> int:
        """How many offsets lie above the recovery point."""
        raise NotImplementedError

    def flush_due(self, now_ms: int) -> bool:
        """By flush.messages or flush.ms."""
        raise NotImplementedError

    def begin_flush(self) -> Flush:
        """Group commit: begin here, `Flush.run` on a thread for all that wait, then `flushed` here."""
        raise NotImplementedError

    def flushed(self, flush: Flush, now_ms: int) -> None:
        raise NotImplementedError

    def flush(self, now_ms: int) -> None:
        """All three at once."""
        raise NotImplementedError

    def close(self, now_ms: int) -> None:
        """Flush, trim the indexes, write the producer snapshot: the next open is a clean one."""
        raise NotImplementedError
