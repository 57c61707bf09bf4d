"""Rounds of compaction in the life of a log: whoever reads committed data finds the same newest values."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import NamedTuple

import pytest

from odradek.log.cleaner import clean
from odradek.log.cleaning import Cleaned, KeyMapSettings, Order, finish, order
from odradek.log.compaction import cleanable
from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerStates
from odradek.log.recovery import Known
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.testing.sim_disk import SimDisk
from odradek.wire.batch import CONTROL, TRANSACTIONAL, BatchHeader, read_header
from odradek.wire.compression import Codec
from odradek.wire.markers import MarkerType, read_marker
from odradek.wire.records import NO_PRODUCER, BatchBuilder, Producer, Record, read_records

DIRECTORY = "/data/orders-0"
START_MS = 1_700_000_000_000
DELETE_RETENTION_MS = 1000
SETTINGS = LogSettings(
    cleanup_policy=frozenset({"compact"}),
    segment_bytes=600,
    segment_index_bytes=480,
    index_interval_bytes=100,
    delete_retention_ms=DELETE_RETENTION_MS,
    file_delete_delay_ms=100,
)


class Killed(Exception):
    """The process ends here."""


class MortalDisk(SimDisk):
    """A disk whose user is killed after so many operations."""

    left: int | None = None

    def _permit(self, operation: str, path: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Killed
        super()._permit(operation, path)


class Batch(NamedTuple):
    header: BatchHeader
    data: bytes


class Life:
    """A log of few keys and many versions, from producers of every kind."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.disk = MortalDisk(Random(seed))
        self.disk.make_directory(DIRECTORY)
        self.now_ms = START_MS
        self.cleaned_until: int | None = None
        self.slots = self.random.choice((8, 20, 1000))  # of the key map, which is soon full or never
        self._sequences: dict[int, int] = {}
        self._open: set[int] = set()
        self.log = self.open(Known())

    def open(self, known: Known) -> PartitionLog:
        return PartitionLog.open(
            OpenFiles(self.disk, 3), DIRECTORY, SETTINGS, now_ms=self.now_ms, clean=False, known=known
        )

    def grow(self, steps: int) -> None:
        for _ in range(steps):
            self.now_ms += self.random.randrange(100)
            who = self.random.randrange(6)
            if who >= 4 and who in self._open and self.random.random() < 0.4:
                self._decide(who)
            else:
                self._append(who)
        self.log.advance_high_watermark(self.log.log_end)

    def decide_all(self) -> None:
        for who in sorted(self._open):
            self._decide(who)
        self.log.advance_high_watermark(self.log.log_end)

    def _append(self, who: int) -> None:
        """0 and 1 have no producer id, 2 and 3 are idempotent, 4 and 5 transactional."""
        random = self.random
        producer = NO_PRODUCER if who < 2 else Producer(who, 0, self._sequences.get(who, 0))
        codec = random.choice((Codec.NONE, Codec.NONE, Codec.GZIP))
        builder = BatchBuilder(producer=producer, transactional=who >= 4, codec=codec)
        for _ in range(random.randrange(1, 5)):
            key = b"key %d" % random.randrange(random.choice((3, 30)))
            value = None if random.random() < 0.3 else random.randbytes(random.randrange(20))
            builder.append(self.now_ms + random.randrange(5), key, value, (("header", b"1"),))
        self._sequences[who] = self._sequences.get(who, 0) + builder.count
        if who >= 4:
            self._open.add(who)
        self.log.append(builder.build(), 0, self.now_ms)

    def _decide(self, who: int) -> None:
        self._open.discard(who)
        aborted = self.random.random() < 0.5
        self.log.append_marker(
            who, 0, aborted=aborted, coordinator_epoch=0, leader_epoch=0, now_ms=self.now_ms
        )

    def ordered(self) -> Order:
        found = cleanable(self.log.facts(), SETTINGS, self.cleaned_until, self.now_ms)
        return order(self.log, found, self.now_ms, b"salt", KeyMapSettings(24 * self.slots, 0.75))

    @property
    def is_dirty(self) -> bool:
        return cleanable(self.log.facts(), SETTINGS, self.cleaned_until, self.now_ms).dirty_bytes > 0

    def round(self) -> tuple[Order, Cleaned]:
        ordered = self.ordered()
        cleaned = clean(ordered, self.disk, lambda _: None)
        assert finish(self.log, self.disk, ordered, cleaned, self.now_ms)
        self.cleaned_until = cleaned.cleaned_until
        return ordered, cleaned


def long_life(seed: int) -> Life:
    """A log of many segments, all decided, that one round cleans."""
    life = Life(seed)
    life.slots = 1000
    life.grow(60)
    life.decide_all()
    return life


def batches(log: PartitionLog) -> list[Batch]:
    return [Batch(header, bytes(data)) for each in log.segments for _, header, data in each.contents()]


