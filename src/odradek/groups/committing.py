"""Who may commit offsets for a group, and what may stand beside an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.groups.group import State
from odradek.model.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from odradek.groups.group import Group

NO_GENERATION = -1


class Committer(NamedTuple):
    """As whom somebody commits. Who is no member has neither id nor generation."""

    group_id: str
    member_id: str = ""
    instance_id: str | None = None
    generation: int = NO_GENERATION
    is_transactional: bool = False

    @property
    def is_member(self) -> bool:
        return self.generation > NO_GENERATION or self.member_id != "" or self.instance_id is not None


def check(committer: Committer, group: Group | None) -> None:
    """`ApiError` unless it may. A group that nobody has heard of is anybody's."""
    if group is None:
        if committer.generation > NO_GENERATION:
            unknown = (
                ErrorCode.UNKNOWN_MEMBER_ID if committer.is_transactional else ErrorCode.ILLEGAL_GENERATION
            )
            raise ApiError(unknown)
        return
    if committer.generation <= NO_GENERATION and group.state is State.EMPTY:
        return
    if committer.is_member:
        refusal = group.check_member(committer.member_id, committer.instance_id)
        if refusal is not ErrorCode.NONE:
            raise ApiError(refusal)
        if committer.generation != group.generation:
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    elif not committer.is_transactional:  # which, before v3 of its request, does not say who it is
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    if group.state is State.COMPLETING and not committer.is_transactional:
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)


def is_short_enough(metadata: str, length_max: int) -> bool:
    """Counted as Java counts: in units of UTF-16."""
    if metadata.isascii():
        return len(metadata) <= length_max
    return len(metadata.encode("utf-16-le", "surrogatepass")) // 2 <= length_max
