"""The records inside a batch: read them, check them, thin them out, and build batches of them.

The produce and fetch paths never come here. Who does: compaction, coordinators that load their partition,
look-ups by time, key checks on compacted topics, clients and tools. The walk itself is `kernel.py`, which is
compiled where a C compiler was there at installation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from odradek.wire.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Buffer
from odradek.wire.compression import DECOMPRESSED_SIZE_MAX, Codec

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]


class Record(NamedTuple):
    """One record as its consumer sees it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class Producer(NamedTuple):
    """Who wrote a batch, for idempotence: the sequence is that of its first record."""

    id: int = NO_PRODUCER_ID
    epoch: int = NO_PRODUCER_EPOCH
    sequence: int = NO_SEQUENCE


def read_records(batch: Buffer, at: int = 0, *, size_max: int = DECOMPRESSED_SIZE_MAX) -> Iterator[Record]:
    """The records of the batch at `at`, one by one. Raises BadBatch where it finds the first that is none.
    Checks no checksum."""
    raise NotImplementedError


def read_keys(
    batch: Buffer, at: int = 0, *, size_max: int = DECOMPRESSED_SIZE_MAX
) -> Iterator[tuple[int, bytes | None, bool]]:
    """(offset, key, has a value) of each record: what compaction asks. Without a value it is a tombstone."""
    raise NotImplementedError


def check_records(batch: Buffer, at: int = 0, *, size_max: int = DECOMPRESSED_SIZE_MAX) -> list[int]:
    """Walk a produced batch: every record whole, offsets without gaps, as many as announced. Returns the
    indices of the records without a key, which a compacted topic refuses. Makes no objects."""
    raise NotImplementedError


def retain(
    batch: Buffer, kept: Sequence[bool] | bytes, at: int = 0, *, delete_horizon_ms: int | None = None
) -> bytearray:
    """The batch with only those records whose place in `kept` is true (one place a record).

    Offsets, producer, sequence, epoch, codec and attributes stay; the largest timestamp becomes that of what
    is left. With nothing left: the header alone, as Kafka keeps it for a producer's last sequence. A delete
    horizon, once set, stays; `delete_horizon_ms` sets it where the batch had none."""
    raise NotImplementedError


NO_PRODUCER = Producer()


class BatchBuilder:
    """One batch in the making.

    builder = BatchBuilder(codec=Codec.LZ4)
    builder.append(timestamp, key, value, [("name", b"value")])
    batch = builder.build()
    """

    def __init__(
        self,
        *,
        base_offset: int = 0,
        codec: Codec = Codec.NONE,
        level: int | None = None,
        producer: Producer = NO_PRODUCER,
        transactional: bool = False,
        control: bool = False,
        log_append_time_ms: int | None = None,
        leader_epoch: int = -1,
    ) -> None:
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Bytes so far before compression, header included."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        raise NotImplementedError

    def append(
        self,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
        *,
        offset: int | None = None,
    ) -> None:
        """Add a record; its offset follows the last one's unless given (as compaction leaves gaps)."""
        raise NotImplementedError

    def build(self) -> bytearray:
        """The sealed batch. A builder is used once."""
        raise NotImplementedError


def record_size_max(key: bytes | None, value: bytes | None, headers: Headers = ()) -> int:
    """At most how many bytes a record adds to a batch, before compression."""
    raise NotImplementedError
