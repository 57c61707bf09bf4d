"""What share groups keep in __consumer_offsets and __share_group_state, framed as `stored` describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from odradek.wire.schema import Int8, Int16, Int32, Int64, String, Tagged, Uuid, message


@message(versions=range(1))
class ShareGroupMemberMetadataKey:
    group_id: String
    member_id: String


@message(versions=range(1), flexible=0)
class ShareGroupMemberMetadataValue:
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: tuple[String, ...]


@message(versions=range(1))
class ShareGroupMetadataKey:
    group_id: String


@message(versions=range(1), flexible=0)
class ShareGroupMetadataValue:
    epoch: Int32
    metadata_hash: Int64


@message(versions=range(1))
class ShareGroupTargetAssignmentMetadataKey:
    group_id: String


@message(versions=range(1), flexible=0)
class ShareGroupTargetAssignmentMetadataValue:
    assignment_epoch: Int32
    assignment_timestamp: Annotated[Int64, Tagged(0, since=0)] = 0


@message(versions=range(1))
class ShareGroupTargetAssignmentMemberKey:
    group_id: String
    member_id: String


@message
class TopicPartitions:
    topic_id: Uuid
    partitions: tuple[Int32, ...]


@message(versions=range(1), flexible=0)
class ShareGroupTargetAssignmentMemberValue:
    topic_partitions: tuple[TopicPartitions, ...]


@message(versions=range(1))
class ShareGroupCurrentMemberAssignmentKey:
    group_id: String
    member_id: String


@message(versions=range(1), flexible=0)
class ShareGroupCurrentMemberAssignmentValue:
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: tuple[TopicPartitions, ...]


@message(versions=range(1))
class ShareGroupStatePartitionMetadataKey:
    group_id: String


@message
class TopicPartitionsInfo:
    topic_id: Uuid
    topic_name: String
    partitions: tuple[Int32, ...]


@message
class TopicInfo:
    topic_id: Uuid
    topic_name: String


@message(versions=range(1), flexible=0)
class ShareGroupStatePartitionMetadataValue:
    initializing_topics: tuple[TopicPartitionsInfo, ...]
    initialized_topics: tuple[TopicPartitionsInfo, ...]
    deleting_topics: tuple[TopicInfo, ...]


@message(versions=range(1))
class ShareSnapshotKey:
    group_id: String
    topic_id: Uuid
    partition: Int32


@message
class StateBatch:
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


@message(versions=range(1), flexible=0)
class ShareSnapshotValue:
    snapshot_epoch: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Annotated[Int32, Tagged(0, since=0)] = -1
    create_timestamp: Int64
    write_timestamp: Int64
    state_batches: tuple[StateBatch, ...]


@message(versions=range(1))
class ShareUpdateKey:
    group_id: String
    topic_id: Uuid
    partition: Int32


@message(versions=range(1), flexible=0)
class ShareUpdateValue:
    snapshot_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Annotated[Int32, Tagged(0, since=0)] = -1
    state_batches: tuple[StateBatch, ...]


GROUP_RECORDS: Mapping[int, tuple[type, type]] = {
    10: (ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue),
    11: (ShareGroupMetadataKey, ShareGroupMetadataValue),
    12: (ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue),
    13: (ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue),
    14: (ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue),
    15: (ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue),
}
SHARE_STATE_RECORDS: Mapping[int, tuple[type, type]] = {
    0: (ShareSnapshotKey, ShareSnapshotValue),
    1: (ShareUpdateKey, ShareUpdateValue),
}
