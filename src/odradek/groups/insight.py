"""How each member of a group fares: for whom the others wait, and since when who has been silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.groups.group import State
from odradek.groups.moment import NEVER_MS
from odradek.wire.insight import Insight

if TYPE_CHECKING:
    from odradek.groups.group import Group
    from odradek.groups.member import Member
    from odradek.groups.moment import Moment

_NOT_SILENT = -1


def insight(group: Group, member: Member, now: Moment) -> Insight:
    return Insight(_is_awaited(group, member), _silent_ms(member, now), member.session_timeout_ms)


def _is_awaited(group: Group, member: Member) -> bool:
    if group.state is State.PREPARING:
        return member.awaits_join is None
    if group.state is State.COMPLETING:
        return member.id == group.members.leader_id and member.awaits_sync is None
    return False


def _silent_ms(member: Member, now: Moment) -> int:
    """Every sign of life moves its deadline to a session's length from then."""
    if member.is_excused or member.is_new or member.deadline_ms == NEVER_MS:
        return _NOT_SILENT
    return max(int(now.elapsed_ms - (member.deadline_ms - member.session_timeout_ms)), 0)
