"""Produce (key 0): append record batches to partitions.

v1   answers a throttle time.
v2   answers the append time.
v3   transactions, and batches of format 2: the oldest that is served.
v5   answers the log start offset.
v6   a throttled client is answered at once and waits by itself (KIP-219).
v7   batches may be compressed with zstd.
v8   answers errors per record (KIP-467).
v9   flexible versions.
v10  a wrong leader answers who the right one is (KIP-951).
v11  may answer TRANSACTION_ABORTABLE (KIP-890).
v12  adds partitions to their transaction by itself (KIP-890).
v13  topics by id (KIP-516).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import (
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
class PartitionData:
    index: Int32
    records: Records | None  # a view into the frame; nobody parses it here


@message
class TopicData:
    name: Annotated[String, Until(12)] = ""
    topic_id: Annotated[Uuid, Since(13)] = bytes(16)
    partition_data: tuple[PartitionData, ...]


@message(versions=range(14), flexible=9)
class ProduceRequest:
    transactional_id: Annotated[String | None, Since(3)] = None
    acks: Int16  # 0 none, 1 the leader, -1 every in-sync replica
    timeout_ms: Int32
    topic_data: tuple[TopicData, ...]


@message
class RecordError:
    batch_index: Int32  # the record's place in the batch that was refused
    batch_index_error_message: String | None = None


@message
class CurrentLeader:
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


@message
class PartitionResponse:
    index: Int32
    error_code: Int16
    base_offset: Int64
    log_append_time_ms: Annotated[Int64, Since(2)] = -1  # -1: the records keep the times they came with
    log_start_offset: Annotated[Int64, Since(5)] = -1
    record_errors: Annotated[tuple[RecordError, ...], Since(8)] = ()
    error_message: Annotated[String | None, Since(8)] = None
    current_leader: Annotated[CurrentLeader, Tagged(0, since=10)] = default_of(CurrentLeader)


@message
class TopicResponse:
    name: Annotated[String, Until(12)] = ""
    topic_id: Annotated[Uuid, Since(13)] = bytes(16)
    partition_responses: tuple[PartitionResponse, ...]


@message
class NodeEndpoint:
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


@message(versions=range(14), flexible=9)
class ProduceResponse:
    responses: tuple[TopicResponse, ...]
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    # of the brokers that `current_leader` names
    node_endpoints: Annotated[tuple[NodeEndpoint, ...], Tagged(0, since=10)] = ()