def records(of: Sequence[Batch]) -> Iterator[Record]:
    for header, data in of:
        if not header.attributes & CONTROL:
            yield from read_records(data)


def committed(of: Sequence[Batch]) -> dict[bytes | None, Record]:
    """The newest record of each key, for a reader of committed data."""
    newest: dict[bytes | None, Record] = {}
    waiting: dict[int, list[Record]] = {}
    for header, data in of:
        told = list(records([Batch(header, data)]))
        if header.attributes & CONTROL:
            decided = waiting.pop(header.producer_id, []) if header.record_count else []
            marker = read_marker(data) if decided else None
            told = decided if marker and marker.type is MarkerType.COMMIT else []
        elif header.attributes & TRANSACTIONAL:
            waiting.setdefault(header.producer_id, []).extend(told)
            told = []
        for record in told:
            known = newest.get(record.key)
            if known is None or known.offset < record.offset:
                newest[record.key] = record
    return newest


def check_unchanged(before: Sequence[Batch], after: Sequence[Batch], order: Order) -> None:
    """Compaction invented nothing, moved nothing, and touched nothing behind what could be cleaned."""
    was = {record.offset: record for record in records(before)}
    for record in records(after):
        assert was[record.offset] == record, "a record changed, or was invented"
    ascending = [batch.header.base_offset for batch in after]
    assert ascending == sorted(set(ascending))
    tail = [batch for batch in before if batch.header.base_offset >= order.first_uncleanable]
    assert [batch for batch in after if batch.header.base_offset >= order.first_uncleanable] == tail


def check_newest(before: Sequence[Batch], after: Sequence[Batch]) -> None:
    expected, found = committed(before), committed(after)
    for key in expected.keys() | found.keys():
        if key in found or expected[key].value is not None:  # a tombstone may go, in time
            assert found.get(key) == expected.get(key), key


def check_durable(before: Sequence[Batch], after: Sequence[Batch], recovery_point: int) -> None:
    """Of what was synced, every key still has its value, or one that came later."""
    synced = committed([batch for batch in before if batch.header.next_offset <= recovery_point])
    found = committed(after)
    deleted = {record.key for record in records(before) if record.value is None}
    for key, record in synced.items():
        assert key in deleted or found[key].offset >= record.offset, key


def producers_of(of: Sequence[Batch]) -> dict[int, tuple[int, ...]]:
    """What a full scan finds: how epoch, sequence and open transaction of each producer stand."""
    states = ProducerStates()
    for header, data in of:
        states.stored(header, data if header.attributes & CONTROL else b"")
    return {
        each.producer_id: (each.epoch, each.last_sequence, each.last_offset, each.transaction_first_offset)
        for each in states.describe()
    }


@pytest.mark.simulation(seeds=100)
def test_readers_of_committed_data_find_the_same_newest_values(seed: int) -> None:
    life = Life(seed)
    for _ in range(life.random.randrange(1, 4)):
        life.grow(life.random.randrange(1, 40))
        if life.random.random() < 0.5:
            life.log.roll(life.now_ms)
        if not life.is_dirty:
            continue
        before, log_end = batches(life.log), life.log.log_end
        ordered, _ = life.round()
        after = batches(life.log)
        check_unchanged(before, after, ordered)
        check_newest(before, after)
        assert producers_of(after) == producers_of(before)
        life.now_ms += life.random.choice((10, DELETE_RETENTION_MS))
        life.log.close(life.now_ms)
        life.log = life.open(Known(recovery_point=life.log.log_end, high_watermark=life.log.log_end))
        assert batches(life.log) == after
        assert life.log.log_end == log_end
        assert life.log.last_stable_offset <= log_end


@pytest.mark.simulation(seeds=30)
def test_rounds_come_to_rest_at_one_record_a_key(seed: int) -> None:
    life = Life(seed)
    life.grow(60)
    life.decide_all()
    life.log.roll(life.now_ms)
    while life.cleaned_until != life.log.segments[-1].base_offset:
        life.round()
    for _ in range(4):  # tombstones and markers get a horizon, then go
        life.now_ms += DELETE_RETENTION_MS
        life.cleaned_until = 0
        while life.cleaned_until != life.log.segments[-1].base_offset:
            life.round()
    left = batches(life.log)
    newest = committed(left)
    assert sorted(record.offset for record in records(left)) == sorted(r.offset for r in newest.values())
    assert all(record.value is not None for record in newest.values())
    with_data = {header.producer_id for header, _ in left if header.attributes & TRANSACTIONAL}
    decided = {header.producer_id for header, _ in left if header.attributes & CONTROL}
    assert decided <= with_data


