"""Topics come, go and grow.

CreateTopics (key 19)
  v1  validate only; error messages.          v2  answers a throttle time.
  v4  -1 asks for the broker's defaults (KIP-464).
  v5  flexible versions; answers what was created (KIP-525).
  v6  may answer THROTTLING_QUOTA_EXCEEDED (KIP-599).
  v7  answers the topic's id (KIP-516).

DeleteTopics (key 20)
  v1  answers a throttle time.                v3  may answer TOPIC_DELETION_DISABLED.
  v4  flexible versions.                      v5  error messages (KIP-599).
  v6  by id (KIP-516).

CreatePartitions (key 37)
  v2  flexible versions.                      v3  may answer THROTTLING_QUOTA_EXCEEDED (KIP-599).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    NullableSince,
    Since,
    String,
    Tagged,
    Until,
    Uuid,
    message,
)


@message
class ReplicaAssignment:
    partition_index: Int32
    broker_ids: tuple[Int32, ...]


@message
class CreatableTopicConfig:
    name: String
    value: String | None


@message
class CreatableTopic:
    name: String
    num_partitions: Int32  # -1: as assigned, or the broker's default
    replication_factor: Int16  # -1: as assigned, or the broker's default
    assignments: tuple[ReplicaAssignment, ...]
    configs: tuple[CreatableTopicConfig, ...]


@message(versions=range(8), flexible=5)
class CreateTopicsRequest:
    topics: tuple[CreatableTopic, ...]
    timeout_ms: Int32 = 60000
    validate_only: Annotated[Bool, Since(1)] = False


@message
class CreatedTopicConfig:
    name: String
    value: String | None
    read_only: Bool
    config_source: Int8 = -1
    is_sensitive: Bool


@message
class CreatedTopic:
    name: String
    topic_id: Annotated[Uuid, Since(7)] = bytes(16)
    error_code: Int16
    error_message: Annotated[String | None, Since(1)] = ""
    topic_config_error_code: Annotated[Int16, Tagged(0, since=5)] = 0  # why `configs` is null
    num_partitions: Annotated[Int32, Since(5)] = -1
    replication_factor: Annotated[Int16, Since(5)] = -1
    configs: Annotated[tuple[CreatedTopicConfig, ...] | None, Since(5)] = ()


@message(versions=range(8), flexible=5)
class CreateTopicsResponse:
    throttle_time_ms: Annotated[Int32, Since(2)] = 0
    topics: tuple[CreatedTopic, ...]


@message
class DeleteTopicState:
    name: String | None = None  # null: by id
    topic_id: Uuid


@message(versions=range(7), flexible=4)
class DeleteTopicsRequest:
    topics: Annotated[tuple[DeleteTopicState, ...], Since(6)] = ()
    topic_names: Annotated[tuple[String, ...], Until(5)] = ()
    timeout_ms: Int32


@message
class DeletedTopic:
    name: Annotated[String | None, NullableSince(6)]
    topic_id: Annotated[Uuid, Since(6)] = bytes(16)
    error_code: Int16
    error_message: Annotated[String | None, Since(5)] = None


@message(versions=range(7), flexible=4)
class DeleteTopicsResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    responses: tuple[DeletedTopic, ...]


@message
class CreatePartitionsAssignment:
    broker_ids: tuple[Int32, ...]


@message
class CreatePartitionsTopic:
    name: String
    count: Int32  # how many there shall be in all
    assignments: tuple[CreatePartitionsAssignment, ...] | None


@message(versions=range(4), flexible=2)
class CreatePartitionsRequest:
    topics: tuple[CreatePartitionsTopic, ...]
    timeout_ms: Int32
    validate_only: Bool


@message
class CreatePartitionsTopicResult:
    name: String
    error_code: Int16
    error_message: String | None = None


@message(versions=range(4), flexible=2)
class CreatePartitionsResponse:
    throttle_time_ms: Int32 = 0
    results: tuple[CreatePartitionsTopicResult, ...]
