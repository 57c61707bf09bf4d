"""Opening after a crash: the longest valid prefix of a log, its indexes and its producers.

Segments below the recovery point were synced and are only looked at; what was synced before a crash is there
after it. From the first segment on that was not, or that does not look right, every batch is read: its
length, its checksum, that it follows the one before. The first that is wrong ends the log, because behind it
nothing can be told from rubbish that looks like batches. Indexes, aborted transactions and producers are made
anew on the way, from the batches alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from odradek.log.checkpoint import EpochStart, Malformed
from odradek.log.disk import Disk, DiskFile
from odradek.log.entries import EntryFile
from odradek.log.epochs import NO_EPOCH, LeaderEpochs, epoch_at
from odradek.log.index import RELATIVE_OFFSET_MAX
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerStates
from odradek.log.segment import INDEX, LOG, TIME_INDEX, TXN_INDEX, Segment
from odradek.log.segments import CLEANED, DELETED, SWAP, Segments
from odradek.log.settings import LogSettings
from odradek.log.snapshots import Snapshots, producers_at
from odradek.log.txn_index import AbortedTransaction
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.batch import HEADER_SIZE, BadBatch, BatchHeader, check_checksum


class Known(NamedTuple):
    """What the checkpoint files of a data directory say about one log."""

    recovery_point: int = 0  # everything below was synced
    log_start: int = 0
    high_watermark: int = 0
    cleaned_until: int = 0  # offsets may be missing below it, whatever the topic's policy is now


NOTHING_KNOWN = Known()


class Recovered(NamedTuple):
    """What was found, for the log line and for the directory's report. Plain values: it crosses processes."""

    log_end: int
    bytes_read: int
    bytes_cut: int
    lines: tuple[str, ...]  # what was lost or mended, one sentence each


def is_orderly(names: Iterable[str]) -> bool:
    """Is there nothing in between in a log's directory, and an index for each segment?"""
    there = set(names)
    return not any(name.endswith(_TRANSITIONAL) for name in there) and not any(
        name.endswith(LOG) and not {name[:20] + INDEX, name[:20] + TIME_INDEX} <= there for name in there
    )


def recover(disk: Disk, directory: str, settings: LogSettings, known: Known = NOTHING_KNOWN) -> Recovered:
    """Leave in `directory` a log that `PartitionLog.open` takes for a cleanly closed one. Segments that end
    below the recovery point are only looked at. Needs nothing but its arguments: it runs in any process."""
    lines = _finish_swaps(OpenFiles(disk), directory)
    _remove_leftovers(disk, directory)
    found = _Recovery(OpenFiles(disk), directory, settings, known).run()
    return found._replace(lines=(*lines, *found.lines))


_STRETCH = 1024 * 1024
_TRANSITIONAL = (CLEANED, SWAP, DELETED, ".tmp")


# -- half-done changes of files ----------------------------------------------------------------------------


def _finish_swaps(files: OpenFiles, directory: str) -> list[str]:
    """Complete the replacements of segments that a crash interrupted after they were decided on. One of which
    a .cleaned file is left was not: of every swap from there on nothing may have been renamed finally."""
    disk = files.disk
    names = disk.list(directory)
    undecided = min((int(name[:20]) for name in names if name.endswith(CLEANED)), default=None)
    swaps = [name for name in names if name.endswith(SWAP)]
    decided = [name for name in swaps if undecided is None or int(name[:20]) < undecided]
    row, lines = Segments.named(files, directory, names), []
    for name in decided:
        if name.endswith(LOG + SWAP):
            new = Segment.existing(files, directory, int(name[:20]), SWAP)
            end = max((header.next_offset for _, header in new.batches()), default=new.base_offset + 1)
            for old in row:
                if new.base_offset <= old.base_offset < end:
                    old.remove()
            lines.append(
                f"{new.path(LOG)}: takes the place of what it was compacted from, up to offset {end}"
            )
    for name in decided:
        disk.rename(f"{directory}/{name}", f"{directory}/{name.removesuffix(SWAP)}")
    if swaps:
        disk.sync_directory(directory)
    return lines


def _remove_leftovers(disk: Disk, directory: str) -> None:
    """What was being made or removed, and what belongs to no segment."""
    names = disk.list(directory)
    for name in names:
        is_orphan = name.endswith((INDEX, TIME_INDEX, TXN_INDEX)) and name[:20] + LOG not in names
        if is_orphan or name.endswith(_TRANSITIONAL):
            disk.remove(f"{directory}/{name}")


# -- reading what may not have been synced -----------------------------------------------------------------


