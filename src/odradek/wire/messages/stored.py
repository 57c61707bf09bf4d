"""What classic groups keep in __consumer_offsets, and transactions in __transaction_state.

A record's key begins with two bytes that say which of these it is, its value with two bytes of version. The
first are the numbers of `GROUP_RECORDS` and `TRANSACTION_RECORDS`. (Kafka 3.9 calls the number the key's
version, 4.x its api key; the bytes are the same.) A null value is a tombstone: what the key names is gone.

OffsetCommitValue
  v1  an expiry of its own, v1 only.          v3  leader epochs (KIP-320).
  v4  flexible versions.

GroupMetadataValue
  v1  rebalance timeouts.                     v2  since when it is in its state.
  v3  static members (KIP-345).               v4  flexible versions.

TransactionLogValue
  v1  flexible versions: what an epoch's overflow needs to be survived (KIP-890).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from odradek.wire.schema import Bytes, Int8, Int16, Int32, Int64, Since, String, Tagged, Until, Uuid, message


@message(versions=range(1))
class LegacyOffsetCommitKey:
    group: String
    topic: String
    partition: Int32


@message(versions=range(1))
class LegacyOffsetCommitValue:
    offset: Int64
    metadata: String
    commit_timestamp: Int64


@message(versions=range(1))
class OffsetCommitKey:
    group: String
    topic: String
    partition: Int32


@message(versions=range(5), flexible=4)
class OffsetCommitValue:
    offset: Int64
    leader_epoch: Annotated[Int32, Since(3)] = -1
    metadata: String
    commit_timestamp: Int64
    expire_timestamp: Annotated[Int64, Since(1), Until(1)] = -1  # -1: when the group's retention says
    topic_id: Annotated[Uuid, Tagged(0, since=4)] = bytes(16)  # zero: unknown


@message(versions=range(1))
class GroupMetadataKey:
    group: String


@message
class MemberMetadata:
    member_id: String
    group_instance_id: Annotated[String | None, Since(3)] = None
    client_id: String
    client_host: String
    rebalance_timeout: Annotated[Int32, Since(1)] = -1  # -1 (v0): the session's
    session_timeout: Int32
    subscription: Bytes
    assignment: Bytes


@message(versions=range(5), flexible=4)
class GroupMetadataValue:
    protocol_type: String
    generation: Int32
    protocol: String | None  # null: none is chosen
    leader: String | None
    current_state_timestamp: Annotated[Int64, Since(2)] = -1
    members: tuple[MemberMetadata, ...]


@message(versions=range(1))
class TransactionLogKey:
    transactional_id: String


@message
class TransactionPartitions:
    topic: String
    partition_ids: tuple[Int32, ...]


@message(versions=range(2), flexible=1)
class TransactionLogValue:
    producer_id: Int64
    previous_producer_id: Annotated[Int64, Tagged(0, since=1)] = -1
    next_producer_id: Annotated[Int64, Tagged(1, since=1)] = -1
    producer_epoch: Int16
    next_producer_epoch: Annotated[Int16, Tagged(3, since=1)] = -1
    transaction_timeout_ms: Int32
    transaction_status: Int8  # 0 empty, 1 ongoing, 2/3 preparing commit/abort, 4/5 committed/aborted, 6 dead
    transaction_partitions: tuple[TransactionPartitions, ...] | None  # null: empty
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
    client_transaction_version: Annotated[Int16, Tagged(2, since=1)] = 0


# The number a record's key begins with -> its key and its value.
GROUP_RECORDS: Mapping[int, tuple[type, type]] = {
    0: (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
}
TRANSACTION_RECORDS: Mapping[int, tuple[type, type]] = {
    0: (TransactionLogKey, TransactionLogValue),
}
