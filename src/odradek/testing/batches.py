"""Record batches for tests, in one line each."""

from __future__ import annotations

from odradek.wire.batch import stamp
from odradek.wire.compression import Codec
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.records import NO_PRODUCER, BatchBuilder, Producer

T0 = 1_700_000_000_000  # when records of tests are made, in milliseconds


def batch_of(
    *timestamps: int,
    value: bytes = b"value",
    key: bytes | None = b"key",
    producer: Producer = NO_PRODUCER,
    transactional: bool = False,
    codec: Codec = Codec.NONE,
) -> bytearray:
    """A produced batch, a record for each timestamp; one record at `T0` if there is none."""
    builder = BatchBuilder(producer=producer, transactional=transactional, codec=codec)
    for timestamp in timestamps or (T0,):
        builder.append(timestamp, key, value)
    return builder.build()


def stored(batch: bytearray, base_offset: int, leader_epoch: int = 0) -> bytes:
    """The batch as it lies in a leader's log."""
    stamp(batch, base_offset, leader_epoch)
    return bytes(batch)


def marker_of(
    producer_id: int, producer_epoch: int = 0, *, aborted: bool, coordinator_epoch: int = 0
) -> bytearray:
    marker = Marker(MarkerType.ABORT if aborted else MarkerType.COMMIT, coordinator_epoch)
    return build_marker(marker, producer_id, producer_epoch, T0)
