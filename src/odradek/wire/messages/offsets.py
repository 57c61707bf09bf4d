"""Where a log begins, ends and diverges, and moving its beginning.

ListOffsets (key 2): the offset of a timestamp, or of a named place in the log.
  v1   one offset a partition in the place of a list.
  v2   isolation levels.                      v3   throttled by the client (KIP-219).
  v4   leader epochs (KIP-320).               v6   flexible versions.
  v7   place -3, the largest timestamp (KIP-734).
  v8   place -4, the earliest on local disk (KIP-405).
  v9   place -5, the latest in tiered storage (KIP-1005).
  v10  a time limit (KIP-1075).
  v11  place -6, the earliest not yet in tiered storage (KIP-1023).

OffsetForLeaderEpoch (key 23): where an epoch ends in the leader's log.
  v1  answers the epoch it found.             v2  fenced by the current leader epoch (KIP-320).
  v3  names the replica that asks.            v4  flexible versions.

DeleteRecords (key 21): move a log's start up.
  v1  throttled by the client (KIP-219).      v2  flexible versions.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Int8, Int16, Int32, Int64, Since, String, Until, message


@message
class ListOffsetsPartition:
    partition_index: Int32
    current_leader_epoch: Annotated[Int32, Since(4)] = -1  # -1: not checked
    timestamp: Int64  # -1 latest, -2 earliest; see above for the others
    max_num_offsets: Annotated[Int32, Until(0)] = 1


@message
class ListOffsetsTopic:
    name: String
    partitions: tuple[ListOffsetsPartition, ...]


@message(versions=range(12), flexible=6)
class ListOffsetsRequest:
    replica_id: Int32  # -1: a consumer
    isolation_level: Annotated[Int8, Since(2)] = 0
    topics: tuple[ListOffsetsTopic, ...]
    timeout_ms: Annotated[Int32, Since(10)] = 0  # how long tiered storage may take


@message
class ListOffsetsPartitionResponse:
    partition_index: Int32
    error_code: Int16
    old_style_offsets: Annotated[tuple[Int64, ...], Until(0)] = ()
    timestamp: Annotated[Int64, Since(1)] = -1
    offset: Annotated[Int64, Since(1)] = -1
    leader_epoch: Annotated[Int32, Since(4)] = -1


@message
class ListOffsetsTopicResponse:
    name: String
    partitions: tuple[ListOffsetsPartitionResponse, ...]


@message(versions=range(12), flexible=6)
class ListOffsetsResponse:
    throttle_time_ms: Annotated[Int32, Since(2)] = 0
    topics: tuple[ListOffsetsTopicResponse, ...]


@message
class OffsetForLeaderPartition:
    partition: Int32
    current_leader_epoch: Annotated[Int32, Since(2)] = -1
    leader_epoch: Int32  # the epoch whose end is asked for


@message
class OffsetForLeaderTopic:
    topic: String
    partitions: tuple[OffsetForLeaderPartition, ...]


@message(versions=range(5), flexible=4)
class OffsetForLeaderEpochRequest:
    replica_id: Annotated[Int32, Since(3)] = -2  # -1 a consumer, -2 one that debugs
    topics: tuple[OffsetForLeaderTopic, ...]


@message
class EpochEndOffset:
    error_code: Int16
    partition: Int32
    leader_epoch: Annotated[Int32, Since(1)] = -1  # the newest that is not newer than the one asked for
    end_offset: Int64 = -1


@message
class OffsetForLeaderTopicResult:
    topic: String
    partitions: tuple[EpochEndOffset, ...]


@message(versions=range(5), flexible=4)
class OffsetForLeaderEpochResponse:
    throttle_time_ms: Annotated[Int32, Since(2)] = 0
    topics: tuple[OffsetForLeaderTopicResult, ...]


@message
class DeleteRecordsPartition:
    partition_index: Int32
    offset: Int64  # -1: up to the high watermark


@message
class DeleteRecordsTopic:
    name: String
    partitions: tuple[DeleteRecordsPartition, ...]


@message(versions=range(3), flexible=2)
class DeleteRecordsRequest:
    topics: tuple[DeleteRecordsTopic, ...]
    timeout_ms: Int32


@message
class DeleteRecordsPartitionResult:
    partition_index: Int32
    low_watermark: Int64  # the smallest log start offset of all live replicas
    error_code: Int16


@message
class DeleteRecordsTopicResult:
    name: String
    partitions: tuple[DeleteRecordsPartitionResult, ...]


@message(versions=range(3), flexible=2)
class DeleteRecordsResponse:
    throttle_time_ms: Int32 = 0
    topics: tuple[DeleteRecordsTopicResult, ...]
