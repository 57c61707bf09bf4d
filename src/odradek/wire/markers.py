"""Control batches: the commit and abort markers that end a transaction in a partition."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from odradek.model.errors import ErrorCode
from odradek.wire.batch import BadBatch, Buffer
from odradek.wire.records import BatchBuilder, Producer, read_records

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_VERSION = 0


class MarkerType(IntEnum):
    ABORT = 0
    COMMIT = 1


class Marker(NamedTuple):
    """How a transaction ended, and under which coordinator."""

    type: MarkerType
    coordinator_epoch: int


def build_marker(
    marker: Marker,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytearray:
    """A control batch of one record."""
    builder = BatchBuilder(
        base_offset=base_offset,
        producer=Producer(producer_id, producer_epoch),
        transactional=True,
        control=True,
        leader_epoch=leader_epoch,
    )
    key = _KEY.pack(_VERSION, marker.type)
    builder.append(timestamp, key, _VALUE.pack(_VERSION, marker.coordinator_epoch))
    return builder.build()


def read_marker(batch: Buffer, at: int = 0) -> Marker | None:
    """The marker of a control batch; None for a control record that is none (newer brokers have others)."""
    for record in read_records(batch, at):
        return decode_marker(record.key, record.value)
    raise BadBatch(ErrorCode.CORRUPT_MESSAGE, "a control batch without a record")


def decode_marker(key: bytes | None, value: bytes | None) -> Marker | None:
    """A control record's key and value. Versions above ours only add fields behind those we know."""
    if key is None or len(key) < _KEY.size:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, "a control record without a type")
    version, kind = _KEY.unpack_from(key)
    if version < 0:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, f"a control record of version {version}")
    if kind not in (MarkerType.ABORT, MarkerType.COMMIT):
        return None
    if value is None or len(value) < _VALUE.size:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, "a transaction marker without a coordinator epoch")
    version, coordinator_epoch = _VALUE.unpack_from(value)
    if version < 0:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, f"a transaction marker of version {version}")
    return Marker(MarkerType(kind), coordinator_epoch)
