"""Answers to those who wait: a join ends with the rebalance, a sync with the leader's, both with a leave."""

from __future__ import annotations

from typing import NamedTuple, NewType, TypeAlias, assert_never

from odradek.model.errors import ErrorCode
from odradek.wire.messages.groups import JoinGroupResponse, LeaveGroupResponse, SyncGroupResponse

NO_PROTOCOL_IS_NULL_SINCE = 7  # of JoinGroup
MANY_LEAVE_SINCE = 3  # of LeaveGroup

Ticket = NewType("Ticket", int)  # a request that waits, as whoever brought it knows it
Response: TypeAlias = JoinGroupResponse | SyncGroupResponse | LeaveGroupResponse


class Answer(NamedTuple):
    ticket: Ticket
    response: Response

    def refused(self, error: ErrorCode) -> Answer:
        """Instead of this one, when what it depends on could not be made durable."""
        match self.response:
            case JoinGroupResponse():
                return Answer(self.ticket, join_refused(error))
            case SyncGroupResponse():
                return Answer(self.ticket, sync_refused(error))
            case LeaveGroupResponse():
                return Answer(self.ticket, LeaveGroupResponse(error_code=error.code))
            case _:
                assert_never(self.response)


Answers: TypeAlias = tuple[Answer, ...]


def join_refused(error: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=error.code, protocol_name=None, leader="", member_id=member_id, members=()
    )


def sync_refused(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error.code, assignment=b"")


def in_version(response: Response, version: int) -> Response:
    """As a request of this version can be answered."""
    match response:
        case JoinGroupResponse(protocol_name=None) if version < NO_PROTOCOL_IS_NULL_SINCE:
            return JoinGroupResponse(
                error_code=response.error_code,
                protocol_name="",
                leader=response.leader,
                member_id=response.member_id,
                members=response.members,
            )
        case LeaveGroupResponse(error_code=0, members=members) if version < MANY_LEAVE_SINCE:
            return LeaveGroupResponse(error_code=next((each.error_code for each in members), 0))
    return response
