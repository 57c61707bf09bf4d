"""What a partition remembers of its producers: their last batches, their epochs, their open transactions.

Pure state, fed by the log. A batch is first asked about (`check`, `check_marker`), then, once written, told
(`appended`, `completed`). A follower or a recovering log tells without asking: the leader has already
decided. Only the last five batches of a producer are kept, because a client has at most five requests in
flight.

A transaction is *open* from its first batch to its marker and *unreplicated* from there until the high
watermark passes the marker; the earliest of both kinds bounds what `read_committed` consumers may see.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.wire.batch import CONTROL, TRANSACTIONAL, BatchHeader, Buffer
from odradek.wire.checksum import crc32c
from odradek.wire.markers import MarkerType, read_marker

NO_EPOCH = -1
NO_OFFSET = -1
NO_SEQUENCE = -1
SEQUENCE_MASK = 0x7FFFFFFF  # after 2^31 - 1 comes 0
WINDOW = 5  # max.in.flight.requests.per.connection of an idempotent producer

_SNAPSHOT_VERSION = 1
_SNAPSHOT_HEADER = struct.Struct(">hIi")
_SNAPSHOT_ENTRY = struct.Struct(">qhiqiqiq")
_CRC_COVERS_FROM = 6
assert _SNAPSHOT_HEADER.size == 10
assert _SNAPSHOT_ENTRY.size == 46


class Duplicate(NamedTuple):
    """A batch that was written before: where it lies, so that the producer gets its old answer."""

    base_offset: int
    last_offset: int
    timestamp: int


class CompletedTransaction(NamedTuple):
    """A transaction whose marker was just written. `last_offset` is the marker's; `last_stable_offset` is
    where the stable part of the log ends once this one is decided (the transaction index stores it)."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool
    last_stable_offset: int


class ProducerDescription(NamedTuple):
    """One producer as DescribeProducers and `dump` show it; -1 where there is nothing to show."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    last_timestamp: int
    coordinator_epoch: int
    transaction_first_offset: int
    last_offset_delta: int = 0  # how many more records its last batch had than one


# A batch in the window: first and last sequence, first and last offset, timestamp. A plain tuple, because
# one is made for every append.
_Written: TypeAlias = tuple[int, int, int, int, int]


class _Producer:
    __slots__ = (
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "next_sequence",
        "transaction_first_offset",
        "window",
    )

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.coordinator_epoch = NO_EPOCH
        self.last_timestamp = -1
        self.transaction_first_offset = NO_OFFSET
        self.next_sequence = 0
        self.window: list[_Written] = []

    def turn_to(self, epoch: int) -> None:
        """A new epoch counts its sequences from zero and has no duplicates in the old one."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.window.clear()
            self.next_sequence = 0


