"""The invariants, one class each. A simulation asks them after every restart; each says what is wrong.

Laws of a log compare three things: the log that is asked, its files read from end to end, and the history of
what was done to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

from odradek.log.disk import Disk
from odradek.log.log import PartitionLog, ReadUpTo
from odradek.log.producers import CompletedTransaction, ProducerDescription, ProducerStates
from odradek.log.segment import LOG, Segment
from odradek.log.txn_index import AbortedTransaction
from odradek.wire.batch import NO_LEADER_EPOCH, NO_TIMESTAMP, BatchHeader, read_header, split
from odradek.wire.records import Record, read_records


class Batch(NamedTuple):
    header: BatchHeader
    data: bytes

    @staticmethod
    def of(data: bytes) -> Batch:
        return Batch(read_header(data), data)


@dataclass(slots=True)
class History:
    """What was done to one log, as seen by who did it."""

    has_gaps: bool  # the topic is compacted: offsets may be missing, so what is missing cannot be seen
    log: list[Batch] = field(default_factory=list)  # as it should be, what retention removed included
    written: set[tuple[int, bytes]] = field(default_factory=set)  # every batch that was ever tried here
    neighbours: set[tuple[int, int]] = field(default_factory=set)  # where one batch ended and the next began
    flushed_until: int = 0  # below this offset a crash may take nothing
    safe_until: int = 0  # below this offset the last restart was to lose nothing
    start_max: int = 0  # how far the log's start was moved

    @property
    def end(self) -> int:
        return self.log[-1].header.next_offset if self.log else 0

    def tried(self, data: bytes, log_end: int) -> None:
        """A batch is about to be written at the log's end."""
        base_offset = read_header(data).base_offset
        self.written.add((base_offset, data))
        self.neighbours.add((log_end, base_offset))

    def appended(self, data: bytes) -> None:
        self.log.append(Batch.of(data))

    def cut(self, offset: int) -> None:
        self.log = [batch for batch in self.log if batch.header.next_offset <= offset]
        self.flushed_until = min(self.flushed_until, offset, self.end)


class Found(NamedTuple):
    """A batch in a segment's file."""

    segment: Segment
    position: int
    header: BatchHeader
    data: bytes


class LogEvidence:
    """A log, its files read from end to end, and its history."""

    def __init__(self, disk: Disk, log: PartitionLog, history: History) -> None:
        self.log = log
        self.history = history
        self.found = [found for segment in log.segments for found in _read(disk, segment)]
        self.first_offset = log.segments[0].base_offset
        earlier = [batch for batch in history.log if batch.header.next_offset <= self.first_offset]
        self.everything = earlier + [Batch(each.header, each.data) for each in self.found]

    def records(self) -> Iterator[Record]:
        for each in self.found:
            yield from read_records(each.data)

    def unless_gone(self, offset: int) -> int:
        """What retention took may be known or not: all of it counts as one."""
        return offset if offset < 0 else max(offset, self.first_offset)

    def scans(self) -> list[tuple[ProducerStates, list[CompletedTransaction]]]:
        """The producers and the decided transactions, as all batches from the first one tell them, and as
        those do that retention left: what a crash leaves may be either."""
        left = len(self.everything) - len(self.found)
        return [_scan(self.everything), _scan(self.everything[left:])]


def _scan(batches: Sequence[Batch]) -> tuple[ProducerStates, list[CompletedTransaction]]:
    producers = ProducerStates()
    completed = [producers.stored(batch.header, batch.data) for batch in batches]
    return producers, [each for each in completed if each is not None]


def _read(disk: Disk, segment: Segment) -> Iterator[Found]:
    data = disk.read_file(segment.path(LOG))[: segment.size]
    end = 0
    for position, header in split(data):
        end = position + header.size
        yield Found(segment, position, header, data[position:end])
    assert end == segment.size, f"{segment.path(LOG)} holds no batch at byte {end} of {segment.size}"


class LogLaw(Protocol):
    def complaints(self, evidence: LogEvidence) -> Iterator[str]: ...


