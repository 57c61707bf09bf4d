"""A group shard with a log in memory, a clock that is moved by hand, and the laws it must never break.

What the shard decides is carried out at once: records are appended and replayed, answers are kept by ticket.
`reload` is what a broker does that takes the partition over: everything that was not stored is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from odradek.groups.answer import Answers, Response, Ticket
from odradek.groups.committing import Committer
from odradek.groups.group import Group, State
from odradek.groups.member import Joining, Protocols
from odradek.groups.moment import Moment
from odradek.groups.offsets import Place
from odradek.groups.settings import GroupSettings
from odradek.groups.shard import GroupShard
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.outcome import Outcome, StoredRecord
from odradek.wire.messages.groups import (
    HeartbeatRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeavingMember,
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)
from odradek.wire.messages.stored import OffsetCommitValue

NO_PRODUCER = -1
START_MS = 1_700_000_000_000
_OF_A_GROUP = b"\0\2"  # how the key of a group's record begins
RANGE: Protocols = (("range", b"meta"),)


@dataclass(frozen=True, slots=True)
class Written:
    record: StoredRecord
    producer_id: int = NO_PRODUCER


@dataclass(frozen=True, slots=True)
class Decided:
    """A transaction's marker."""

    producer_id: int
    committed: bool


Entry: TypeAlias = Written | Decided


