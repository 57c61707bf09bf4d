"""Consumer groups whose assignment the coordinator computes (KIP-848).

ConsumerGroupHeartbeat (key 68): join, keep alive, learn the assignment, leave.
  v1  topics by regular expression, and members that choose their own id (KIP-1082).

ConsumerGroupDescribe (key 69)
  v1  tells classic members from new ones (KIP-1099).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Since, String, Uuid, message


@message
class TopicPartitions:
    topic_id: Uuid
    partitions: tuple[Int32, ...]


@message(versions=range(2), flexible=0)
class ConsumerGroupHeartbeatRequest:
    group_id: String
    member_id: String
    member_epoch: Int32  # 0 join, -1 leave, -2 leave for a while (static)
    instance_id: String | None = None
    rack_id: String | None = None
    rebalance_timeout_ms: Int32 = -1  # from here on: -1 or null says unchanged
    subscribed_topic_names: tuple[String, ...] | None = None
    subscribed_topic_regex: Annotated[String | None, Since(1)] = None
    server_assignor: String | None = None
    topic_partitions: tuple[TopicPartitions, ...] | None = None  # what the member owns


@message
class Assignment:
    topic_partitions: tuple[TopicPartitions, ...]


@message(versions=range(2), flexible=0)
class ConsumerGroupHeartbeatResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = None  # null: unchanged


@message(versions=range(2), flexible=0)
class ConsumerGroupDescribeRequest:
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
    instance_id: String | None = None
    rack_id: String | None = None
    member_epoch: Int32
    client_id: String
    client_host: String
    subscribed_topic_names: tuple[String, ...]
    subscribed_topic_regex: String | None = None
    assignment: DescribedAssignment
    target_assignment: DescribedAssignment
    member_type: Annotated[Int8, Since(1)] = -1  # -1 unknown, 0 classic, 1 consumer


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


@message(versions=range(2), flexible=0)
class ConsumerGroupDescribeResponse:
    throttle_time_ms: Int32 = 0
    groups: tuple[DescribedGroup, ...]
