"""Streams groups (KIP-1071): the coordinator assigns the tasks of a Kafka Streams application.

StreamsGroupHeartbeat (key 88)
  v1  a wider recovery lag; asks for the description of the topology.

StreamsGroupDescribe (key 89)
  v1  the description of the topology, and the assignor.

StreamsGroupTopologyDescriptionUpdate (key 93): a member sends that description.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Int64, Since, String, UInt16, Until, message


@message
class KeyValue:
    key: String
    value: String


@message
class TopicInfo:
    name: String
    partitions: Int32
    replication_factor: Int16
    topic_configs: tuple[KeyValue, ...]


@message
class CopartitionGroup:
    source_topics: tuple[Int16, ...]  # from here on: indexes into the subtopology's lists
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


@message
class Topology:
    epoch: Int32
    subtopologies: tuple[Subtopology, ...]


@message
class TaskIds:
    subtopology_id: String
    partitions: tuple[Int32, ...]


@message
class Endpoint:
    host: String
    port: UInt16


@message
class TaskOffset:
    subtopology_id: String
    partition: Int32
    offset: Int64


@message(versions=range(2), flexible=0)
class StreamsGroupHeartbeatRequest:
    group_id: String
    member_id: String
    member_epoch: Int32  # 0 join, -1 leave, -2 leave for a while (static)
    endpoint_information_epoch: Int32
    instance_id: String | None = None
    rack_id: String | None = None
    rebalance_timeout_ms: Int32 = -1  # from here on: -1 or null says unchanged
    topology: Topology | None = None
    active_tasks: tuple[TaskIds, ...] | None = None
    standby_tasks: tuple[TaskIds, ...] | None = None
    warmup_tasks: tuple[TaskIds, ...] | None = None
    process_id: String | None = None
    user_endpoint: Endpoint | None = None
    client_tags: tuple[KeyValue, ...] | None = None
    task_offsets: tuple[TaskOffset, ...] | None = None
    task_end_offsets: tuple[TaskOffset, ...] | None = None
    shutdown_application: Bool = False


@message
class Status:
    status_code: Int8
    status_detail: String


@message
class TopicPartition:
    topic: String
    partitions: tuple[Int32, ...]


@message
class EndpointToPartitions:
    user_endpoint: Endpoint
    active_partitions: tuple[TopicPartition, ...]
    standby_partitions: tuple[TopicPartition, ...]


@message(versions=range(2), flexible=0)
class StreamsGroupHeartbeatResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    member_id: String
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    acceptable_recovery_lag_legacy: Annotated[Int32, Until(0)] = 0
    task_offset_interval_ms: Int32
    acceptable_recovery_lag: Annotated[Int64, Since(1)] = -1
    status: tuple[Status, ...] | None
    active_tasks: tuple[TaskIds, ...] | None = None
    standby_tasks: tuple[TaskIds, ...] | None = None
    warmup_tasks: tuple[TaskIds, ...] | None = None
    topology_description_required: Annotated[Bool, Since(1)] = False
    endpoint_information_epoch: Int32
    partitions_by_user_endpoint: tuple[EndpointToPartitions, ...] | None = None


@message(versions=range(2), flexible=0)
class StreamsGroupDescribeRequest:
    group_ids: tuple[String, ...]
    include_authorized_operations: Bool
    include_topology_description: Annotated[Bool, Since(1)] = False


@message
class DescribedSubtopology:
    subtopology_id: String
    source_topics: tuple[String, ...]
    repartition_sink_topics: tuple[String, ...]
    state_changelog_topics: tuple[TopicInfo, ...]
    repartition_source_topics: tuple[TopicInfo, ...]


@message
class DescribedTopology:
    epoch: Int32
    subtopologies: tuple[DescribedSubtopology, ...] | None = None


@message
class Assignment:
    active_tasks: tuple[TaskIds, ...]
    standby_tasks: tuple[TaskIds, ...]
    warmup_tasks: tuple[TaskIds, ...]


@message
class DescribedMember:
    member_id: String
    member_epoch: Int32
    instance_id: String | None = None
    rack_id: String | None = None
    client_id: String
    client_host: String
    topology_epoch: Int32
    process_id: String
    user_endpoint: Endpoint | None = None
    client_tags: tuple[KeyValue, ...]
    task_offsets: tuple[TaskOffset, ...]
    task_end_offsets: tuple[TaskOffset, ...]
    assignment: Assignment
    target_assignment: Assignment
    is_classic: Bool


@message
class DescriptionNode:
    name: String
    node_type: Int8
    source_topics: tuple[String, ...]
    sink_topic: String | None = None
    stores: tuple[String, ...]
    successors: tuple[String, ...]


@message
class DescriptionSubtopology:
    subtopology_id: String
    nodes: tuple[DescriptionNode, ...]


@message
class DescriptionGlobalStore:
    source: DescriptionNode
    processor: DescriptionNode


@message
class TopologyDescription:
    subtopologies: tuple[DescriptionSubtopology, ...]
    global_stores: tuple[DescriptionGlobalStore, ...]


@message
class DescribedGroup:
    error_code: Int16
    error_message: String | None = None
    group_id: String
    group_state: String
    group_epoch: Int32
    assignment_epoch: Int32
    topology: DescribedTopology | None = None
    members: tuple[DescribedMember, ...]
    authorized_operations: Int32 = -(2**31)  # a bit set; the default: not asked for
    topology_description: Annotated[TopologyDescription | None, Since(1)] = None
    topology_description_status: Annotated[Int8, Since(1)] = 0
    assignor_name: Annotated[String | None, Since(1)] = None


@message(versions=range(2), flexible=0)
class StreamsGroupDescribeResponse:
    throttle_time_ms: Int32 = 0
    groups: tuple[DescribedGroup, ...]


@message(versions=range(1), flexible=0)
class StreamsGroupTopologyDescriptionUpdateRequest:
    group_id: String
    member_id: String
    topology_epoch: Int32
    topology_description: TopologyDescription


@message(versions=range(1), flexible=0)
class StreamsGroupTopologyDescriptionUpdateResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
