"""A request to join a group: who is let in at once, who is named first, who takes a place, who is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.groups.answer import join_refused, sync_refused
from odradek.groups.group import State
from odradek.groups.member import Member
from odradek.model.errors import ErrorCode

if TYPE_CHECKING:
    from odradek.groups.answer import Answers, Ticket
    from odradek.groups.group import Group
    from odradek.groups.member import Joining
    from odradek.groups.moment import Moment
    from odradek.model.outcome import Outcome

NEW_MEMBER_JOINS_WITHIN_MS = 300_000  # it has no id to send heartbeats with, so only this ends its wait


def join(group: Group, joining: Joining, ticket: Ticket, now: Moment) -> Outcome[Answers]:
    if not _has_room_for(group, joining.member_id):
        group.expel(joining.member_id)
        group.answer(ticket, join_refused(ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not _is_compatible(group, joining):
        group.answer(ticket, join_refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, joining.member_id))
    elif joining.member_id == "":
        _join_as_new(group, joining, ticket, now)
    elif joining.member_id in group.named and joining.instance_id is not None:
        group.answer(ticket, join_refused(ErrorCode.UNKNOWN_SERVER_ERROR))  # no static member is named first
    elif joining.member_id in group.named:
        _add(group, joining, joining.member_id, ticket, now)
    else:
        _join_again(group, joining, ticket, now)
    group.complete_join_if_all_are_here(now)
    return group.take_outcome()


def _has_room_for(group: Group, id: str) -> bool:
    """Who waits already may stay, even where the group has grown too large for its limit."""
    members, limit = group.members, group.settings.members_max
    if group.state is State.EMPTY:
        return True
    if group.state is State.PREPARING:
        member = members.get(id)
        waits = member is not None and member.awaits_join is not None
        return waits or len(members) < limit or sum(each.awaits_join is not None for each in members) < limit
    return id in members or len(members) < limit


def _is_compatible(group: Group, joining: Joining) -> bool:
    if not group.members:
        return bool(joining.protocol_type and joining.protocols)
    is_of_type = group.protocol_type == joining.protocol_type
    return is_of_type and group.members.understands_one_of(joining.protocols)


def _join_as_new(group: Group, joining: Joining, ticket: Ticket, now: Moment) -> None:
    static_name = joining.instance_id
    id = f"{joining.client_id if static_name is None else static_name}-{joining.fresh_id}"
    known_id = None if static_name is None else group.members.id_of(static_name)
    if known_id is not None:
        _replace(group, group.members[known_id], joining, id, ticket, now)
    elif static_name is None and joining.needs_id_first:
        group.name(id, joining.session_timeout_ms, now)
        group.answer(ticket, join_refused(ErrorCode.MEMBER_ID_REQUIRED, id))
    else:
        _add(group, joining, id, ticket, now)


def _add(group: Group, joining: Joining, id: str, ticket: Ticket, now: Moment) -> None:
    if not group.members:
        group.protocol_type = joining.protocol_type
    member = Member.of(joining, id)
    member.is_new = True
    member.awaits_join = ticket
    group.add(member)
    group.expect(member, NEW_MEMBER_JOINS_WITHIN_MS, now)
    group.rebalance(now)


def _join_again(group: Group, joining: Joining, ticket: Ticket, now: Moment) -> None:
    refusal = group.check_member(joining.member_id, joining.instance_id)
    if refusal is not ErrorCode.NONE:
        group.answer(ticket, join_refused(refusal, joining.member_id))
        return
    member = group.members[joining.member_id]
    leads = member.id == group.members.leader_id
    can_look = group.state is State.COMPLETING or (group.state is State.STABLE and not leads)
    if can_look and member.protocols == joining.protocols:
        # It missed the answer. A leader of a stable group does not look: its topics may have changed.
        group.answer(ticket, group.joined(member, tells_members=leads))
        return
    if member.awaits_join is not None:
        group.answer(member.awaits_join, join_refused(ErrorCode.REBALANCE_IN_PROGRESS, member.id))
    group.members.rejoin(member, joining)
    member.awaits_join = ticket
    group.rebalance(now)


def _replace(group: Group, old: Member, joining: Joining, id: str, ticket: Ticket, now: Moment) -> None:
    """A static member starts anew: it takes its own place, and who still goes by its old id is fenced."""
    leader_before = group.members.leader_id
    if old.awaits_join is not None:
        group.answer(old.awaits_join, join_refused(ErrorCode.FENCED_INSTANCE_ID, old.id))
    if old.awaits_sync is not None:
        group.answer(old.awaits_sync, sync_refused(ErrorCode.FENCED_INSTANCE_ID))
    member = group.members.rename(old, id)
    group.members.rejoin(member, joining)
    group.expect(member, member.session_timeout_ms, now)
    if group.state is not State.STABLE or group.members.chosen_protocol() != group.protocol:
        member.awaits_join = ticket
        group.rebalance(now)
        return
    # All goes on as it was. A leader that understands it is told to lead without assigning; one that does not
    # is told of its former self, and so takes itself for a follower.
    group.store({each.id: each.assignment for each in group.members})
    if joining.may_skip_assignment:
        leads = id == group.members.leader_id
        response = group.joined(member, tells_members=leads, skips_assignment=leads)
    else:
        response = group.joined(member, tells_members=False, leader=leader_before)
    group.answer(ticket, response)