class ProducerStates:
    """The producers of one partition."""

    __slots__ = ("_open", "_producers", "_unreplicated", "first_unstable_offset")

    def __init__(self) -> None:
        self._producers: dict[int, _Producer] = {}
        # First offset -> producer id. Transactions open at the log's end, so insertion order is offset order.
        self._open: dict[int, int] = {}
        # First offset -> marker's offset, in the order of the markers.
        self._unreplicated: dict[int, int] = {}
        self.first_unstable_offset: int | None = None

    def __len__(self) -> int:
        return len(self._producers)

    # -- asking, before a batch is written -------------------------------------------------------------

    def check(self, header: BatchHeader, *, from_client: bool) -> Duplicate | None:
        """May this data batch be appended? A coordinator's own batches are fenced by epoch alone."""
        producer = self._producers.get(header.producer_id)
        if producer is None:
            return None  # never seen, or forgotten: any sequence may be its first
        if header.producer_epoch != producer.epoch:
            _check_new_epoch(producer, header, from_client=from_client)
        elif from_client and header.base_sequence != producer.next_sequence:
            return _duplicate_in(producer, header)
        if producer.transaction_first_offset >= 0 and not header.attributes & TRANSACTIONAL:
            raise ApiError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {header.producer_id} wrote outside its open transaction",
            )
        return None

    def check_marker(self, header: BatchHeader, coordinator_epoch: int) -> None:
        """May this transaction marker be appended?"""
        producer = self._producers.get(header.producer_id)
        if producer is None:
            return
        if header.producer_epoch < producer.epoch:
            raise _stale_epoch(producer, header)
        if coordinator_epoch < producer.coordinator_epoch:
            raise ApiError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {coordinator_epoch} of producer {header.producer_id} is older than "
                f"{producer.coordinator_epoch}",
            )

    def is_open(self, producer_id: int, epoch: int) -> bool:
        """Has this producer a transaction open here, in this very epoch?"""
        producer = self._producers.get(producer_id)
        return producer is not None and producer.transaction_first_offset >= 0 and producer.epoch == epoch

    # -- telling, after it was written ------------------------------------------------------------------

    def appended(self, header: BatchHeader, base_offset: int) -> None:
        """A data batch now lies at `base_offset`. The header's timestamps are those it was stored with."""
        producer_id = header.producer_id
        if producer_id < 0:
            return
        attributes = header.attributes
        assert not attributes & CONTROL
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = _Producer(header.producer_epoch)
        elif producer.epoch != header.producer_epoch:
            producer.turn_to(header.producer_epoch)
        first_sequence, last_delta = header.base_sequence, header.last_offset_delta
        last_sequence = (first_sequence + last_delta) & SEQUENCE_MASK if first_sequence >= 0 else NO_SEQUENCE
        timestamp = header.max_timestamp
        window = producer.window
        window.append((first_sequence, last_sequence, base_offset, base_offset + last_delta, timestamp))
        if len(window) > WINDOW:
            del window[0]
        producer.next_sequence = (last_sequence + 1) & SEQUENCE_MASK
        producer.last_timestamp = timestamp
        if attributes & TRANSACTIONAL and producer.transaction_first_offset < 0:
            self._begin(producer_id, producer, base_offset)

    def completed(
        self, header: BatchHeader, offset: int, *, coordinator_epoch: int, aborted: bool
    ) -> CompletedTransaction | None:
        """A transaction marker now lies at `offset`. None if there was no data for it to decide."""
        assert header.attributes & CONTROL
        producer = self._producers.get(header.producer_id)
        if producer is None:
            producer = self._producers[header.producer_id] = _Producer(header.producer_epoch)
        producer.turn_to(header.producer_epoch)
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = header.max_timestamp
        first_offset = producer.transaction_first_offset
        if first_offset < 0:
            return None
        producer.transaction_first_offset = NO_OFFSET
        del self._open[first_offset]
        self._unreplicated[first_offset] = offset
        self._find_first_unstable()
        stable_until = next(iter(self._open), offset + 1)
        return CompletedTransaction(header.producer_id, first_offset, offset, aborted, stable_until)

    def stored(self, header: BatchHeader, batch: Buffer) -> CompletedTransaction | None:
        """A batch lies in the log, of data or a marker: how followers and a recovery learn of it. `batch` is
        looked into only for a marker."""
        if not header.attributes & CONTROL:
            self.appended(header, header.base_offset)
            return None
        marker = read_marker(batch) if header.record_count else None
        if marker is None:
            return None
        return self.completed(
            header,
            header.base_offset,
            coordinator_epoch=marker.coordinator_epoch,
            aborted=marker.type is MarkerType.ABORT,
        )

    def replicated(self, high_watermark: int) -> None:
        """Everything below `high_watermark` is on every in-sync replica. A new log start counts as well."""
        if not self._unreplicated:
            return
        done = [first for first, marker in self._unreplicated.items() if marker < high_watermark]
        for first in done:
            del self._unreplicated[first]
        if done:
            self._find_first_unstable()

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forget producers that were silent for `expiration_ms` and hold no transaction; say how many."""
        silent = [
            producer_id
            for producer_id, producer in self._producers.items()
            if producer.transaction_first_offset < 0 and now_ms - producer.last_timestamp >= expiration_ms
        ]
        for producer_id in silent:
            del self._producers[producer_id]
        return len(silent)

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def first_open_offset(self) -> int | None:
        """Where the earliest transaction that has no marker begins."""
        return next(iter(self._open), None)

    def describe(self) -> Iterator[ProducerDescription]:
        for producer_id, producer in self._producers.items():
            written = producer.window[-1] if producer.window else None
            yield ProducerDescription(
                producer_id,
                producer.epoch,
                written[1] if written else NO_SEQUENCE,
                written[3] if written else NO_OFFSET,
                producer.last_timestamp,
                producer.coordinator_epoch,
                producer.transaction_first_offset,
                written[3] - written[2] if written else 0,
            )

    # -- snapshots ---------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """A `.snapshot` file's content: of each producer its last batch only, as Kafka keeps it."""
        entries = b"".join(_pack(producer_id, producer) for producer_id, producer in self._producers.items())
        body = len(self._producers).to_bytes(4, "big") + entries
        return _SNAPSHOT_VERSION.to_bytes(2, "big") + crc32c(body).to_bytes(4, "big") + body

    @classmethod
    def load(cls, data: bytes) -> ProducerStates:
        """What a `.snapshot` holds; `StorageError` if it is damaged. Transactions that were decided but not
        yet replicated are not in it: a snapshot is only loaded below the high watermark."""
        states = cls()
        for producer_id, producer in _unpack(data):
            states._producers[producer_id] = producer
        began = ((p.transaction_first_offset, producer_id) for producer_id, p in states._producers.items())
        states._open = dict(sorted(first for first in began if first[0] >= 0))
        states._find_first_unstable()
        return states

    def _begin(self, producer_id: int, producer: _Producer, offset: int) -> None:
        producer.transaction_first_offset = offset
        self._open[offset] = producer_id
        if self.first_unstable_offset is None:
            self.first_unstable_offset = offset

    def _find_first_unstable(self) -> None:
        open_first = next(iter(self._open), None)
        unreplicated_first = min(self._unreplicated, default=None)
        if open_first is None or unreplicated_first is None:
            self.first_unstable_offset = unreplicated_first if open_first is None else open_first
        else:
            self.first_unstable_offset = min(open_first, unreplicated_first)


