"""Broker to broker: the state of share partitions, kept by their coordinator (KIP-932).

InitializeShareGroupState (key 83), ReadShareGroupState (key 84), DeleteShareGroupState (key 86)

WriteShareGroupState (key 85), ReadShareGroupStateSummary (key 87)
  v1  how many records are done with (KIP-1226).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Int8, Int16, Int32, Int64, Since, String, Uuid, message


@message
class InitializePartition:
    partition: Int32
    state_epoch: Int32
    start_offset: Int64


@message
class InitializeTopic:
    topic_id: Uuid
    partitions: tuple[InitializePartition, ...]


@message(versions=range(1), flexible=0)
class InitializeShareGroupStateRequest:
    group_id: String
    topics: tuple[InitializeTopic, ...]


@message
class PartitionResult:
    partition: Int32
    error_code: Int16
    error_message: String | None = None


@message
class TopicResult:
    topic_id: Uuid
    partitions: tuple[PartitionResult, ...]


@message(versions=range(1), flexible=0)
class InitializeShareGroupStateResponse:
    results: tuple[TopicResult, ...]


@message
class ReadPartition:
    partition: Int32
    leader_epoch: Int32


@message
class ReadTopic:
    topic_id: Uuid
    partitions: tuple[ReadPartition, ...]


@message(versions=range(1), flexible=0)
class ReadShareGroupStateRequest:
    group_id: String
    topics: tuple[ReadTopic, ...]


@message
class StateBatch:
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8  # 0 available, 2 acknowledged, 4 archived
    delivery_count: Int16


@message
class ReadPartitionResult:
    partition: Int32
    error_code: Int16
    error_message: String | None = None
    state_epoch: Int32
    start_offset: Int64
    state_batches: tuple[StateBatch, ...]


@message
class ReadTopicResult:
    topic_id: Uuid
    partitions: tuple[ReadPartitionResult, ...]


@message(versions=range(1), flexible=0)
class ReadShareGroupStateResponse:
    results: tuple[ReadTopicResult, ...]


@message
class WritePartition:
    partition: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Annotated[Int32, Since(1)] = -1  # -1: unknown
    state_batches: tuple[StateBatch, ...]


@message
class WriteTopic:
    topic_id: Uuid
    partitions: tuple[WritePartition, ...]


@message(versions=range(2), flexible=0)
class WriteShareGroupStateRequest:
    group_id: String
    topics: tuple[WriteTopic, ...]


@message(versions=range(2), flexible=0)
class WriteShareGroupStateResponse:
    results: tuple[TopicResult, ...]


@message
class DeletePartition:
    partition: Int32


@message
class DeleteTopic:
    topic_id: Uuid
    partitions: tuple[DeletePartition, ...]


@message(versions=range(1), flexible=0)
class DeleteShareGroupStateRequest:
    group_id: String
    topics: tuple[DeleteTopic, ...]


@message(versions=range(1), flexible=0)
class DeleteShareGroupStateResponse:
    results: tuple[TopicResult, ...]


@message(versions=range(2), flexible=0)
class ReadShareGroupStateSummaryRequest:
    group_id: String
    topics: tuple[ReadTopic, ...]


@message
class PartitionSummary:
    partition: Int32
    error_code: Int16
    error_message: String | None = None
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Annotated[Int32, Since(1)] = -1  # -1: unknown


@message
class TopicSummary:
    topic_id: Uuid
    partitions: tuple[PartitionSummary, ...]


@message(versions=range(2), flexible=0)
class ReadShareGroupStateSummaryResponse:
    results: tuple[TopicSummary, ...]
