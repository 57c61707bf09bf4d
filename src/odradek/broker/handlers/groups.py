"""Membership of groups: to the shard that coordinates them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from odradek.broker.operations import NOT_ASKED_FOR, ON_GROUP
from odradek.groups.answer import MANY_LEAVE_SINCE, join_refused, sync_refused
from odradek.groups.group import State
from odradek.groups.insight import insight
from odradek.groups.member import Joining
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.insight import is_asked, telling
from odradek.wire.messages.groups import (
    DeletedGroup,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribedMember,
    DescribeGroupsResponse,
    HeartbeatResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    ListedGroup,
    ListGroupsResponse,
    SyncGroupResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.parked import Parked
    from odradek.groups.answer import Response
    from odradek.groups.group import Group
    from odradek.wire.messages.groups import (
        DeleteGroupsRequest,
        DescribeGroupsRequest,
        HeartbeatRequest,
        JoinGroupRequest,
        ListGroupsRequest,
        SyncGroupRequest,
    )

CLASSIC = "classic"  # the only kind of group there is


# -- JoinGroup, SyncGroup ----------------------------------------------------------------------------------


def join_group(ctx: RequestContext, request: JoinGroupRequest) -> Response | Parked[Response]:
    groups = ctx.services.groups
    joining = Joining(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        client_id=ctx.client_id or "",
        client_host=f"/{ctx.connection.peer.host}",
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if ctx.version >= 1 else request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=tuple((each.name, each.metadata) for each in request.protocols),
        fresh_id=""
        if request.member_id
        else str(UUID(bytes=ctx.services.entropy.random_bytes(16), version=4)),
        needs_id_first=ctx.version >= 4,
        may_skip_assignment=ctx.version >= 9,
    )
    return groups.ask(
        ctx,
        request.group_id,
        lambda shard, ticket: shard.join(request.group_id, joining, ticket, groups.now()),
        lambda error: join_refused(error, request.member_id),
    )


def sync_group(ctx: RequestContext, request: SyncGroupRequest) -> Response | Parked[Response]:
    groups = ctx.services.groups
    if ctx.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        return sync_refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return groups.ask(
        ctx,
        request.group_id,
        lambda shard, ticket: shard.sync(request, ticket, groups.now()),
        _refuse_sync,
    )


def _refuse_sync(error: ErrorCode) -> SyncGroupResponse:
    """A coordinator that is being loaded has lost the rebalance: the member is to join again, here."""
    is_loading = error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return sync_refused(ErrorCode.REBALANCE_IN_PROGRESS if is_loading else error)


# -- Heartbeat, LeaveGroup ---------------------------------------------------------------------------------


def heartbeat(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    groups = ctx.services.groups
    try:
        hosted = groups.hosting(request.group_id)
    except ApiError as refusal:
        if refusal.error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:  # nobody knows better yet
            return HeartbeatResponse(error_code=0)
        raise
    error = hosted.shard.heartbeat(request, groups.now())
    return HeartbeatResponse(error_code=error.code)


def leave_group(ctx: RequestContext, request: LeaveGroupRequest) -> Response | Parked[Response]:
    groups = ctx.services.groups
    leaving = request
    if ctx.version < MANY_LEAVE_SINCE:
        leaving = LeaveGroupRequest(
            group_id=request.group_id, members=(LeavingMember(member_id=request.member_id),)
        )
    return groups.ask(
        ctx,
        request.group_id,
        lambda shard, ticket: shard.leave(leaving, ticket, groups.now()),
        lambda error: LeaveGroupResponse(error_code=error.code),
    )


# -- DescribeGroups, ListGroups ----------------------------------------------------------------------------


def describe_groups(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    operations = ON_GROUP if request.include_authorized_operations else NOT_ASKED_FOR
    describe = _described_in_depth if is_asked(request) else _described
    return DescribeGroupsResponse(
        groups=tuple(describe(ctx, group_id, operations) for group_id in request.groups)
    )


def refuse_describe_groups(request: DescribeGroupsRequest, refusal: ApiError) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=tuple(_no_group(group_id, refusal.error, state="") for group_id in request.groups)
    )


def _described(ctx: RequestContext, group_id: str, operations: int) -> DescribedGroup:
    try:
        group = ctx.services.groups.hosting(group_id, may_be_empty=True).shard.find(group_id)
    except ApiError as refusal:
        return _no_group(group_id, refusal.error, state="")
    if group is None:
        is_an_error = ctx.version >= 6
        return _no_group(
            group_id,
            ErrorCode.GROUP_ID_NOT_FOUND if is_an_error else ErrorCode.NONE,
            state=State.DEAD.value,
            message=f"Group {group_id} not found." if is_an_error else None,
            operations=operations,
        )
    is_stable = group.state is State.STABLE
    return DescribedGroup(
        error_code=0,
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if is_stable else "",
        members=_members(group),
        authorized_operations=operations,
    )


def _described_in_depth(ctx: RequestContext, group_id: str, operations: int) -> DescribedGroup:
    described = _described(ctx, group_id, operations)
    groups = ctx.services.groups
    for each in described.members:
        group = groups.hosting(group_id, may_be_empty=True).shard.find(group_id)
        assert group is not None, "it has members"
        telling(each, insight(group, group.members[each.member_id], groups.now()))
    return described


def _members(group: Group) -> tuple[DescribedMember, ...]:
    """What they want and have is told of a stable group only: else it may be about to change."""
    is_stable = group.state is State.STABLE
    return tuple(
        DescribedMember(
            member_id=member.id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.metadata(group.protocol) if is_stable else b"",
            member_assignment=member.assignment if is_stable else b"",
        )
        for member in group.members
    )


def _no_group(
    group_id: str,
    error: ErrorCode,
    *,
    state: str,
    message: str | None = None,
    operations: int = NOT_ASKED_FOR,
) -> DescribedGroup:
    return DescribedGroup(
        error_code=error.code,
        error_message=message,
        group_id=group_id,
        group_state=state,
        protocol_type="",
        protocol_data="",
        members=(),
        authorized_operations=operations,
    )


def list_groups(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """Those of this broker. While it still loads some, it says so and tells the others."""
    shards = ctx.services.groups.shards
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    listed = [
        ListedGroup(
            group_id=group.id,
            protocol_type=group.protocol_type or "",
            group_state=group.state.value,
            group_type=CLASSIC,
        )
        for hosted in (shards if not types or CLASSIC in types else ())
        for group in hosted.shard
        if not states or group.state.value.lower() in states
    ]
    error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if shards.is_loading else ErrorCode.NONE
    return ListGroupsResponse(error_code=error.code, groups=tuple(listed))


# -- DeleteGroups ------------------------------------------------------------------------------------------


async def delete_groups(ctx: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    results = []
    for group_id in dict.fromkeys(request.groups_names):
        error = await _delete(ctx, group_id)
        results.append(DeletedGroup(group_id=group_id, error_code=error.code))
    return DeleteGroupsResponse(results=tuple(results))


def refuse_delete_groups(request: DeleteGroupsRequest, refusal: ApiError) -> DeleteGroupsResponse:
    error = refusal.error.code
    return DeleteGroupsResponse(
        results=tuple(DeletedGroup(group_id=group_id, error_code=error) for group_id in request.groups_names)
    )


async def _delete(ctx: RequestContext, group_id: str) -> ErrorCode:
    try:
        hosted = ctx.services.groups.hosting(group_id, may_be_empty=True)
        outcome = hosted.shard.delete(group_id)
        if outcome.records:
            await hosted.committed(hosted.write(outcome.records))
    except ApiError as refusal:
        return refusal.error
    return ErrorCode.NONE
