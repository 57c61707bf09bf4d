"""The groups of one partition of __consumer_offsets, and the offsets they committed.

A request leads to an `Outcome`; what is stored changes by `replay` only. A group that has only offsets needs
no `Group`: there may be millions of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odradek.groups import committing, joining, retention
from odradek.groups.answer import Answer, join_refused, sync_refused
from odradek.groups.group import Group, State
from odradek.groups.moment import NEVER_MS
from odradek.groups.offsets import Offsets, Place
from odradek.groups.records import (
    UnknownRecord,
    group_tombstone,
    offset_record,
    offset_tombstone,
    read_group,
    read_key,
)
from odradek.groups.subscription import CONSUMER
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.outcome import Outcome, StoredRecord
from odradek.wire.messages.groups import LeaveGroupResponse, LeftMember
from odradek.wire.messages.stored import OffsetCommitKey, OffsetCommitValue

if TYPE_CHECKING:
    from odradek.groups.answer import Answers, Ticket
    from odradek.groups.committing import Committer
    from odradek.groups.member import Joining
    from odradek.groups.moment import Moment
    from odradek.groups.settings import GroupSettings
    from odradek.wire.messages.groups import HeartbeatRequest, LeaveGroupRequest, SyncGroupRequest


@dataclass(slots=True)
class GroupShard:
    settings: GroupSettings
    offsets: Offsets = field(default_factory=Offsets)
    records_skipped: int = 0  # that a newer broker wrote and we cannot read
    _groups: dict[str, Group] = field(default_factory=dict)
    _wakes: list[tuple[float, str]] = field(default_factory=list)  # a heap; only the newest of a group counts
    _wake_of: dict[str, float] = field(default_factory=dict)

    # -- members -----------------------------------------------------------------------------------------

    def join(self, group_id: str, wish: Joining, ticket: Ticket, now: Moment) -> Outcome[Answers]:
        settings = self.settings
        if not settings.session_timeout_min_ms <= wish.session_timeout_ms <= settings.session_timeout_max_ms:
            return _refused(Answer(ticket, join_refused(ErrorCode.INVALID_SESSION_TIMEOUT, wish.member_id)))
        group = self.find(group_id)
        if group is None:
            if wish.member_id:
                return _refused(Answer(ticket, join_refused(ErrorCode.UNKNOWN_MEMBER_ID, wish.member_id)))
            group = Group(group_id, settings)
        outcome = joining.join(group, wish, ticket, now)
        if group.members or group.named:  # a refusal leaves nothing behind
            self._groups[group_id] = group
        self._schedule(group)
        return outcome

    def sync(self, request: SyncGroupRequest, ticket: Ticket, now: Moment) -> Outcome[Answers]:
        group = self._groups.get(request.group_id)
        if group is None:
            return _refused(Answer(ticket, sync_refused(ErrorCode.UNKNOWN_MEMBER_ID)))
        outcome = group.sync(request, ticket, now)
        self._schedule(group)
        return outcome

    def heartbeat(self, request: HeartbeatRequest, now: Moment) -> ErrorCode:
        group = self._groups.get(request.group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        instance_id, generation = request.group_instance_id, request.generation_id
        return group.heartbeat(request.member_id, instance_id, generation, now)

    def leave(self, request: LeaveGroupRequest, ticket: Ticket, now: Moment) -> Outcome[Answers]:
        """Each of its members has an answer of its own."""
        group = self._groups.get(request.group_id)
        left = []
        for each in request.members:
            refusal = ErrorCode.UNKNOWN_MEMBER_ID
            if group is not None:
                refusal = group.leave(each.member_id, each.group_instance_id, now)
            left.append(
                LeftMember(
                    member_id=each.member_id,
                    group_instance_id=each.group_instance_id,
                    error_code=refusal.code,
                )
            )
        outcome: Outcome[Answers] = Outcome((), ()) if group is None else group.take_outcome()
        if group is not None:
            self._schedule(group)
        own = Answer(ticket, LeaveGroupResponse(error_code=0, members=tuple(left)))
        return Outcome(outcome.records, (*outcome.reply, own))

    # -- offsets -----------------------------------------------------------------------------------------

    def commit(
        self, committer: Committer, commits: Sequence[tuple[Place, OffsetCommitValue]], now: Moment
    ) -> Outcome[list[ErrorCode]]:
        """For each offset, whether it is taken; none is on `ApiError`."""
        group = self.find(committer.group_id)
        committing.check(committer, group)
        if group is not None and group.state is not State.EMPTY and not committer.is_transactional:
            group.keep(group.members[committer.member_id], now)
        length_max = self.settings.metadata_length_max
        records: list[StoredRecord] = []
        errors: list[ErrorCode] = []
        for place, value in commits:
            if committing.is_short_enough(value.metadata, length_max):
                records.append(offset_record(_key(place), value))
                errors.append(ErrorCode.NONE)
            else:
                errors.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
        return Outcome(tuple(records), errors)

    def delete_offsets(self, group_id: str, places: Sequence[Place]) -> Outcome[list[ErrorCode]]:
        """For each, whether it is forgotten; what consumers read just now is not."""
        group = self.find(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
        if group.state is not State.EMPTY and group.protocol_type != CONSUMER:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)
        topics = frozenset() if group.state is State.EMPTY else group.subscribed_topics
        in_use = [topics is None or place.topic in topics for place in places]
        going = [place for place, is_in_use in zip(places, in_use, strict=True) if not is_in_use]
        errors = [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if each else ErrorCode.NONE for each in in_use]
        return Outcome(self._without(group, going), errors)

    def forget_topics(self, topics: Collection[str]) -> Iterator[Outcome[None]]:
        """They were deleted: what was committed for them goes. Group by group."""
        for group in self:
            going = [place for place in self.offsets.places(group.id) if place.topic in topics]
            yield Outcome(self._without(group, going) if going else (), None)

    def expire(self, now: Moment) -> Iterator[Outcome[None]]:
        """What is too old goes, and with its last offset an empty group. Group by group."""
        for group in self:
            going = list(retention.expired(group, self.offsets, self.settings.retention_ms, now.wall_ms))
            yield Outcome(self._without(group, going), None)

    # -- groups ------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Group]:
        """Those that are there when their turn comes."""
        others = [id for id in self.offsets.groups() if id not in self._groups]
        for id in [*self._groups, *others]:
            group = self.find(id)
            if group is not None:
                yield group

    def find(self, group_id: str) -> Group | None:
        """What is known of it. One that has only offsets is made up on the spot: it is empty."""
        group = self._groups.get(group_id)
        if group is None and self.offsets.has(group_id):
            group = Group(group_id, self.settings)
        return group

    def delete(self, group_id: str) -> Outcome[None]:
        group = self.find(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
        if group.state is not State.EMPTY:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)
        return Outcome(self._without(group, self.offsets.places(group_id)), None)

    def _without(self, group: Group, places: Sequence[Place]) -> tuple[StoredRecord, ...]:
        """What makes the log forget these, and an empty group that then has nothing left."""
        records = [offset_tombstone(_key(place)) for place in places]
        if group.state is State.EMPTY and not self.offsets.has_others(group.id, places):
            if group.generation:
                records.append(group_tombstone(group.id))
            else:  # it was never stored
                self._drop(group.id)
        return tuple(records)

    def _drop(self, group_id: str) -> None:
        self._groups.pop(group_id, None)
        self._wake_of.pop(group_id, None)

    # -- time --------------------------------------------------------------------------------------------

    @property
    def next_deadline_ms(self) -> float:
        return self._wakes[0][0] if self._wakes else NEVER_MS

    def tick(self, now: Moment) -> list[Outcome[Answers]]:
        """Do what is due, group by group."""
        outcomes = []
        while self._wakes and self._wakes[0][0] <= now.elapsed_ms:
            wake_ms, id = heapq.heappop(self._wakes)
            if self._wake_of.get(id) == wake_ms:
                group = self._groups[id]
                del self._wake_of[id]
                outcomes.append(group.tick(now))
                self._schedule(group)
        return outcomes

    def loaded(self, now: Moment) -> Iterator[Outcome[Answers]]:
        """All is replayed. Group by group."""
        for group in list(self._groups.values()):
            yield group.loaded(now)
            self._schedule(group)

    def _schedule(self, group: Group) -> None:
        """It may be due sooner than it was. A mere sign of life cannot lead to that: it only puts off."""
        if group.wake_ms < self._wake_of.get(group.id, NEVER_MS) and group.id in self._groups:
            self._wake_of[group.id] = group.wake_ms
            heapq.heappush(self._wakes, (group.wake_ms, group.id))

    # -- replay ------------------------------------------------------------------------------------------

    def replay(self, record: StoredRecord, producer_id: int) -> None:
        try:
            key = read_key(record.key)
            if not isinstance(key, OffsetCommitKey):
                self._replay_group(key.group, record.value)
            elif producer_id < 0 or record.value is None:
                self.offsets.commit(key, record.value)
            else:
                self.offsets.pend(producer_id, key, record.value)
        except UnknownRecord:
            self.records_skipped += 1

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        self.offsets.decide(producer_id, committed=committed)

    def _replay_group(self, group_id: str, value: bytes | None) -> None:
        if value is None:
            self._drop(group_id)
            return
        stored = read_group(value)
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = Group(group_id, self.settings)
        group.restore(stored)


def _key(place: Place) -> OffsetCommitKey:
    return OffsetCommitKey(group=place.group, topic=place.topic, partition=place.partition)


def _refused(answer: Answer) -> Outcome[Answers]:
    return Outcome((), (answer,))
