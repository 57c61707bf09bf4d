"""The offsets groups commit.

OffsetCommit (key 8)
  v0   without a member: written to ZooKeeper, not to the group's log.
  v1   member and generation.                 v2   how long to retain.
  v3   answers a throttle time.               v5   retention is the group's affair (KIP-211).
  v6   leader epochs (KIP-320).               v7   static members (KIP-345).
  v8   flexible versions.                     v9   epochs of KIP-848 members.
  v10  topics by id.

OffsetFetch (key 9)
  v0   reads from ZooKeeper.                  v2   null asks for all topics; an error for the group.
  v3   answers a throttle time.               v5   leader epochs (KIP-320).
  v6   flexible versions.                     v7   may wait for pending transactions (KIP-447).
  v8   many groups (KIP-709).                 v9   epochs of KIP-848 members.
  v10  topics by id.

OffsetDelete (key 47): forget what a group committed (KIP-496).

TxnOffsetCommit (key 28): commit as part of a transaction.
  v2  leader epochs (KIP-320).                v3  flexible versions; fenced by membership (KIP-447).
  v4  may answer TRANSACTION_ABORTABLE.       v5  adds the group to the transaction by itself (KIP-890).
  v6  topics by id (KIP-1319).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int16, Int32, Int64, NullableSince, Since, String, Until, Uuid, message


@message
class OffsetCommitPartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Annotated[Int32, Since(6)] = -1
    commit_timestamp: Annotated[Int64, Since(1), Until(1)] = -1
    committed_metadata: String | None


@message
class OffsetCommitTopic:
    name: Annotated[String, Until(9)] = ""
    topic_id: Annotated[Uuid, Since(10)] = bytes(16)
    partitions: tuple[OffsetCommitPartition, ...]


@message(versions=range(11), flexible=8)
class OffsetCommitRequest:
    group_id: String
    generation_id_or_member_epoch: Annotated[Int32, Since(1)] = -1  # -1: committed without being a member
    member_id: Annotated[String, Since(1)] = ""
    group_instance_id: Annotated[String | None, Since(7)] = None
    retention_time_ms: Annotated[Int64, Since(2), Until(4)] = -1  # -1: the broker's
    topics: tuple[OffsetCommitTopic, ...]


@message
class PartitionError:
    partition_index: Int32
    error_code: Int16


@message
class OffsetCommitTopicResponse:
    name: Annotated[String, Until(9)] = ""
    topic_id: Annotated[Uuid, Since(10)] = bytes(16)
    partitions: tuple[PartitionError, ...]


@message(versions=range(11), flexible=8)
class OffsetCommitResponse:
    throttle_time_ms: Annotated[Int32, Since(3)] = 0
    topics: tuple[OffsetCommitTopicResponse, ...]


@message
class OffsetFetchTopic:
    name: Annotated[String, Until(9)] = ""
    topic_id: Annotated[Uuid, Since(10)] = bytes(16)
    partition_indexes: tuple[Int32, ...]


@message
class OffsetFetchGroup:
    group_id: String
    member_id: Annotated[String | None, Since(9)] = None
    member_epoch: Annotated[Int32, Since(9)] = -1
    topics: tuple[OffsetFetchTopic, ...] | None  # null: all of them


@message(versions=range(11), flexible=6)
class OffsetFetchRequest:
    group_id: Annotated[String, Until(7)] = ""
    # null: all of them
    topics: Annotated[tuple[OffsetFetchTopic, ...] | None, Until(7), NullableSince(2)] = ()
    groups: Annotated[tuple[OffsetFetchGroup, ...], Since(8)] = ()
    require_stable: Annotated[Bool, Since(7)] = False


@message
class OffsetFetchPartitionResponse:
    partition_index: Int32
    committed_offset: Int64  # -1: none
    committed_leader_epoch: Annotated[Int32, Since(5)] = -1
    metadata: String | None
    error_code: Int16


@message
class OffsetFetchTopicResponse:
    name: Annotated[String, Until(9)] = ""
    topic_id: Annotated[Uuid, Since(10)] = bytes(16)
    partitions: tuple[OffsetFetchPartitionResponse, ...]


@message
class OffsetFetchGroupResponse:
    group_id: String
    topics: tuple[OffsetFetchTopicResponse, ...]
    error_code: Int16 = 0


@message(versions=range(11), flexible=6)
class OffsetFetchResponse:
    throttle_time_ms: Annotated[Int32, Since(3)] = 0
    topics: Annotated[tuple[OffsetFetchTopicResponse, ...], Until(7)] = ()
    error_code: Annotated[Int16, Since(2), Until(7)] = 0
    groups: Annotated[tuple[OffsetFetchGroupResponse, ...], Since(8)] = ()


@message
class OffsetDeletePartition:
    partition_index: Int32


@message
class OffsetDeleteTopic:
    name: String
    partitions: tuple[OffsetDeletePartition, ...]


@message(versions=range(1))
class OffsetDeleteRequest:
    group_id: String
    topics: tuple[OffsetDeleteTopic, ...]


@message
class OffsetDeleteTopicResponse:
    name: String
    partitions: tuple[PartitionError, ...]


@message(versions=range(1))
class OffsetDeleteResponse:
    error_code: Int16
    throttle_time_ms: Int32 = 0
    topics: tuple[OffsetDeleteTopicResponse, ...]


@message
class TxnOffsetCommitPartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Annotated[Int32, Since(2)] = -1
    committed_metadata: String | None


@message
class TxnOffsetCommitTopic:
    name: Annotated[String, Until(5)] = ""
    topic_id: Annotated[Uuid, Since(6)] = bytes(16)
    partitions: tuple[TxnOffsetCommitPartition, ...]


@message(versions=range(7), flexible=3)
class TxnOffsetCommitRequest:
    transactional_id: String
    group_id: String
    producer_id: Int64
    producer_epoch: Int16
    generation_id_or_member_epoch: Annotated[Int32, Since(3)] = -1  # -1: committed without being a member
    member_id: Annotated[String, Since(3)] = ""
    group_instance_id: Annotated[String | None, Since(3)] = None
    topics: tuple[TxnOffsetCommitTopic, ...]


@message
class TxnOffsetCommitTopicResponse:
    name: Annotated[String, Until(5)] = ""
    topic_id: Annotated[Uuid, Since(6)] = bytes(16)
    partitions: tuple[PartitionError, ...]


@message(versions=range(7), flexible=3)
class TxnOffsetCommitResponse:
    throttle_time_ms: Int32 = 0
    topics: tuple[TxnOffsetCommitTopicResponse, ...]