@dataclass(slots=True)
class GroupLife:
    settings: GroupSettings = field(default_factory=GroupSettings)
    refuses_writes: bool = False
    log: list[Entry] = field(default_factory=list)
    answers: dict[Ticket, Response] = field(default_factory=dict)
    elapsed_ms: float = 0
    shard: GroupShard = field(init=False)
    _asked: set[Ticket] = field(default_factory=set)  # since the shard was loaded
    _names: int = 0
    _is_behind: bool = False  # the log: a group was to be written since it last was, and could not

    def __post_init__(self) -> None:
        self.shard = GroupShard(self.settings)

    # -- what members do ---------------------------------------------------------------------------------

    def join(
        self,
        group: str = "g",
        *,
        name: str = "ann",
        id: str = "",
        instance: str | None = None,
        session_ms: int = 10_000,
        rebalance_ms: int = 30_000,
        protocols: Protocols = RANGE,
        version: int = 3,
    ) -> Ticket:
        self._names += 1
        joining = Joining(
            member_id=id,
            instance_id=instance,
            client_id=name,
            client_host="/there",
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            protocol_type="consumer",
            protocols=protocols,
            fresh_id=str(self._names),
            needs_id_first=version >= 4,
            may_skip_assignment=version >= 9,
        )
        ticket = self._ticket()
        return self._carry_out(ticket, self.shard.join(group, joining, ticket, self.now))

    def sync(
        self,
        group: str = "g",
        *,
        id: str,
        generation: int = 1,
        instance: str | None = None,
        give: Mapping[str, bytes] | None = None,
    ) -> Ticket:
        assignments = tuple(
            SyncGroupAssignment(member_id=each, assignment=given) for each, given in (give or {}).items()
        )
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=id,
            group_instance_id=instance,
            assignments=assignments,
        )
        ticket = self._ticket()
        return self._carry_out(ticket, self.shard.sync(request, ticket, self.now))

    def leave(self, group: str = "g", *, id: str = "", instance: str | None = None) -> Ticket:
        leaving = LeavingMember(member_id=id, group_instance_id=instance)
        request = LeaveGroupRequest(group_id=group, members=(leaving,))
        ticket = self._ticket()
        return self._carry_out(ticket, self.shard.leave(request, ticket, self.now))

    def heartbeat(
        self, group: str = "g", *, id: str, generation: int = 1, instance: str | None = None
    ) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=group, generation_id=generation, member_id=id, group_instance_id=instance
        )
        return self.shard.heartbeat(request, self.now)

    # -- what anybody does -------------------------------------------------------------------------------

    def commit(
        self,
        offset: int = 1,
        group: str = "g",
        *,
        topic: str = "t",
        partition: int = 0,
        id: str = "",
        generation: int = -1,
        producer_id: int = NO_PRODUCER,
        expires_ms: int = -1,
    ) -> ErrorCode:
        committer = Committer(group, id, None, generation, is_transactional=producer_id != NO_PRODUCER)
        value = OffsetCommitValue(
            offset=offset, metadata="", commit_timestamp=self.now.wall_ms, expire_timestamp=expires_ms
        )
        try:
            outcome = self.shard.commit(committer, [(Place(group, topic, partition), value)], self.now)
        except ApiError as refusal:
            return refusal.error
        if not self.write(outcome.records, producer_id):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return outcome.reply[0]

    def committed(self, group: str = "g", *, topic: str = "t", partition: int = 0) -> int | None:
        value = self.shard.offsets.get(Place(group, topic, partition))
        return None if value is None else value.offset

    def decide(self, producer_id: int, *, committed: bool) -> None:
        self.log.append(Decided(producer_id, committed))
        self.shard.replay_marker(producer_id, committed=committed)

    def delete(self, group: str = "g") -> ErrorCode:
        try:
            self.write(self.shard.delete(group).records)
        except ApiError as refusal:
            return refusal.error
        return ErrorCode.NONE

    # -- what the broker does ----------------------------------------------------------------------------

    @property
    def now(self) -> Moment:
        return Moment(START_MS + int(self.elapsed_ms), self.elapsed_ms)

    def pass_ms(self, wait_ms: float) -> None:
        """Time passes, and what is due is done when it is."""
        end_ms = self.elapsed_ms + wait_ms
        while self.shard.next_deadline_ms <= end_ms:
            self.elapsed_ms = max(self.elapsed_ms, self.shard.next_deadline_ms)
            self._release_all(self.shard.tick(self.now))
        self.elapsed_ms = end_ms

    def expire(self) -> None:
        for outcome in self.shard.expire(self.now):
            self.write(outcome.records)

    def reload(self) -> None:
        """Somebody else takes over."""
        self.shard = self._replayed()
        self._asked.clear()
        self._release_all(self.shard.loaded(self.now))

    def write(self, records: Sequence[StoredRecord], producer_id: int = NO_PRODUCER) -> bool:
        if any(record.key.startswith(_OF_A_GROUP) for record in records):
            self._is_behind = self.refuses_writes
        if records and self.refuses_writes:
            return False
        for record in records:
            self.log.append(Written(record, producer_id))
            self.shard.replay(record, producer_id)
        return True

    # -- looking -----------------------------------------------------------------------------------------

    def group(self, id: str = "g") -> Group:
        group = self.shard.find(id)
        assert group is not None
        return group

    def state(self, id: str = "g") -> State:
        group = self.shard.find(id)
        return State.DEAD if group is None else group.state

    def joined(self, ticket: Ticket) -> JoinGroupResponse:
        response = self.answers[ticket]
        assert isinstance(response, JoinGroupResponse)
        return response

    def synced(self, ticket: Ticket) -> SyncGroupResponse:
        response = self.answers[ticket]
        assert isinstance(response, SyncGroupResponse)
        return response

    def error(self, ticket: Ticket) -> ErrorCode | None:
        """None while it waits."""
        response = self.answers.get(ticket)
        return None if response is None else ErrorCode.of(response.error_code)

    @property
    def waiting(self) -> set[Ticket]:
        """Who has no answer, and can still get one."""
        return self._asked - self.answers.keys()

    # -- laws --------------------------------------------------------------------------------------------

    def check(self) -> None:
        self._check_that_who_waits_is_known()
        self._check_that_what_is_stored_is_what_is()

    def _check_that_who_waits_is_known(self) -> None:
        """A request without an answer is one that a member waits with."""
        members = [member for group in self.shard for member in group.members]
        known = [each.awaits_join for each in members] + [each.awaits_sync for each in members]
        assert sorted(each for each in known if each is not None) == sorted(self.waiting)

    def _check_that_what_is_stored_is_what_is(self) -> None:
        """Whoever takes over finds the offsets there are, and of every group at rest all that matters."""
        after = self._replayed()
        assert _offsets(after) == _offsets(self.shard)
        if self._is_behind:
            return
        stored = {group.id: group for group in after}
        for group in self.shard:
            if group.state is State.STABLE or (group.state is State.EMPTY and group.generation):
                assert _durable(stored[group.id]) == _durable(group)

    # -- inside ------------------------------------------------------------------------------------------

    def _ticket(self) -> Ticket:
        ticket = Ticket(len(self._asked) + len(self.answers))
        while ticket in self._asked or ticket in self.answers:
            ticket = Ticket(ticket + 1)
        self._asked.add(ticket)
        return ticket

    def _carry_out(self, ticket: Ticket, outcome: Outcome[Answers]) -> Ticket:
        self._release_all([outcome])
        return ticket

    def _release_all(self, outcomes: Iterable[Outcome[Answers]]) -> None:
        for outcome in outcomes:
            is_written = self.write(outcome.records)
            for answer in outcome.reply:
                assert answer.ticket in self._asked, "answered whom nobody knows"
                assert answer.ticket not in self.answers, "answered twice"
                kept = answer if is_written else answer.refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
                self.answers[answer.ticket] = kept.response

    def _replayed(self) -> GroupShard:
        shard = GroupShard(self.settings)
        for entry in self.log:
            match entry:
                case Written(record, producer_id):
                    shard.replay(record, producer_id)
                case Decided(producer_id, committed):
                    shard.replay_marker(producer_id, committed=committed)
        return shard


def _offsets(shard: GroupShard) -> dict[Place, tuple[OffsetCommitValue | None, bool]]:
    return {
        place: (shard.offsets.get(place), shard.offsets.is_pending(place))
        for group in shard.offsets.groups()
        for place in shard.offsets.places(group)
    }


def _durable(group: Group) -> object:
    """What a group is, apart from who waits and who was silent."""
    return (
        group.state,
        group.generation,
        group.protocol_type,
        group.protocol,
        group.members.leader_id,
        group.since_ms,
        [member.to_store(group.protocol, member.assignment) for member in group.members],
    )