class _Recovery:
    """Of one log whose files are all under their final names."""

    def __init__(self, files: OpenFiles, directory: str, settings: LogSettings, known: Known) -> None:
        self._disk = files.disk
        self._directory = directory
        self._settings = settings
        self._known = known
        names = files.disk.list(directory)
        self._row = Segments.named(files, directory, names)
        self._snapshots = Snapshots(files.disk, directory, names)
        self._epochs = LeaderEpochs(files.disk, directory)
        self._told_epochs: list[EpochStart] = []  # by the file
        self._seen_epochs: list[EpochStart] = []  # of batches of which the file does not tell
        self._producers = ProducerStates()
        self._end = self._row[0].base_offset if self._row else known.log_start  # of what was read so far
        self._has_gaps = settings.compacted
        self._owed: list[DiskFile] = []
        self._read = self._cut = 0
        self._lines: list[str] = []

    def run(self) -> Recovered:
        if self._row:
            first = self._first_suspect()
            self._trust(first)
            self._read_from(first)
            self._settle()
        return Recovered(self._end, self._read, self._cut, tuple(self._lines))

    def _read_from(self, first: int) -> None:
        """Up to the end of the log, or to where it has to end."""
        following = [*(segment.base_offset for segment in self._row[first + 1 :]), None]
        for number, (segment, end) in enumerate(zip(self._row[first:], following, strict=True), first):
            if segment.base_offset > self._end and not self._may_end_early(number):
                self._end_before(number, f"offset {self._end} should come first")
                return
            why = self._reread(segment, end)
            if why:
                self._end_before(number + 1, why)
                return
        if self._count_reached() < len(self._row):
            self._end_before(len(self._row), f"offset {self._end} should come first")

    def _count_reached(self) -> int:
        """How many segments begin where the log has been. With any other it would end where no batch does."""
        end = max(self._end, self._known.recovery_point)
        return sum(segment.base_offset <= end for segment in self._row)

    def _first_suspect(self) -> int:
        """The first segment to be read: not wholly below the recovery point, or strange to look at."""
        if not self._epochs_are_readable():
            return 0
        following = [segment.base_offset for segment in self._row[1:]]
        for number, (segment, end) in enumerate(zip(self._row, following, strict=False)):
            if end >= self._known.recovery_point:  # at it: perhaps finished after the flush, and not synced
                return number
            what = _strangeness(self._disk, segment, end)
            if what:
                self._lines.append(f"{segment.path(LOG)}: {what}; read and indexed anew")
                return number
        return len(self._row) - 1

    def _epochs_are_readable(self) -> bool:
        try:
            self._told_epochs = self._epochs.entries
        except Malformed as error:
            self._lines.append(f"{error}; made anew from the batches")
            return False
        return True

    def _trust(self, first: int) -> None:
        """Take what lies before the first suspect as it is. No snapshot from behind it counts: it may speak
        of batches that are gone."""
        self._end = self._row[first].base_offset
        bases = {segment.base_offset for segment in self._row[: first + 1]}
        self._snapshots.remove([each for each in self._snapshots.offsets if each not in bases])
        self._producers = producers_at(self._snapshots, self._row[:first], self._end)

    def _reread(self, segment: Segment, following: int | None) -> str:
        """Read every batch, and index it anew. Why the log ends in this segment; empty if it need not."""
        if segment is not self._row[0] and segment.base_offset not in self._snapshots.offsets:
            self._owed.append(self._snapshots.write(segment.base_offset, self._producers))
        segment.begin_anew(self._settings)
        end, size, why = 0, segment.size, ""
        try:
            for position, header, batch in segment.contents():
                if self._end == following:
                    break  # the rest was cut off before the following segment began, but not durably
                self._check(segment, header, batch)
                if following is not None and header.next_offset > following:
                    raise _broken(f"offset {header.last_offset} lies in the next segment")
                if header.base_offset > self._end and not self._gap_is_meant(segment, position, header):
                    raise _broken(f"base offset {header.base_offset} leaves a gap")
                self._take(segment, position, header, batch)
                end = position + header.size
            else:
                why = "no whole batch" if _holds_more_than_zeros(segment, end) else ""
        except ApiError as error:
            why = error.detail
        self._read += end
        segment.end_at(end)
        self._owed += segment.finish()
        if why:
            self._cut += size - end
            return f"cut at byte {end} of {size}, offset {self._end}: {why}"
        return ""

    def _check(self, segment: Segment, header: BatchHeader, batch: memoryview) -> None:
        """Base offset and leader epoch lie outside the checksum. What else is known of them is held against
        them: the batch before, and the epochs, which are written down before any batch is."""
        offset, epoch = header.base_offset, header.leader_epoch
        is_far = header.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX
        if offset < max(self._end, segment.base_offset) or is_far:
            raise _broken(f"base offset {offset} does not follow")
        if header.last_offset_delta < 0:
            raise _broken(f"a batch of {header.last_offset_delta + 1} offsets")
        wrote = epoch_at(self._told_epochs, header.last_offset)
        if wrote not in (NO_EPOCH, epoch) or epoch < _latest(self._seen_epochs):
            raise _broken(f"leader epoch {epoch} where epoch {wrote} wrote")
        begins_later = wrote == NO_EPOCH and self._told_epochs and epoch >= self._told_epochs[0].epoch
        if begins_later or epoch_at(self._told_epochs, offset) != wrote:
            raise _broken(f"leader epoch {epoch} before it began")
        check_checksum(batch, header)

    def _may_miss_before(self, offset: int) -> bool:
        """Is a gap that ends here what compaction left, and no loss?"""
        return self._has_gaps or offset <= self._known.cleaned_until

    def _gap_is_meant(self, segment: Segment, position: int, header: BatchHeader) -> bool:
        """That there is one shows when the batches behind it follow on, as in a follower's copy of a log that
        once was compacted. A log that has none is not believed to get one with its last batch."""
        if not self._has_gaps:
            self._has_gaps = _follow_on(header for _, header in segment.batches(position, HEADER_SIZE))
        return self._may_miss_before(header.base_offset)

    def _may_end_early(self, number: int) -> bool:
        """May the segment before this one lack its end? Only if the log has gaps anywhere."""
        return self._may_miss_before(self._row[number].base_offset) or any(map(_has_gap, self._row[number:]))

    def _take(self, segment: Segment, position: int, header: BatchHeader, batch: memoryview) -> None:
        completed = self._producers.stored(header, batch)
        if completed is not None and completed.aborted:
            segment.txn_index.add(AbortedTransaction.of(completed))
        segment.note(position, header.size, header.last_offset, header.max_timestamp)
        epoch, offset = header.leader_epoch, header.base_offset
        if epoch > _latest(self._seen_epochs) and epoch_at(self._told_epochs, offset) == NO_EPOCH:
            self._seen_epochs.append(EpochStart(epoch, offset))
        self._end = header.next_offset

    def _end_before(self, number: int, why: str) -> None:
        """The segments from this one on go, the newest first, so that a crash leaves no hole; and those of
        which nothing is left and which the log never reached."""
        number = min(number, self._count_reached())
        going, self._row = self._row[number:], self._row[:number]
        for segment in reversed(going):
            segment.remove()
            self._cut += segment.size
        self._snapshots.remove_above(self._end)
        also = f"; {len(going)} segments from there on removed" if going else ""
        self._lines.append(f"{self._row[-1].path(LOG)}: {why}{also}")

    def _settle(self) -> None:
        self._end = max(self._end, self._row[-1].base_offset)
        told = [each for each in self._told_epochs if each.start_offset < self._end]
        # All at once: half of them would have the next recovery doubt the other half.
        self._epochs.replace([*self._seen_epochs, *told])
        self._owed.append(self._snapshots.write(self._end, self._producers))
        for file in self._owed:
            file.sync()
        self._disk.sync_directory(self._directory)