class NothingFlushedIsLost:
    """What was flushed, or needed no flush because the machine went on, is there as it was written."""

    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        history = evidence.history
        present = {each.data for each in evidence.found}
        for header, data in history.log:
            safe = header.next_offset <= history.safe_until and header.base_offset >= evidence.first_offset
            if safe and data not in present:
                yield f"offsets {header.base_offset}..{header.last_offset} are lost"
        if evidence.log.log_end < history.safe_until:
            yield f"the log ends at {evidence.log.log_end}, everything below {history.safe_until} was safe"
        if max(evidence.log.log_start, evidence.first_offset) > history.start_max:
            yield f"the log starts at {evidence.log.log_start}, it was only moved to {history.start_max}"


class NothingIsInvented:
    """Every batch was once written at its offset with its content, right behind the one that is before it;
    and epochs never go back."""

    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        written, neighbours = evidence.history.written, evidence.history.neighbours
        for each in evidence.found:
            if (each.header.base_offset, each.data) not in written:
                yield f"the batch at offset {each.header.base_offset} was never written"
        for before, after in pairwise(evidence.found):
            step = (before.header.next_offset, after.header.base_offset)
            if step not in neighbours and not evidence.history.has_gaps:
                yield f"offsets {step[0]}..{step[1] - 1} are missing from the middle"
            if after.header.leader_epoch < before.header.leader_epoch:
                yield f"epoch {after.header.leader_epoch} at {step[1]} is behind {before.header.leader_epoch}"


class OffsetsAreInOrder:
    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        log, found = evidence.log, evidence.found
        end = found[-1].header.next_offset if found else log.segments[-1].base_offset
        if evidence.history.has_gaps:
            end = max(end, log.segments[-1].base_offset)  # an empty one may be all that is left of the end
        if log.log_end != end:
            yield f"the log ends at {log.log_end}, its batches at {end}"
        if not log.log_start <= log.last_stable_offset <= log.high_watermark <= log.log_end:
            yield (
                f"start {log.log_start}, stable {log.last_stable_offset}, high watermark "
                f"{log.high_watermark}, end {log.log_end}"
            )
        if not evidence.first_offset <= log.log_start or log.recovery_point > log.log_end:
            yield f"start {log.log_start}, first {evidence.first_offset}, recovery point {log.recovery_point}"


class IndexesAgreeWithTheLog:
    """An index entry points at the batch it names; a time index entry knows the largest timestamp so far."""

    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        for segment in evidence.log.segments:
            batches = [each for each in evidence.found if each.segment is segment]
            yield from self._offset_index(segment, {each.header.last_offset: each for each in batches})
            yield from self._time_index(segment, batches)

    def _offset_index(self, segment: Segment, by_last_offset: dict[int, Found]) -> Iterator[str]:
        before = -1
        for number in range(segment.index.count):
            relative, position = segment.index.entry(number)
            batch = by_last_offset.get(segment.base_offset + relative)
            if batch is None or batch.position != position or relative <= before:
                yield f"{segment.path('.index')}: entry {number} is {relative} at {position}"
            before = relative

    def _time_index(self, segment: Segment, batches: list[Found]) -> Iterator[str]:
        latest_until: dict[int, int] = {}
        latest = NO_TIMESTAMP
        for each in batches:
            latest = max(latest, each.header.max_timestamp)
            latest_until[each.header.last_offset - segment.base_offset] = latest
        before = (NO_TIMESTAMP, -1)
        for number in range(segment.time_index.count):
            timestamp, relative = segment.time_index.entry(number)
            if latest_until.get(relative) != timestamp or not (
                timestamp > before[0] and relative > before[1]
            ):
                yield f"{segment.path('.timeindex')}: entry {number} is {timestamp} at {relative}"
            before = (timestamp, relative)


class ProducersAreWhatAFullScanFinds:
    """What all batches tell is known, or at least what those tell that are left."""

    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        (everything, _), (left, _) = evidence.scans()
        ever, still = _described(everything, evidence), _described(left, evidence)
        known = _described(evidence.log.producers, evidence)
        for producer_id, actual in known.items():
            full, least = ever.get(producer_id, _UNKNOWN), still.get(producer_id, _UNKNOWN)
            if any(is_ not in possible for is_, *possible in zip(actual, full, least, strict=True)):
                yield f"{actual} should be {full}"
        for producer_id in still.keys() - known.keys():
            yield f"{still[producer_id]} is forgotten"


_UNKNOWN = ProducerDescription(*[-1] * 7)


