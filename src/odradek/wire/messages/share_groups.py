"""Share groups (KIP-932): members and records. Version 0 was 3.9's preview and is not served by anyone else.

ShareGroupHeartbeat (key 76), ShareGroupDescribe (key 77)

ShareFetch (key 78), ShareAcknowledge (key 79)
  v2  acquire modes (KIP-1206); locks may be renewed (KIP-1222).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Int64, Records, Since, String, Uuid, message


@message(versions=range(1, 2), flexible=0)
class ShareGroupHeartbeatRequest:
    group_id: String
    member_id: String
    member_epoch: Int32  # 0 join, -1 leave
    rack_id: String | None = None
    subscribed_topic_names: tuple[String, ...] | None = None


@message
class TopicPartitions:
    topic_id: Uuid
    partitions: tuple[Int32, ...]


@message
class Assignment:
    topic_partitions: tuple[TopicPartitions, ...]


@message(versions=range(1, 2), flexible=0)
class ShareGroupHeartbeatResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = None  # null: unchanged


@message(versions=range(1, 2), flexible=0)
class ShareGroupDescribeRequest:
    group_ids: tuple[String, ...]
    include_authorized_operations: Bool


@message
class DescribedTopicPartitions:
    topic_id: Uuid
    topic_name: String
    partitions: tuple[Int32, ...]


@message
class DescribedAssignment:
    topic_partitions: tuple[DescribedTopicPartitions, ...]


@message
class DescribedMember:
    member_id: String
    rack_id: String | None = None
    member_epoch: Int32
    client_id: String
    client_host: String
    subscribed_topic_names: tuple[String, ...]
    assignment: DescribedAssignment


@message
class DescribedGroup:
    error_code: Int16
    error_message: String | None = None
    group_id: String
    group_state: String
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: String
    members: tuple[DescribedMember, ...]
    authorized_operations: Int32 = -(2**31)  # a bit set; the default: not asked for


@message(versions=range(1, 2), flexible=0)
class ShareGroupDescribeResponse:
    throttle_time_ms: Int32 = 0
    groups: tuple[DescribedGroup, ...]


@message
class AcknowledgementBatch:
    first_offset: Int64
    last_offset: Int64
    # 0 gap, 1 accept, 2 release, 3 reject, 4 renew; one for all, or one each
    acknowledge_types: tuple[Int8, ...]


@message
class ShareFetchPartition:
    partition_index: Int32
    acknowledgement_batches: tuple[AcknowledgementBatch, ...]


@message
class ShareFetchTopic:
    topic_id: Uuid
    partitions: tuple[ShareFetchPartition, ...]


@message
class ForgottenTopic:
    topic_id: Uuid
    partitions: tuple[Int32, ...]


@message(versions=range(1, 3), flexible=0)
class ShareFetchRequest:
    group_id: String | None = None
    member_id: String | None
    share_session_epoch: Int32  # 0 opens, -1 closes
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = 2**31 - 1
    max_records: Int32
    batch_size: Int32
    share_acquire_mode: Annotated[Int8, Since(2)] = 0
    is_renew_ack: Annotated[Bool, Since(2)] = False
    topics: tuple[ShareFetchTopic, ...]
    forgotten_topics_data: tuple[ForgottenTopic, ...]


@message
class CurrentLeader:
    leader_id: Int32
    leader_epoch: Int32


@message
class AcquiredRecords:
    first_offset: Int64
    last_offset: Int64
    delivery_count: Int16


@message
class ShareFetchedPartition:
    partition_index: Int32
    error_code: Int16
    error_message: String | None = None
    acknowledge_error_code: Int16
    acknowledge_error_message: String | None = None
    current_leader: CurrentLeader
    records: Records
    acquired_records: tuple[AcquiredRecords, ...]


@message
class ShareFetchedTopic:
    topic_id: Uuid
    partitions: tuple[ShareFetchedPartition, ...]


@message
class NodeEndpoint:
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


@message(versions=range(1, 3), flexible=0)
class ShareFetchResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    acquisition_lock_timeout_ms: Int32
    responses: tuple[ShareFetchedTopic, ...]
    node_endpoints: tuple[NodeEndpoint, ...]


@message
class AcknowledgePartition:
    partition_index: Int32
    acknowledgement_batches: tuple[AcknowledgementBatch, ...]


@message
class AcknowledgeTopic:
    topic_id: Uuid
    partitions: tuple[AcknowledgePartition, ...]


@message(versions=range(1, 3), flexible=0)
class ShareAcknowledgeRequest:
    group_id: String | None = None
    member_id: String | None
    share_session_epoch: Int32
    is_renew_ack: Annotated[Bool, Since(2)] = False
    topics: tuple[AcknowledgeTopic, ...]


@message
class AcknowledgedPartition:
    partition_index: Int32
    error_code: Int16
    error_message: String | None = None
    current_leader: CurrentLeader


@message
class AcknowledgedTopic:
    topic_id: Uuid
    partitions: tuple[AcknowledgedPartition, ...]


@message(versions=range(1, 3), flexible=0)
class ShareAcknowledgeResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    acquisition_lock_timeout_ms: Annotated[Int32, Since(2)] = 0
    responses: tuple[AcknowledgedTopic, ...]
    node_endpoints: tuple[NodeEndpoint, ...]