def _holds_more_than_zeros(segment: Segment, position: int) -> bool:
    """Zeros were reserved, or never reached the disk."""
    while position < segment.size:
        stretch = segment.file.read(position, _STRETCH)
        if stretch.strip(b"\0"):
            return True
        position += len(stretch)
    return False


def _has_gap(segment: Segment) -> bool:
    """One behind which the batches follow on."""
    headers = [header for _, header in segment.batches()]
    return any(
        before.next_offset < after.base_offset and _follow_on(headers[number:])
        for number, (before, after) in enumerate(pairwise(headers), 1)
    )


def _follow_on(headers: Iterable[BatchHeader]) -> bool:
    """Do they come, over more gaps perhaps, to two with none between them, and none out of order before that?
    Flipped base offsets, each looking like a gap, do not."""
    for before, after in pairwise(headers):
        if after.base_offset <= before.next_offset:
            return after.base_offset == before.next_offset
    return False


def _latest(epochs: list[EpochStart]) -> int:
    return epochs[-1].epoch if epochs else NO_EPOCH


def _broken(detail: str) -> BadBatch:
    return BadBatch(ErrorCode.CORRUPT_MESSAGE, detail)


def _strangeness(disk: Disk, segment: Segment, end: int) -> str:
    """What does not look right about a segment that was synced, by its indexes and what follows the last
    entry: it should hold whole batches up to offset `end`. Empty if all does."""
    indexes: tuple[tuple[EntryFile, tuple[int, ...]], ...] = (  # and which of their fields ascend
        (segment.index, (0, 1)),
        (segment.time_index, (0, 1)),
        (segment.txn_index, (3,)),
    )
    for index, fields in indexes:
        if not disk.exists(index.path):
            if index is not segment.txn_index:
                return f"{index.path} is missing"
        elif disk.size(index.path) % index.ENTRY.size:
            return f"{index.path} has half an entry"
        for field in fields:
            if index.count > 1 and index.entry(index.count - 2)[field] >= index.entry(index.count - 1)[field]:
                return f"{index.path} does not ascend"  # zeros, reserved and never trimmed, for one
    _, position = segment.index.last or (0, 0)
    next_offset = segment.base_offset
    for at, header in segment.batches(position):
        position, next_offset = at + header.size, header.next_offset
    if position != segment.size or next_offset > end:
        return f"byte {position} of {segment.size}, offset {next_offset} of {end}"
    return ""
