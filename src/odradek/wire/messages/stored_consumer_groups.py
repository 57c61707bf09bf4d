"""What KIP-848 groups keep in __consumer_offsets, framed as `stored` describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from odradek.wire.schema import Bytes, Int8, Int32, Int64, String, Tagged, Uuid, default_of, message


@message(versions=range(1))
class ConsumerGroupMetadataKey:
    group_id: String


@message(versions=range(1), flexible=0)
class ConsumerGroupMetadataValue:
    epoch: Int32
    metadata_hash: Annotated[Int64, Tagged(0, since=0)] = 0


@message(versions=range(1))
class ConsumerGroupPartitionMetadataKey:
    group_id: String


@message
class PartitionMetadata:
    partition: Int32
    racks: tuple[String, ...]


@message
class TopicMetadata:
    topic_id: Uuid
    topic_name: String
    num_partitions: Int32
    partition_metadata: tuple[PartitionMetadata, ...]


@message(versions=range(1), flexible=0)
class ConsumerGroupPartitionMetadataValue:
    topics: tuple[TopicMetadata, ...]


@message(versions=range(1))
class ConsumerGroupMemberMetadataKey:
    group_id: String
    member_id: String


@message
class ClassicProtocol:
    name: String
    metadata: Bytes


@message
class ClassicMember:
    session_timeout_ms: Int32
    supported_protocols: tuple[ClassicProtocol, ...]


@message(versions=range(1), flexible=0)
class ConsumerGroupMemberMetadataValue:
    instance_id: String | None
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: tuple[String, ...]
    subscribed_topic_regex: String | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: String | None
    # null: not a member that speaks the classic protocol
    classic_member_metadata: Annotated[ClassicMember | None, Tagged(0, since=0)] = default_of(ClassicMember)


@message(versions=range(1))
class ConsumerGroupTargetAssignmentMetadataKey:
    group_id: String


@message(versions=range(1), flexible=0)
class ConsumerGroupTargetAssignmentMetadataValue:
    assignment_epoch: Int32
    assignment_timestamp: Annotated[Int64, Tagged(0, since=0)] = 0


@message(versions=range(1))
class ConsumerGroupTargetAssignmentMemberKey:
    group_id: String
    member_id: String


@message
class TargetPartitions:
    topic_id: Uuid
    partitions: tuple[Int32, ...]


@message(versions=range(1), flexible=0)
class ConsumerGroupTargetAssignmentMemberValue:
    topic_partitions: tuple[TargetPartitions, ...]


@message(versions=range(1))
class ConsumerGroupCurrentMemberAssignmentKey:
    group_id: String
    member_id: String


@message
class OwnedPartitions:
    topic_id: Uuid
    partitions: tuple[Int32, ...]
    assignment_epochs: Annotated[tuple[Int32, ...] | None, Tagged(0, since=0)] = ()


@message(versions=range(1), flexible=0)
class ConsumerGroupCurrentMemberAssignmentValue:
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: tuple[OwnedPartitions, ...]
    partitions_pending_revocation: tuple[OwnedPartitions, ...]


@message(versions=range(1))
class ConsumerGroupRegularExpressionKey:
    group_id: String
    regular_expression: String


@message(versions=range(1), flexible=0)
class ConsumerGroupRegularExpressionValue:
    topics: tuple[String, ...]
    version: Int64
    timestamp: Int64


GROUP_RECORDS: Mapping[int, tuple[type, type]] = {
    3: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    4: (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    16: (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
}
