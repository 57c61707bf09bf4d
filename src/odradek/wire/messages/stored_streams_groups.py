"""What streams groups keep in __consumer_offsets, framed as `stored` describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from odradek.wire.schema import Int8, Int16, Int32, Int64, String, Tagged, UInt16, message


@message(versions=range(1))
class StreamsGroupMetadataKey:
    group_id: String


@message
class KeyValue:
    key: String
    value: String


@message(versions=range(1), flexible=0)
class StreamsGroupMetadataValue:
    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Annotated[Int32, Tagged(0, since=0)] = -1
    last_assignment_configs: Annotated[tuple[KeyValue, ...] | None, Tagged(1, since=0)] = ()


@message(versions=range(1))
class StreamsGroupMemberMetadataKey:
    group_id: String
    member_id: String


@message
class Endpoint:
    host: String
    port: UInt16


@message(versions=range(1), flexible=0)
class StreamsGroupMemberMetadataValue:
    instance_id: String | None
    rack_id: String | None
    client_id: String
    client_host: String
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32
    process_id: String
    user_endpoint: Endpoint | None = None
    client_tags: tuple[KeyValue, ...]


@message(versions=range(1))
class StreamsGroupTargetAssignmentMetadataKey:
    group_id: String


@message(versions=range(1), flexible=0)
class StreamsGroupTargetAssignmentMetadataValue:
    assignment_epoch: Int32
    assignment_timestamp: Annotated[Int64, Tagged(0, since=0)] = 0


@message(versions=range(1))
class StreamsGroupTargetAssignmentMemberKey:
    group_id: String
    member_id: String


@message
class TaskIds:
    subtopology_id: String
    partitions: tuple[Int32, ...]


@message(versions=range(1), flexible=0)
class StreamsGroupTargetAssignmentMemberValue:
    active_tasks: tuple[TaskIds, ...]
    standby_tasks: tuple[TaskIds, ...]
    warmup_tasks: tuple[TaskIds, ...]


@message(versions=range(1))
class StreamsGroupCurrentMemberAssignmentKey:
    group_id: String
    member_id: String


@message
class OwnedTaskIds:
    subtopology_id: String
    partitions: tuple[Int32, ...]
    assignment_epochs: Annotated[tuple[Int32, ...] | None, Tagged(0, since=0)] = ()


@message(versions=range(1), flexible=0)
class StreamsGroupCurrentMemberAssignmentValue:
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: tuple[OwnedTaskIds, ...]
    standby_tasks: tuple[OwnedTaskIds, ...]
    warmup_tasks: tuple[OwnedTaskIds, ...]
    active_tasks_pending_revocation: tuple[OwnedTaskIds, ...]
    standby_tasks_pending_revocation: tuple[OwnedTaskIds, ...]
    warmup_tasks_pending_revocation: tuple[OwnedTaskIds, ...]


@message(versions=range(1))
class StreamsGroupTopologyKey:
    group_id: String


@message
class TopicInfo:
    name: String
    partitions: Int32
    replication_factor: Int16
    topic_configs: tuple[KeyValue, ...]


@message
class CopartitionGroup:
    source_topics: tuple[Int16, ...]
    source_topic_regex: tuple[Int16, ...]
    repartition_source_topics: tuple[Int16, ...]


@message
class Subtopology:
    subtopology_id: String
    source_topics: tuple[String, ...]
    source_topic_regex: tuple[String, ...]
    state_changelog_topics: tuple[TopicInfo, ...]
    repartition_sink_topics: tuple[String, ...]
    repartition_source_topics: tuple[TopicInfo, ...]
    copartition_groups: tuple[CopartitionGroup, ...]


@message(versions=range(1), flexible=0)
class StreamsGroupTopologyValue:
    epoch: Int32
    subtopologies: tuple[Subtopology, ...]


GROUP_RECORDS: Mapping[int, tuple[type, type]] = {
    17: (StreamsGroupMetadataKey, StreamsGroupMetadataValue),
    19: (StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue),
    20: (StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue),
    21: (StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue),
    22: (StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue),
    23: (StreamsGroupTopologyKey, StreamsGroupTopologyValue),
}
