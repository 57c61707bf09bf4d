"""One classic group: its members meet, agree on a protocol, and get their assignments from their leader.

Pure: it is told what happened and when, and returns an `Outcome`: records to store, and answers for those
who wait. The assignment exists once it is stored, so only `restore` makes a group Stable. Who is about to
join, who waits, and who has been silent is not stored, as Kafka does not either: it ends with the rebalance,
and whoever takes the group over gives every member a whole session's time.

    Empty -> PreparingRebalance: a member joins (`joining.py`)
    PreparingRebalance -> CompletingRebalance: all have joined, or time is up; the others are put out
    PreparingRebalance -> Empty: nobody is left
    CompletingRebalance -> Stable: the leader's assignment is stored
    CompletingRebalance, Stable -> PreparingRebalance: somebody comes, goes, or can do something else
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from odradek.groups.answer import Answer, Answers, join_refused, sync_refused
from odradek.groups.member import Member
from odradek.groups.moment import NEVER_MS
from odradek.groups.records import group_record
from odradek.groups.roster import Roster
from odradek.groups.subscription import subscribed_topics
from odradek.model.errors import ErrorCode
from odradek.model.outcome import Outcome, StoredRecord
from odradek.wire.messages.groups import JoinGroupMember, JoinGroupResponse, SyncGroupResponse
from odradek.wire.messages.stored import GroupMetadataValue

if TYPE_CHECKING:
    from odradek.groups.answer import Response, Ticket
    from odradek.groups.moment import Moment
    from odradek.groups.settings import GroupSettings
    from odradek.wire.messages.groups import SyncGroupRequest


class State(Enum):
    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"  # as a group that is not there is described


MAY_BECOME: Final = {
    State.EMPTY: {State.PREPARING},
    State.PREPARING: {State.COMPLETING, State.EMPTY},
    State.COMPLETING: {State.STABLE, State.PREPARING},
    State.STABLE: {State.PREPARING},
    State.DEAD: set[State](),
}
ON_HEARTBEAT: Final = {
    State.EMPTY: ErrorCode.UNKNOWN_MEMBER_ID,
    State.PREPARING: ErrorCode.REBALANCE_IN_PROGRESS,
    State.COMPLETING: ErrorCode.NONE,
    State.STABLE: ErrorCode.NONE,
    State.DEAD: ErrorCode.UNKNOWN_MEMBER_ID,
}


@dataclass(slots=True)
class Group:
    id: str
    settings: GroupSettings
    state: State = State.EMPTY
    since_ms: int | None = None  # on the wall clock: when it came into its state
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    members: Roster = field(default_factory=Roster)
    named: dict[str, float] = field(default_factory=dict)  # ids given out to join with, each until when
    wake_ms: float = NEVER_MS  # nothing is due before
    _unsynced: set[str] = field(default_factory=set)  # who has not asked for its assignment yet
    _sync_due_ms: float = NEVER_MS
    _join_due_ms: float = NEVER_MS
    _gathering_ms: float | None = None  # while an empty group waits for more: how much longer at most
    _grew: bool = False  # somebody came while it gathered
    _records: list[StoredRecord] = field(default_factory=list)
    _answers: list[Answer] = field(default_factory=list)

    # -- the assignment ----------------------------------------------------------------------------------

    def sync(self, request: SyncGroupRequest, ticket: Ticket, now: Moment) -> Outcome[Answers]:
        refusal = self._check_sync(request)
        if refusal is not ErrorCode.NONE:
            self.answer(ticket, sync_refused(refusal))
            return self.take_outcome()
        member = self.members[request.member_id]
        self._unsynced.discard(member.id)
        if self.state is State.STABLE:
            self.keep(member, now)
            self.answer(ticket, self._synced(member.assignment))
            return self.take_outcome()
        if member.awaits_sync is not None:
            self.answer(member.awaits_sync, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
        member.awaits_sync = ticket
        if member.id == self.members.leader_id:
            given = {each.member_id: each.assignment for each in request.assignments}
            self._assign({each.id: given.get(each.id, b"") for each in self.members}, now)
        return self.take_outcome()

    def _check_sync(self, request: SyncGroupRequest) -> ErrorCode:
        refusal = self.check_member(request.member_id, request.group_instance_id)
        if refusal is not ErrorCode.NONE:
            return refusal
        if request.generation_id != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        if request.protocol_type not in (None, self.protocol_type):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if request.protocol_name not in (None, self.protocol):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return ErrorCode.REBALANCE_IN_PROGRESS if self.state is State.PREPARING else ErrorCode.NONE

    def _assign(self, assignments: Mapping[str, bytes], now: Moment) -> None:
        """To be stored, which makes the group Stable, and told to all who wait. Should it not be possible to
        store it they are refused, and the group is as it was: its leader may try again."""
        self.store(assignments)
        for member in self.members:
            if member.awaits_sync is not None:
                self.answer(member.awaits_sync, self._synced(assignments[member.id]))
                member.awaits_sync = None
                self.keep(member, now)

    def _synced(self, assignment: bytes) -> SyncGroupResponse:
        return SyncGroupResponse(
            error_code=0,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            assignment=assignment,
        )

    # -- staying and leaving -----------------------------------------------------------------------------

    def check_member(self, id: str, instance_id: str | None) -> ErrorCode:
        """Is there this member, and nobody else of its static name?"""
        if instance_id is not None:
            known_id = self.members.id_of(instance_id)
            if known_id is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known_id != id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def heartbeat(self, id: str, instance_id: str | None, generation: int, now: Moment) -> ErrorCode:
        refusal = self.check_member(id, instance_id)
        if refusal is ErrorCode.NONE and generation != self.generation:
            refusal = ErrorCode.ILLEGAL_GENERATION
        if refusal is not ErrorCode.NONE:
            return refusal
        self.keep(self.members[id], now)
        return ON_HEARTBEAT[self.state]

    def leave(self, id: str, instance_id: str | None, now: Moment) -> ErrorCode:
        """Several may leave together: what follows of all is in `take_outcome`."""
        if id in self.named:
            del self.named[id]
            self.complete_join_if_all_are_here(now)
            return ErrorCode.NONE
        if id == "" and instance_id is not None:  # an administrator knows a static member by that name only
            id = self.members.id_of(instance_id) or ""
        refusal = self.check_member(id, instance_id)
        if refusal is ErrorCode.NONE:
            self._remove(self.members[id], now)
        return refusal

    def _remove(self, member: Member, now: Moment) -> None:
        self._put_out(member)
        self.rebalance(now)
        self.complete_join_if_all_are_here(now)

    def _put_out(self, member: Member) -> None:
        if member.awaits_join is not None:
            self.answer(member.awaits_join, join_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        if member.awaits_sync is not None:
            self.answer(member.awaits_sync, sync_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        self.members.remove(member)

    # -- joining: what `joining.py` decides on -----------------------------------------------------------

    def name(self, id: str, within_ms: int, now: Moment) -> None:
        """Somebody is to join with this id, in time."""
        self.named[id] = now.elapsed_ms + within_ms
        self._wake_by(self.named[id])

    def add(self, member: Member) -> None:
        self._grew = self._grew or (self.state is State.PREPARING and self.generation == 0)
        self.named.pop(member.id, None)
        self.members.add(member)

    def expel(self, id: str) -> None:
        """There is no room for it."""
        member = self.members.get(id)
        if member is not None:
            self._put_out(member)
        self.named.pop(id, None)

    def joined(
        self,
        member: Member,
        *,
        tells_members: bool,
        skips_assignment: bool = False,
        leader: str | None = None,
    ) -> JoinGroupResponse:
        return JoinGroupResponse(
            error_code=0,
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=leader or self.members.leader_id or "",
            skip_assignment=skips_assignment,
            member_id=member.id,
            members=tuple(
                JoinGroupMember(
                    member_id=each.id,
                    group_instance_id=each.instance_id,
                    metadata=each.metadata(self.protocol),
                )
                for each in (self.members if tells_members else ())
            ),
        )

    # -- rebalancing -------------------------------------------------------------------------------------

    def rebalance(self, now: Moment) -> None:
        """All members are to join again, unless they are asked to already."""
        if self.state is State.PREPARING:
            return
        if self.state is State.COMPLETING:
            self._disappoint_syncing(now)
        self._sync_due_ms = NEVER_MS
        wait_ms: float = self.members.rebalance_timeout_ms
        if self.state is State.EMPTY:
            delay_ms = self.settings.initial_rebalance_delay_ms
            self._gathering_ms = max(wait_ms - delay_ms, 0)
            wait_ms = delay_ms
        self._enter(State.PREPARING, now)
        self._await_joins(wait_ms, now)
        self.complete_join_if_all_are_here(now)

    def complete_join_if_all_are_here(self, now: Moment) -> None:
        gathers = self._gathering_ms is not None
        if self.state is State.PREPARING and not (gathers or self.named) and self.members.all_await_join:
            self._complete_join(now)

    def _disappoint_syncing(self, now: Moment) -> None:
        for member in self.members:
            if member.awaits_sync is not None:
                self.answer(member.awaits_sync, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
                member.awaits_sync = None
                self.keep(member, now)

    def _await_joins(self, wait_ms: float, now: Moment) -> None:
        self._join_due_ms = now.elapsed_ms + wait_ms
        self._wake_by(self._join_due_ms)

    def _joining_time_is_up(self, now: Moment) -> None:
        left_ms = self._gathering_ms
        if left_ms and self._grew:
            self._grew = False
            wait_ms = min(self.settings.initial_rebalance_delay_ms, left_ms)
            self._gathering_ms = left_ms - wait_ms
            self._await_joins(wait_ms, now)
        else:
            self._complete_join(now)

    def _complete_join(self, now: Moment) -> None:
        self._gathering_ms, self._grew, self._join_due_ms = None, False, NEVER_MS
        for member in [each for each in self.members if each.awaits_join is None and not each.is_static]:
            self._put_out(member)
        if not self.members:
            self._become_empty(now)
        elif self.members.elect_joined():
            self._begin_generation(now)
        else:  # static members only, and none of them is here: their sessions decide
            self._await_joins(self.members.rebalance_timeout_ms, now)

    def _begin_generation(self, now: Moment) -> None:
        self.generation += 1
        self.protocol = self.members.chosen_protocol()
        self._enter(State.COMPLETING, now)
        for member in self.members:
            if member.awaits_join is not None:
                leads = member.id == self.members.leader_id
                self.answer(member.awaits_join, self.joined(member, tells_members=leads))
                member.awaits_join = None
            member.is_new = False
            self.keep(member, now)
        self._unsynced = {member.id for member in self.members}
        self._sync_due_ms = now.elapsed_ms + self.members.rebalance_timeout_ms
        self._wake_by(self._sync_due_ms)

    def _become_empty(self, now: Moment) -> None:
        self.generation += 1
        self.protocol = None
        self._enter(State.EMPTY, now)
        self.store({})

    def _enter(self, state: State, now: Moment) -> None:
        assert state in MAY_BECOME[self.state], f"group {self.id}: {self.state} -> {state}"
        self.state, self.since_ms = state, now.wall_ms

    # -- time --------------------------------------------------------------------------------------------

    def keep(self, member: Member, now: Moment) -> None:
        """It has shown that it lives."""
        self.expect(member, member.session_timeout_ms, now)

    def expect(self, member: Member, within_ms: int, now: Moment) -> None:
        """To hear from it in time."""
        member.deadline_ms = now.elapsed_ms + within_ms
        self._wake_by(member.deadline_ms)

    def tick(self, now: Moment) -> Outcome[Answers]:
        """Do what is due."""
        at = now.elapsed_ms
        for id in [each for each, until_ms in self.named.items() if until_ms <= at]:
            del self.named[id]
            self.complete_join_if_all_are_here(now)
        for member in [each for each in self.members if each.deadline_ms <= at]:
            if member.deadline_ms <= at:  # still: another's end may have ended a rebalance
                member.deadline_ms = NEVER_MS
                if not member.is_excused:
                    self._remove(member, now)
        if self._sync_due_ms <= at:
            self._syncing_time_is_up(now)
        if self._join_due_ms <= at:
            self._joining_time_is_up(now)
        deadlines_ms = [member.deadline_ms for member in self.members]
        self.wake_ms = min([self._join_due_ms, self._sync_due_ms, *self.named.values(), *deadlines_ms])
        return self.take_outcome()

    def _syncing_time_is_up(self, now: Moment) -> None:
        self._sync_due_ms = NEVER_MS
        late = [member for member in self.members if member.id in self._unsynced]
        for member in late:
            self._put_out(member)
        if late:
            self.rebalance(now)

    def _wake_by(self, at_ms: float) -> None:
        self.wake_ms = min(self.wake_ms, at_ms)

    # -- what is stored, and what follows ----------------------------------------------------------------

    def store(self, assignments: Mapping[str, bytes]) -> None:
        value = GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol,
            leader=self.members.leader_id,
            current_state_timestamp=-1 if self.since_ms is None else self.since_ms,
            members=tuple(member.to_store(self.protocol, assignments[member.id]) for member in self.members),
        )
        self._records.append(group_record(self.id, value))

    def restore(self, value: GroupMetadataValue) -> None:
        """Be as the log has it. Who waits goes on waiting."""
        known, self.members = self.members, Roster()
        for each in value.members:
            self.members.add(Member.stored(each, value.protocol, known.get(each.member_id)))
        self.members.leader_id = value.leader
        self.protocol_type = value.protocol_type or None
        self.protocol = value.protocol
        self.generation = value.generation
        self.since_ms = value.current_state_timestamp if value.current_state_timestamp >= 0 else None
        self.state = State.STABLE if self.members else State.EMPTY

    @property
    def subscribed_topics(self) -> frozenset[str] | None:
        """What its consumers read; None where they do not say."""
        return subscribed_topics(member.metadata(self.protocol) for member in self.members)

    def loaded(self, now: Moment) -> Outcome[Answers]:
        """All is replayed: from now on every member is expected to show that it lives."""
        for member in self.members:
            self.keep(member, now)
        if len(self.members) > self.settings.members_max:
            self.rebalance(now)
        return self.take_outcome()

    def answer(self, ticket: Ticket, response: Response) -> None:
        self._answers.append(Answer(ticket, response))

    def take_outcome(self) -> Outcome[Answers]:
        """What was decided since the last time."""
        outcome = Outcome(tuple(self._records), tuple(self._answers))
        self._records.clear()
        self._answers.clear()
        return outcome
