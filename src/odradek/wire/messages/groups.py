"""Classic consumer groups: members, their generations, and how administrators see them.

JoinGroup (key 11)
  v1  a rebalance timeout of its own.         v2  answers a throttle time.
  v4  a member is given its id first and joins with it (KIP-394).
  v5  static members (KIP-345).               v6  flexible versions.
  v7  answers the protocol type (KIP-559).    v8  the reason for joining (KIP-800).
  v9  the leader may be told to skip the assignment (KIP-814).

SyncGroup (key 14), Heartbeat (key 12)
  v1  answers a throttle time.                v3  static members (KIP-345).
  v4  flexible versions.                      v5  SyncGroup: protocol type and name (KIP-559).

LeaveGroup (key 13)
  v1  answers a throttle time.                v3  many members at once (KIP-345).
  v4  flexible versions.                      v5  the reason for leaving (KIP-800).

DescribeGroups (key 15)
  v1  answers a throttle time.                v3  authorised operations (KIP-430).
  v4  static members (KIP-345).               v5  flexible versions.
  v6  an error message, and GROUP_ID_NOT_FOUND for no such group (KIP-1043).

ListGroups (key 16)
  v1  answers a throttle time.                v3  flexible versions.
  v4  by state (KIP-518).                     v5  by type (KIP-848).

DeleteGroups (key 42)
  v1  throttled by the client (KIP-219).      v2  flexible versions.
  v3  an error message.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Bytes, Int16, Int32, NullableSince, Since, String, Until, message


@message
class JoinGroupProtocol:
    name: String
    metadata: Bytes


@message(versions=range(10), flexible=6)
class JoinGroupRequest:
    group_id: String
    session_timeout_ms: Int32
    rebalance_timeout_ms: Annotated[Int32, Since(1)] = -1  # -1 (v0): the session's
    member_id: String  # empty: a new member
    group_instance_id: Annotated[String | None, Since(5)] = None
    protocol_type: String
    protocols: tuple[JoinGroupProtocol, ...]  # most preferred first
    reason: Annotated[String | None, Since(8)] = None


@message
class JoinGroupMember:
    member_id: String
    group_instance_id: Annotated[String | None, Since(5)] = None
    metadata: Bytes


@message(versions=range(10), flexible=6)
class JoinGroupResponse:
    throttle_time_ms: Annotated[Int32, Since(2)] = 0
    error_code: Int16
    generation_id: Int32 = -1
    protocol_type: Annotated[String | None, Since(7)] = None
    protocol_name: Annotated[String | None, NullableSince(7)]
    leader: String
    skip_assignment: Annotated[Bool, Since(9)] = False
    member_id: String
    members: tuple[JoinGroupMember, ...]  # for the leader; empty for the others


@message
class SyncGroupAssignment:
    member_id: String
    assignment: Bytes


@message(versions=range(6), flexible=4)
class SyncGroupRequest:
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: Annotated[String | None, Since(3)] = None
    protocol_type: Annotated[String | None, Since(5)] = None
    protocol_name: Annotated[String | None, Since(5)] = None
    assignments: tuple[SyncGroupAssignment, ...]  # from the leader; empty from the others


@message(versions=range(6), flexible=4)
class SyncGroupResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    error_code: Int16
    protocol_type: Annotated[String | None, Since(5)] = None
    protocol_name: Annotated[String | None, Since(5)] = None
    assignment: Bytes


@message(versions=range(5), flexible=4)
class HeartbeatRequest:
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: Annotated[String | None, Since(3)] = None


@message(versions=range(5), flexible=4)
class HeartbeatResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    error_code: Int16


@message
class LeavingMember:
    member_id: String
    group_instance_id: String | None = None
    reason: Annotated[String | None, Since(5)] = None


@message(versions=range(6), flexible=4)
class LeaveGroupRequest:
    group_id: String
    member_id: Annotated[String, Until(2)] = ""
    members: Annotated[tuple[LeavingMember, ...], Since(3)] = ()


@message
class LeftMember:
    member_id: String
    group_instance_id: String | None
    error_code: Int16


@message(versions=range(6), flexible=4)
class LeaveGroupResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    error_code: Int16
    members: Annotated[tuple[LeftMember, ...], Since(3)] = ()


@message(versions=range(7), flexible=5)
class DescribeGroupsRequest:
    groups: tuple[String, ...]
    include_authorized_operations: Annotated[Bool, Since(3)] = False


@message
class DescribedMember:
    member_id: String
    group_instance_id: Annotated[String | None, Since(4)] = None
    client_id: String
    client_host: String
    member_metadata: Bytes
    member_assignment: Bytes


@message
class DescribedGroup:
    error_code: Int16
    error_message: Annotated[String | None, Since(6)] = None
    group_id: String
    group_state: String
    protocol_type: String
    protocol_data: String  # the protocol's name
    members: tuple[DescribedMember, ...]
    authorized_operations: Annotated[Int32, Since(3)] = -(2**31)  # a bit set; the default: not asked for


@message(versions=range(7), flexible=5)
class DescribeGroupsResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    groups: tuple[DescribedGroup, ...]


@message(versions=range(6), flexible=3)
class ListGroupsRequest:
    states_filter: Annotated[tuple[String, ...], Since(4)] = ()
    types_filter: Annotated[tuple[String, ...], Since(5)] = ()


@message
class ListedGroup:
    group_id: String
    protocol_type: String
    group_state: Annotated[String, Since(4)] = ""
    group_type: Annotated[String, Since(5)] = ""


@message(versions=range(6), flexible=3)
class ListGroupsResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    error_code: Int16
    groups: tuple[ListedGroup, ...]


@message(versions=range(4), flexible=2)
class DeleteGroupsRequest:
    groups_names: tuple[String, ...]


@message
class DeletedGroup:
    group_id: String
    error_code: Int16
    error_message: Annotated[String | None, Since(3)] = None


@message(versions=range(4), flexible=2)
class DeleteGroupsResponse:
    throttle_time_ms: Int32 = 0
    results: tuple[DeletedGroup, ...]
