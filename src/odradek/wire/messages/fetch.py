"""Fetch (key 1): read record batches, as a consumer or as a follower.

v1   answers a throttle time.
v3   bounds the whole answer by `max_bytes`.
v4   isolation levels and batches of format 2: the oldest that is served.
v5   log start offsets, a follower's and a leader's.
v7   incremental fetch sessions (KIP-227).
v8   a throttled client is answered at once and waits by itself (KIP-219).
v9   fenced by the current leader epoch (KIP-320).
v10  batches may be compressed with zstd.
v11  a consumer names its rack and may be sent to a replica near it (KIP-392).
v12  flexible versions; the answer tells where logs diverge (KIP-595).
v13  topics by id (KIP-516).
v15  a follower gives its broker epoch too (KIP-903).
v16  a wrong leader answers who the right one is (KIP-951).
v17  followers name their log directory (KIP-853).
v18  followers name the high watermark they know (KIP-1166).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import (
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    Since,
    String,
    Tagged,
    Until,
    Uuid,
    default_of,
    message,
)


@message
class ReplicaState:
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


@message
class FetchPartition:
    partition: Int32
    current_leader_epoch: Annotated[Int32, Since(9)] = -1  # -1: not checked
    fetch_offset: Int64
    last_fetched_epoch: Annotated[Int32, Since(12)] = -1  # of the last record the follower has
    log_start_offset: Annotated[Int64, Since(5)] = -1  # a follower's; -1 from a consumer
    partition_max_bytes: Int32
    replica_directory_id: Annotated[Uuid, Tagged(0, since=17)] = bytes(16)
    # a follower's; without it no news of the watermark wakes it
    high_watermark: Annotated[Int64, Tagged(1, since=18)] = 2**63 - 1


@message
class FetchTopic:
    topic: Annotated[String, Until(12)] = ""
    topic_id: Annotated[Uuid, Since(13)] = bytes(16)
    partitions: tuple[FetchPartition, ...]


@message
class ForgottenTopic:
    topic: Annotated[String, Until(12)] = ""
    topic_id: Annotated[Uuid, Since(13)] = bytes(16)
    partitions: tuple[Int32, ...]


@message(versions=range(19), flexible=12)
class FetchRequest:
    cluster_id: Annotated[String | None, Tagged(0, since=12)] = None  # checked only between KRaft controllers
    replica_id: Annotated[Int32, Until(14)] = -1  # -1: a consumer
    replica_state: Annotated[ReplicaState, Tagged(1, since=15)] = default_of(ReplicaState)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Annotated[Int32, Since(3)] = 2**31 - 1
    isolation_level: Annotated[Int8, Since(4)] = 0  # 0 read uncommitted, 1 read committed
    session_id: Annotated[Int32, Since(7)] = 0
    session_epoch: Annotated[Int32, Since(7)] = -1  # -1: no session, 0: a new one
    topics: tuple[FetchTopic, ...]
    forgotten_topics_data: Annotated[tuple[ForgottenTopic, ...], Since(7)] = ()
    rack_id: Annotated[String, Since(11)] = ""


@message
class EpochEndOffset:
    epoch: Int32 = -1
    end_offset: Int64 = -1


@message
class CurrentLeader:
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


@message
class SnapshotId:
    end_offset: Int64 = -1
    epoch: Int32 = -1


@message
class AbortedTransaction:
    producer_id: Int64
    first_offset: Int64


@message
class FetchedPartition:
    partition_index: Int32
    error_code: Int16
    high_watermark: Int64
    last_stable_offset: Annotated[Int64, Since(4)] = -1
    log_start_offset: Annotated[Int64, Since(5)] = -1
    # set where the follower must truncate first
    diverging_epoch: Annotated[EpochEndOffset, Tagged(0, since=12)] = default_of(EpochEndOffset)
    # set where we are not the leader
    current_leader: Annotated[CurrentLeader, Tagged(1, since=12)] = default_of(CurrentLeader)
    # only between KRaft controllers
    snapshot_id: Annotated[SnapshotId, Tagged(2, since=12)] = default_of(SnapshotId)
    # null unless read committed
    aborted_transactions: Annotated[tuple[AbortedTransaction, ...] | None, Since(4)] = ()
    preferred_read_replica: Annotated[Int32, Since(11)] = -1  # -1: stay here
    records: Records | None  # a slice of the log's file


@message
class FetchedTopic:
    topic: Annotated[String, Until(12)] = ""
    topic_id: Annotated[Uuid, Since(13)] = bytes(16)
    partitions: tuple[FetchedPartition, ...]


@message
class NodeEndpoint:
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


@message(versions=range(19), flexible=12)
class FetchResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    error_code: Annotated[Int16, Since(7)] = 0
    session_id: Annotated[Int32, Since(7)] = 0
    responses: tuple[FetchedTopic, ...]
    # of the brokers that `current_leader` names
    node_endpoints: Annotated[tuple[NodeEndpoint, ...], Tagged(0, since=16)] = ()