@pytest.mark.simulation(seeds=200)
def test_killed_at_any_point_it_loses_nothing(seed: int) -> None:
    life = Life(seed)
    random = life.random
    life.grow(random.randrange(40))
    life.log.flush(life.now_ms)
    recovery_point = life.log.log_end
    if life.is_dirty and random.random() < 0.3:
        life.round()
    life.grow(random.randrange(40))
    if not life.is_dirty:
        return
    before = batches(life.log)
    ordered = life.ordered()
    life.disk.left = random.randrange(random.choice((50, 400, 1000)))
    with suppress(Killed):
        cleaned = clean(ordered, life.disk, lambda _: None)
        finish(life.log, life.disk, ordered, cleaned, life.now_ms)
    life.disk.left = None
    power_fails = random.random() < 0.7
    life.disk.crash() if power_fails else life.disk.kill()
    life.log = life.open(Known(recovery_point))
    after = batches(life.log)
    assert not [name for name in life.disk.list(DIRECTORY) if name.endswith((".cleaned", ".swap"))]
    check_durable(before, after, recovery_point)
    if not power_fails:
        check_unchanged(before, after, ordered)
        check_newest(before, after)


def test_a_round_crosses_processes() -> None:
    life = long_life(1)
    ordered: Order = pickle.loads(pickle.dumps(life.ordered()))
    cleaned: Cleaned = pickle.loads(pickle.dumps(clean(ordered, life.disk, lambda _: None)))
    assert cleaned.swaps
    assert cleaned.tally.records_kept < cleaned.tally.records_read


def test_what_a_killed_round_left_is_removed_by_the_next() -> None:
    """Any of it before a finished segment would have that one's swap undone, were it interrupted."""
    life = long_life(6)
    stray = f"{DIRECTORY}/{1:020d}.log.cleaned"
    life.disk.open(stray, create=True)
    cleaned = clean(life.ordered(), life.disk, lambda _: None)
    assert not life.disk.exists(stray)
    made = [name for name in life.disk.list(DIRECTORY) if name.endswith(".log.cleaned")]
    assert made == [f"{swap.base_offset:020d}.log.cleaned" for swap in cleaned.swaps]


def test_what_retention_took_meanwhile_stays_gone() -> None:
    life = long_life(2)
    ordered = life.ordered()
    cleaned = clean(ordered, life.disk, lambda _: None)
    assert len(cleaned.swaps) > 2
    gone = life.log.segments[1].base_offset
    life.log.drop_segments(gone, life.now_ms)
    assert finish(life.log, life.disk, ordered, cleaned, life.now_ms)
    assert life.log.segments[0].base_offset >= gone
    assert cleaned.swaps[-1].base_offset in [segment.base_offset for segment in life.log.segments]
    assert not [name for name in life.disk.list(DIRECTORY) if name.endswith(".cleaned")]


def test_a_log_that_was_cut_meanwhile_is_left_alone() -> None:
    life = long_life(3)
    ordered = life.ordered()
    cleaned = clean(ordered, life.disk, lambda _: None)
    life.log.truncate_to(life.log.segments[2].base_offset + 1)
    before = batches(life.log)
    assert not finish(life.log, life.disk, ordered, cleaned, life.now_ms)
    assert batches(life.log) == before
    assert not [name for name in life.disk.list(DIRECTORY) if name.endswith(".cleaned")]


def test_a_damaged_log_is_not_sealed_as_sound() -> None:
    life = long_life(4)
    ordered = life.ordered()
    path = life.log.segments[1].path(".log")
    data = bytearray(life.disk.read_file(path))
    at = read_header(data).size + 70
    data[at] ^= 1
    life.disk.replace_file(path, bytes(data))
    with pytest.raises(StorageError, match=rf"{path}: byte \d+: checksum"):
        clean(ordered, life.disk, lambda _: None)


@pytest.mark.parametrize("where", ["before its neighbour", "in the next segment", "far away", "nowhere"])
def test_a_base_offset_that_is_out_of_place_is_damage(where: str) -> None:
    """No checksum covers it."""
    life = long_life(4)
    ordered = life.ordered()
    path = life.log.segments[1].path(".log")
    data = bytearray(life.disk.read_file(path))
    first = read_header(data)
    offset = {
        "before its neighbour": first.base_offset,
        "in the next segment": life.log.segments[2].base_offset,
        "far away": 1 << 40,
        "nowhere": -5,
    }[where]
    data[first.size : first.size + 8] = offset.to_bytes(8, "big", signed=True)
    life.disk.replace_file(path, bytes(data))
    with pytest.raises(StorageError, match=rf"{path}: byte {first.size}: base offset {offset}"):
        clean(ordered, life.disk, lambda _: None)


def test_every_byte_is_paid_for() -> None:
    life = long_life(5)
    ordered, paid = life.ordered(), 0

    def pay(size: int) -> None:
        nonlocal paid
        paid += size

    cleaned = clean(ordered, life.disk, pay)
    dirty = sum(
        segment.size for segment in life.log.segments if segment.base_offset < ordered.first_uncleanable
    )
    assert paid >= cleaned.tally.bytes_read + cleaned.tally.bytes_kept
    assert paid <= 2 * dirty + cleaned.tally.bytes_kept