def _check_new_epoch(producer: _Producer, header: BatchHeader, *, from_client: bool) -> None:
    if header.producer_epoch < producer.epoch:
        raise _stale_epoch(producer, header)
    if from_client and header.base_sequence != 0 and producer.epoch != NO_EPOCH:
        raise ApiError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"epoch {header.producer_epoch} of producer {header.producer_id} begins at sequence "
            f"{header.base_sequence}, not 0",
        )


def _duplicate_in(producer: _Producer, header: BatchHeader) -> Duplicate:
    first_sequence = header.base_sequence
    last_sequence = (first_sequence + header.last_offset_delta) & SEQUENCE_MASK
    for first, last, base_offset, last_offset, timestamp in producer.window:
        if first == first_sequence and last == last_sequence:
            return Duplicate(base_offset, last_offset, timestamp)
    raise ApiError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} sent sequence {first_sequence}, expected {producer.next_sequence}",
    )


def _stale_epoch(producer: _Producer, header: BatchHeader) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"epoch {header.producer_epoch} of producer {header.producer_id} is older than {producer.epoch}",
    )


def _pack(producer_id: int, producer: _Producer) -> bytes:
    last_sequence, last_offset, delta = NO_SEQUENCE, NO_OFFSET, 0
    if producer.window:
        _, last_sequence, base_offset, last_offset, _ = producer.window[-1]
        delta = last_offset - base_offset
    return _SNAPSHOT_ENTRY.pack(
        producer_id,
        producer.epoch,
        last_sequence,
        last_offset,
        delta,
        producer.last_timestamp,
        producer.coordinator_epoch,
        producer.transaction_first_offset,
    )


def _unpack(data: bytes) -> Iterator[tuple[int, _Producer]]:
    if len(data) < _SNAPSHOT_HEADER.size:
        raise StorageError(f"a producer snapshot of {len(data)} bytes is too short to be one")
    version, crc, count = _SNAPSHOT_HEADER.unpack_from(data)
    if version != _SNAPSHOT_VERSION:
        raise StorageError(f"producer snapshot version {version} is unknown")
    if crc != crc32c(memoryview(data)[_CRC_COVERS_FROM:]):
        raise StorageError("a producer snapshot does not match its checksum")
    if len(data) != _SNAPSHOT_HEADER.size + count * _SNAPSHOT_ENTRY.size:
        raise StorageError(f"a producer snapshot of {len(data)} bytes cannot hold {count} producers")
    for fields in _SNAPSHOT_ENTRY.iter_unpack(memoryview(data)[_SNAPSHOT_HEADER.size :]):
        producer_id, epoch, last_sequence, last_offset, delta, timestamp, coordinator_epoch, first = fields
        producer = _Producer(epoch)
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = timestamp
        producer.transaction_first_offset = first
        if last_offset >= 0:
            first_sequence = (last_sequence - delta) & SEQUENCE_MASK if last_sequence >= 0 else NO_SEQUENCE
            producer.window.append(
                (first_sequence, last_sequence, last_offset - delta, last_offset, timestamp)
            )
            producer.next_sequence = (last_sequence + 1) & SEQUENCE_MASK
        yield producer_id, producer
