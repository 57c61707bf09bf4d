"""PartitionLog: one partition's records on disk, and every offset that is known of them.

Synchronous, and without a clock: whoever calls says what time it is. A log is a row of segments of which only
the last, the active one, is written to. What can fail comes before what changes: a refused or failed append
leaves the log as it was.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from odradek.log.epochs import NO_EPOCH, LeaderEpochs
from odradek.log.facts import LogFacts
from odradek.log.flush import Durability, Flush
from odradek.log.index import RELATIVE_OFFSET_MAX
from odradek.log.open_files import OpenFiles
from odradek.log.producers import CompletedTransaction, ProducerStates
from odradek.log.recovery import NOTHING_KNOWN, Known, is_orderly, recover
from odradek.log.removal import Removal
from odradek.log.segment import BrokenEnd, FoundTimestamp, Segment
from odradek.log.segments import Segments
from odradek.log.settings import LogSettings
from odradek.log.snapshots import Snapshots, producers_at
from odradek.log.txn_index import AbortedTransaction
from odradek.log.validate import Admission
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.batch import (
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    check_checksum,
    read_header,
    split,
    stamp,
)
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.parts import FileSlice


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


class PartitionLog:
    """Open one with `PartitionLog.open`. After a `StorageError` it is not to be used any more."""

    def __init__(
        self,
        files: OpenFiles,
        directory: str,
        segments: Segments,
        settings: LogSettings,
        *,
        now_ms: int,
        jitter: float,
    ) -> None:
        self.directory = directory
        self.epochs = LeaderEpochs(files.disk, directory)
        self.producers = ProducerStates()
        self.log_start = self.log_end = self.high_watermark = 0
        self._segments = segments
        self._snapshots = Snapshots(files.disk, directory, ())
        self._durability = Durability(files.disk, directory, now_ms)
        self._active_since_ms = now_ms
        self._jitter = jitter
        self._saved_epoch: int | None = None  # what the epochs on disk say of the next batch, once known
        self.configure(settings)

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
        load = partial(cls._load, files, directory, settings, now_ms=now_ms, known=known, jitter=jitter)
        names = files.disk.list(directory)
        if clean and is_orderly(names):
            try:
                return load(names)
            except BrokenEnd:
                pass  # not so clean after all
        recover(files.disk, directory, settings, known)
        return load(files.disk.list(directory))

    @classmethod
    def _load(
        cls,
        files: OpenFiles,
        directory: str,
        settings: LogSettings,
        names: Sequence[str],
        *,
        now_ms: int,
        known: Known,
        jitter: float,
    ) -> PartitionLog:
        """What a clean stop or a recovery left."""
        row = Segments.named(files, directory, names)
        if not row:
            row.append(Segment.create(files, directory, known.log_start, settings))
        log = cls(files, directory, Segments(files, directory, row), settings, now_ms=now_ms, jitter=jitter)
        log.log_end = log._durability.recovery_point = row[-1].activate(settings)
        log.log_start = max(known.log_start, row[0].base_offset)
        log._snapshots = Snapshots(files.disk, directory, names)
        log.producers = producers_at(log._snapshots, row, log.log_end)
        if log.log_start > log.log_end:
            log.truncate_fully_and_start_at(log.log_start)
        log.high_watermark = min(max(known.high_watermark, log.log_start), log.log_end)
        log.producers.replicated(log.high_watermark)
        return log

    def configure(self, settings: LogSettings) -> None:
        """Obey these from now on."""
        self.settings = settings
        self._admission = Admission(settings)
        jitter_ms = self._jitter * min(settings.segment_jitter_ms, settings.segment_ms)
        self._roll_ms = settings.segment_ms - int(jitter_ms)
        self._segments.active.configure(settings)

    @property
    def segments(self) -> Sequence[Segment]:
        """Oldest first; the last is the active one."""
        return self._segments.row

    @property
    def name(self) -> str:
        """For people: "orders-0"."""
        return os.path.basename(self.directory)

    # -- writing -----------------------------------------------------------------------------------------

    def append(
        self, records: bytearray | memoryview, leader_epoch: int, now_ms: int, origin: Origin = Origin.CLIENT
    ) -> Appended:
        """As leader: check one batch, give it its place and write it. `records` is stamped in place.
        `ApiError` refuses it and leaves the log as it was."""
        from_client = origin is Origin.CLIENT
        batch, header = self._admission.admit(records, now_ms, from_client=from_client)
        if header.producer_id >= 0:
            duplicate = self.producers.check(header, from_client=from_client)
            if duplicate is not None:
                return Appended(*duplicate, self.log_start, duplicate=True)
        appended = self._append_as_leader(batch, header, leader_epoch, now_ms)
        if header.producer_id >= 0:
            self.producers.appended(header, appended.base_offset)
        return appended

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
        marker = Marker(MarkerType.ABORT if aborted else MarkerType.COMMIT, coordinator_epoch)
        built = build_marker(marker, producer_id, producer_epoch, now_ms)
        batch, header = self._admission.admit(built, now_ms, from_client=False)
        self.producers.check_marker(header, coordinator_epoch)
        appended = self._append_as_leader(batch, header, leader_epoch, now_ms)
        self._told(self.producers.stored(read_header(batch), batch))
        return appended

    def append_as_follower(self, records: Buffer, now_ms: int) -> int:
        """Batches as a leader sent them, offsets given; a partial one at the end is left out.
        Answers the new log end."""
        batches = split(records)
        for at, header in batches:
            check_checksum(records, header, at)
        if batches and self.log_start == self.log_end and self.log_end in _offsets(batches[0][1]):
            # The leader's log starts inside this batch: ours begins with all of it.
            self.truncate_fully_and_start_at(batches[0][1].base_offset)
        end = self.log_end
        for _, header in batches:
            if header.base_offset < end or header.last_offset_delta < 0:
                detail = f"offsets {header.base_offset}..{header.last_offset} do not follow {end}"
                raise ApiError(ErrorCode.CORRUPT_MESSAGE, detail)
            end = header.next_offset
        for at, header in batches:
            batch = memoryview(records)[at : at + header.size]
            if header.leader_epoch != self._saved_epoch:
                self._save_epoch(header.leader_epoch, header.base_offset)
            self._write(batch, header, header.base_offset, now_ms)
            self._told(self.producers.stored(header, batch))
        return self.log_end

    def begin_epoch(self, leader_epoch: int) -> None:
        """As a new leader: this epoch starts at the log's end."""
        self.epochs.begin(leader_epoch, self.log_end)
        self._saved_epoch = None

    def roll(self, now_ms: int) -> None:
        """Begin a new active segment at the log's end; nothing if the active one is empty."""
        if self._segments.active.size:
            self._roll_to(self.log_end, now_ms)

    def _append_as_leader(
        self, batch: bytearray | memoryview, header: BatchHeader, leader_epoch: int, now_ms: int
    ) -> Appended:
        if len(batch) > self.settings.segment_bytes:
            detail = f"a batch of {len(batch)} bytes, a segment holds {self.settings.segment_bytes}"
            raise ApiError(ErrorCode.RECORD_LIST_TOO_LARGE, detail)
        base_offset = self.log_end
        stamp(batch, base_offset, leader_epoch)
        if leader_epoch != self._saved_epoch:
            self._save_epoch(leader_epoch, base_offset)
        self._write(batch, header, base_offset, now_ms)
        append_time_ms = header.max_timestamp if header.attributes & LOG_APPEND_TIME else NO_TIMESTAMP
        return Appended(base_offset, self.log_end - 1, append_time_ms, self.log_start)

    def _write(self, batch: Buffer, header: BatchHeader, base_offset: int, now_ms: int) -> None:
        last_offset = base_offset + header.last_offset_delta
        active = self._segments.active
        if active.is_full_for(len(batch), last_offset, self.settings) or self._has_aged(header, now_ms):
            # Where the last one ends, so that recovery can tell a gap from a loss; unless that is too far.
            is_near = last_offset - self.log_end <= RELATIVE_OFFSET_MAX
            self._roll_to(self.log_end if is_near else base_offset, now_ms)
            active = self._segments.active
        active.append(batch, last_offset, header.max_timestamp)
        self.log_end = last_offset + 1

    def _has_aged(self, header: BatchHeader, now_ms: int) -> bool:
        """Has too much time passed between the first batch of the active segment and this one? By the clock
        only where records have no timestamps."""
        active = self._segments.active
        if not active.size:
            return False
        first = active.first_timestamp
        waited_ms = header.max_timestamp - first if first >= 0 else now_ms - self._active_since_ms
        return waited_ms > self._roll_ms

    def _roll_to(self, base_offset: int, now_ms: int) -> None:
        active = self._segments.active
        if base_offset == active.base_offset:
            return  # empty, and too small for one batch: that one is let in
        finished = active.finish()
        snapshot = self._snapshots.write(base_offset, self.producers)
        self._segments.start(base_offset, self.settings)
        self._durability.owe([*finished, snapshot])
        self._active_since_ms = now_ms

    def _save_epoch(self, leader_epoch: int, start_offset: int) -> None:
        self.epochs.begin(leader_epoch, start_offset)
        self.epochs.save()
        self._saved_epoch = leader_epoch

    def _told(self, completed: CompletedTransaction | None) -> None:
        if completed is not None and completed.aborted:
            self._segments.active.txn_index.add(AbortedTransaction.of(completed))

    # -- reading -----------------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, up_to: ReadUpTo, *, min_one_message: bool = True) -> LogRead:
        """From the batch that holds `offset`. `ApiError(OFFSET_OUT_OF_RANGE)` outside log start .. end."""
        if not self.log_start <= offset <= self.log_end:
            detail = f"offset {offset} is outside {self.log_start}..{self.log_end} of {self.name}"
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
        bound = self._bound(up_to)
        if offset >= bound:
            return _NOTHING
        segment, position = self._segments.position(offset)
        end_segment, end = self._segments.position(bound)
        if segment is not end_segment:
            end = segment.size
        found = segment.slice(position, end, max_bytes, min_one_message=min_one_message)
        if found is None or up_to is not ReadUpTo.LAST_STABLE:
            return LogRead(found)
        return LogRead(found, tuple(self._segments.aborted(offset, segment, found, bound)))

    def find_timestamp(self, timestamp: int) -> FoundTimestamp | None:
        """The first record that is not older than `timestamp`."""
        found = (segment.find_timestamp(timestamp, self.log_start) for segment in self.segments)
        return next(filter(None, found), None)

    def find_max_timestamp(self) -> FoundTimestamp | None:
        """The first record that has the largest timestamp of all."""
        return max(self.segments, key=attrgetter("max_timestamp")).find_max_timestamp()

    def end_of_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """See `LeaderEpochs.end_of`. None that is asked for ended before the log's start."""
        epoch, end = self.epochs.end_of(leader_epoch, self.log_end)
        return epoch, end if epoch == NO_EPOCH else max(end, self.log_start)

    @property
    def latest_epoch(self) -> int:
        """NO_EPOCH where none has begun."""
        return self.epochs.latest

    @property
    def last_stable_offset(self) -> int:
        """No undecided transaction lies below it, nor anything above the high watermark."""
        unstable = self.producers.first_unstable_offset
        return (
            self.high_watermark
            if unstable is None
            else min(self.high_watermark, max(unstable, self.log_start))
        )

    @property
    def size(self) -> int:
        """Of all segments, in bytes."""
        return sum(segment.size for segment in self.segments)

    def facts(self) -> LogFacts:
        return LogFacts(
            [segment.facts(with_first=self.settings.compacted) for segment in self.segments],
            self.log_start,
            self.last_stable_offset,
            self.high_watermark,
            self.log_end,
        )

    def _bound(self, up_to: ReadUpTo) -> int:
        match up_to:
            case ReadUpTo.LOG_END:
                return self.log_end
            case ReadUpTo.HIGH_WATERMARK:
                return self.high_watermark
            case ReadUpTo.LAST_STABLE:
                return self.last_stable_offset

    # -- what moves the offsets ----------------------------------------------------------------------------

    def advance_high_watermark(self, offset: int) -> None:
        """Never falls, never passes the log's end."""
        if offset >= self.log_end:
            offset = self.log_end
            self._segments.remember_end(offset)
        if offset > self.high_watermark:
            self.high_watermark = offset
            self.producers.replicated(offset)

    def delete_records(self, before: int) -> int:
        """Move the log's start to `before` (-1: the high watermark); say where it is now. Whole segments
        go later, by retention."""
        wanted = self.high_watermark if before == -1 else before
        if not 0 <= wanted <= self.high_watermark:
            detail = f"offset {before} is outside 0..{self.high_watermark} of {self.name}"
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
        self.advance_log_start(wanted)
        return self.log_start

    def advance_log_start(self, offset: int) -> None:
        """Never falls, never passes the high watermark. As follower: where the leader's log starts."""
        self.log_start = max(self.log_start, min(offset, self.high_watermark))

    def truncate_to(self, offset: int) -> bool:
        """Forget everything from `offset` on; the log may end before it, where a batch did. False if there
        was nothing. The recovery point may fall, and whoever keeps it on disk corrects that before the next
        append."""
        if offset >= self.log_end:
            return False
        if offset < self.segments[0].base_offset:
            self.truncate_fully_and_start_at(offset)
            return True
        self.log_end = self._segments.cut_from(offset, self.settings)
        self.epochs.cut_from(self.log_end)
        self._snapshots.remove_above(self.log_end)
        self.producers = producers_at(self._snapshots, self.segments, self.log_end)
        self._was_cut()
        return True

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Forget everything, and be an empty log that begins at `offset`."""
        self._segments.restart(offset, self.settings)
        self._durability.owe(())
        self._snapshots.remove(self._snapshots.offsets)
        self.epochs.clear()
        self.producers = ProducerStates()
        self.log_start = self.log_end = self.high_watermark = offset
        self._was_cut()

    def _was_cut(self) -> None:
        self.log_start = min(self.log_start, self.log_end)
        self.high_watermark = min(self.high_watermark, self.log_end)
        self._durability.cut(self.log_end)
        self.producers.replicated(self.high_watermark)
        self._saved_epoch = None

    # -- segments come and go (retention, compaction) --------------------------------------------------------

    def drop_segments(self, end: int, now_ms: int) -> Sequence[Segment]:
        """Take out the segments that lie wholly below `end` (rolling first if the active one does), rename
        their files to .deleted, and move the log's start. The files go with `take_deleted`."""
        if self.log_end <= end:
            self.roll(now_ms)
        dropped = self._segments.drop_below(end, now_ms + self.settings.file_delete_delay_ms)
        self._snapshots.remove([segment.base_offset for segment in dropped])
        self.log_start = max(self.log_start, self.segments[0].base_offset)
        self.epochs.cut_before(self.segments[0].base_offset)
        return dropped

    def replace_segments(self, old: Sequence[Segment], new_base_offset: int, now_ms: int) -> None:
        """Put the finished, synced files <base>.<kind>.cleaned in the place of `old`, neighbours of which
        none is the active one."""
        self._segments.replace(old, new_base_offset, now_ms + self.settings.file_delete_delay_ms)
        self._snapshots.remove([each.base_offset for each in old if each.base_offset != new_base_offset])

    def take_deleted(self, now_ms: int) -> Removal:
        """Of the .deleted files whose file.delete.delay.ms has passed; for the caller to run."""
        return self._segments.take_deleted(now_ms)

    # -- durability ------------------------------------------------------------------------------------------

    @property
    def recovery_point(self) -> int:
        """Everything below was synced."""
        return self._durability.recovery_point

    @property
    def cuts(self) -> int:
        """How often the log has lost its end: what was made of its files before may not fit them any more."""
        return self._durability.cuts

    @property
    def unflushed(self) -> int:
        """How many offsets lie above the recovery point."""
        return self.log_end - self._durability.recovery_point

    def flush_due(self, now_ms: int) -> bool:
        """By flush.messages or flush.ms."""
        unflushed, settings = self.unflushed, self.settings
        return unflushed >= settings.flush_messages or (
            unflushed > 0 and self._durability.is_due(now_ms, settings.flush_ms)
        )

    def begin_flush(self) -> Flush:
        """Group commit: begin here, `Flush.run` on a thread for all that wait, then `flushed` here."""
        return self._durability.begin(self.log_end, self._segments.active.file)

    def flushed(self, flush: Flush, now_ms: int) -> None:
        self._durability.done(flush, now_ms)

    def flush(self, now_ms: int) -> None:
        """All three at once."""
        flush = self.begin_flush()
        flush.run()
        self.flushed(flush, now_ms)

    def close(self, now_ms: int) -> None:
        """Flush, trim the indexes, write the producer snapshot: the next open is a clean one."""
        self.epochs.save()
        finished = self._segments.active.finish()
        self._durability.owe([*finished, self._snapshots.write(self.log_end, self.producers)])
        self._segments.take_deleted().run()
        self.flush(now_ms)


_NOTHING = LogRead(None)


def _offsets(header: BatchHeader) -> range:
    """Those behind the first."""
    return range(header.base_offset + 1, header.next_offset)
