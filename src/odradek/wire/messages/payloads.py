"""Bytes inside other messages and records.

ConsumerProtocolSubscription, ConsumerProtocolAssignment: what consumers of a classic group tell their
leader in JoinGroup, and it them in SyncGroup. Two bytes of version go before. A reader takes a
version it does not know for the newest that it does, as versions only add fields at the end.
  v1  partitions owned so far (KIP-429).      v2  and since which generation.
  v3  racks (KIP-881).

ControlRecordTypeSchema, EndTxnMarker: key and value of a transaction's marker, two bytes of version before
each. AbortedTxn: an entry of a `.txnindex` file, likewise. Who writes them keeps one `struct` each.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bytes, Int16, Int32, Int64, Since, String, message


@message
class TopicPartition:
    topic: String
    partitions: tuple[Int32, ...]


@message(versions=range(4))
class ConsumerProtocolSubscription:
    topics: tuple[String, ...]
    user_data: Bytes | None = None  # the assignor's own
    owned_partitions: Annotated[tuple[TopicPartition, ...], Since(1)] = ()
    generation_id: Annotated[Int32, Since(2)] = -1
    rack_id: Annotated[String | None, Since(3)] = None


@message(versions=range(4))
class ConsumerProtocolAssignment:
    assigned_partitions: tuple[TopicPartition, ...]
    user_data: Bytes | None = None


@message(versions=range(1))
class ControlRecordTypeSchema:
    type: Int16  # 0 abort, 1 commit


@message(versions=range(1))
class EndTxnMarker:
    coordinator_epoch: Int32


@message(versions=range(1))
class AbortedTxn:
    producer_id: Int64
    first_offset: Int64
    last_offset: Int64
    last_stable_offset: Int64