def _described(producers: ProducerStates, evidence: LogEvidence) -> dict[int, ProducerDescription]:
    return {
        each.producer_id: each._replace(
            transaction_first_offset=evidence.unless_gone(each.transaction_first_offset)
        )
        for each in producers.describe()
    }


class AbortedTransactionsAreWhatAFullScanFinds:
    """Of one whose data is gone nothing need be known, nor that it once held others back."""

    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        by_marker = {
            aborted.last_offset: aborted
            for segment in evidence.log.segments
            for aborted in segment.txn_index.ending_from(0)
        }
        for expected in (AbortedTransaction.of(each) for each in evidence.scans()[0][1] if each.aborted):
            found = by_marker.pop(expected.last_offset, None)
            if found and expected.last_stable_offset < evidence.first_offset:
                found = found._replace(last_stable_offset=expected.last_stable_offset)
            if found != expected and expected.first_offset >= evidence.first_offset:
                yield f"{found} should be {expected}"
        if by_marker:
            yield f"{by_marker} never happened"


class TimeLookupsAreWhatAFullScanFinds:
    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        log = evidence.log
        everything = list(evidence.records())
        records = [record for record in everything if record.offset >= log.log_start]
        timestamps = sorted({record.timestamp for record in records})
        for timestamp in {t + step for t in timestamps[:: len(timestamps) // 6 + 1] for step in (-1, 0, 1)}:
            first = next((record for record in records if record.timestamp >= timestamp), None)
            expected = None if first is None else (first.timestamp, first.offset)
            found = log.find_timestamp(timestamp)
            if (found and found[:2]) != expected:
                yield f"timestamp {timestamp} is found at {found}, a scan finds {expected}"
        latest = max((record.timestamp for record in everything), default=NO_TIMESTAMP)
        first = next((record for record in everything if record.timestamp == latest != NO_TIMESTAMP), None)
        largest = log.find_max_timestamp()
        if (largest and largest.offset) != (first and first.offset):
            yield f"the largest timestamp is {largest}, a scan finds {first}"


class EpochsAreWhatTheBatchesSay:
    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        for each in evidence.found:
            header = each.header
            if header.next_offset > evidence.log.log_start and header.leader_epoch != NO_LEADER_EPOCH:
                at = evidence.log.epochs.at(header.last_offset)
                if at != header.leader_epoch:
                    yield f"offset {header.last_offset} is of epoch {header.leader_epoch}, not {at}"
        entries = evidence.log.epochs.entries
        for before, after in pairwise(entries):
            if before.epoch >= after.epoch or before.start_offset >= after.start_offset:
                yield f"{before} comes before {after}"
        if entries and entries[-1].start_offset > evidence.log.log_end:
            yield f"{entries[-1]} begins behind the log's end"


class ReadingYieldsTheBatches:
    """In slices of any size, from the log's start to its end."""

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max

    def complaints(self, evidence: LogEvidence) -> Iterator[str]:
        log = evidence.log
        expected = [each.data for each in evidence.found if each.header.last_offset >= log.log_start]
        read: list[bytes] = []
        offset = log.log_start
        while len(read) <= len(expected):
            part = log.read(offset, self._size_max, ReadUpTo.LOG_END).slice
            if part is None:
                break
            data = part.read()
            batches = [(data[at : at + header.size], header) for at, header in split(data)]
            if not batches:
                yield f"nothing whole is read at {offset}"
                break
            read += [batch for batch, _ in batches]
            offset = batches[-1][1].next_offset
        if read != expected:
            yield f"{len(read)} batches are read from {log.log_start}, the files have {len(expected)}"


def log_laws(read_size: int) -> list[LogLaw]:
    return [
        NothingFlushedIsLost(),
        NothingIsInvented(),
        OffsetsAreInOrder(),
        IndexesAgreeWithTheLog(),
        ProducersAreWhatAFullScanFinds(),
        AbortedTransactionsAreWhatAFullScanFinds(),
        TimeLookupsAreWhatAFullScanFinds(),
        EpochsAreWhatTheBatchesSay(),
        ReadingYieldsTheBatches(read_size),
    ]


def broken(laws: list[LogLaw], evidence: LogEvidence) -> list[str]:
    """Every complaint, under the name of its law."""
    return [f"{type(law).__name__}: {each}" for law in laws for each in law.complaints(evidence)]
