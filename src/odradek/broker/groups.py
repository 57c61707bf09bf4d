"""The groups this broker coordinates: gives requests to the right shard, and those who wait their answers.

A join waits for the other members, a sync for the leader's: such a request is known to its shard by a ticket,
and parked here until somebody's doing answers it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from odradek.broker.chores import Chore, in_slices
from odradek.broker.shards import HostedShard, Kind, Shards
from odradek.groups.answer import Answer, Ticket, in_version
from odradek.groups.moment import Moment
from odradek.groups.settings import GroupSettings
from odradek.groups.shard import GroupShard
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.topic_names import CONSUMER_OFFSETS
from odradek.wire.compression import Codec
from odradek.wire.messages.groups import SyncGroupResponse

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.metadata import Metadata
    from odradek.broker.parked import Parked
    from odradek.broker.replicas import Replicas
    from odradek.groups.answer import Answers, Response
    from odradek.model.config.broker_config import BrokerConfig
    from odradek.model.image import ClusterImage
    from odradek.model.outcome import Outcome
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.broker.groups")

Decide = Callable[[GroupShard, Ticket], "Outcome[Answers]"]
Refuse = Callable[[ErrorCode], "Response"]


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request that its shard knows by a ticket."""

    hosted: HostedShard[GroupShard]
    version: int
    response: Response | None = None
    parked: Parked[Response] | None = field(default=None)


class Groups:
    """The keeper of the group shards."""

    def __init__(
        self, config: BrokerConfig, metadata: Metadata, *, replicas: Replicas, clock: Clock, tasks: Tasks
    ) -> None:
        kind = Kind(
            topic=CONSUMER_OFFSETS,
            codec=Codec(config.integer("offsets.topic.compression.codec")),
            commit_within_ms=config.integer("offsets.commit.timeout.ms"),
        )
        self._settings = _settings(config)
        self._check_interval_ms = config.integer("offsets.retention.check.interval.ms")
        self._clock = clock
        self._tasks = tasks
        self._tickets = count()
        self._waiting: dict[Ticket, _Waiter] = {}
        self.shards = Shards(kind, self, metadata, replicas=replicas, clock=clock, tasks=tasks)
        metadata.on_change(self._forget_deleted)

    # -- for handlers ------------------------------------------------------------------------------------

    def hosting(self, group_id: str, *, may_be_empty: bool = False) -> HostedShard[GroupShard]:
        """The shard that coordinates this group; `ApiError` where it is not ready, or not here. Only offsets
        may still be kept for the group whose name is empty."""
        if not (group_id or may_be_empty):
            raise ApiError(ErrorCode.INVALID_GROUP_ID)
        return self.shards.of(group_id)

    def now(self) -> Moment:
        return Moment(self._clock.wall_ms(), self._clock.monotonic() * 1000)

    def ask(
        self, ctx: RequestContext, group_id: str, decide: Decide, refuse: Refuse
    ) -> Response | Parked[Response]:
        """Let the group's shard decide, and answer all that it answers."""
        version = ctx.version
        try:
            hosted = self.hosting(group_id)
        except ApiError as refusal:
            return in_version(refuse(refusal.error), version)
        ticket = Ticket(next(self._tickets))
        waiter = self._waiting[ticket] = _Waiter(hosted, version)
        self._release(hosted, decide(hosted.shard, ticket))
        hosted.look_at_deadline()
        if waiter.response is not None:
            return waiter.response
        refusal_then = in_version(refuse(ErrorCode.NOT_COORDINATOR), version)
        waiter.parked = ctx.park(None, ready=lambda: waiter.response, at_deadline=lambda: refusal_then)
        waiter.parked.leave = partial(self._forget, ticket)
        return waiter.parked

    def _forget(self, ticket: Ticket) -> None:
        self._waiting.pop(ticket, None)

    # -- the keeper of shards ----------------------------------------------------------------------------

    def new_shard(self) -> GroupShard:
        return GroupShard(self._settings)

    async def loaded(self, hosted: HostedShard[GroupShard]) -> None:
        skipped = hosted.shard.records_skipped
        if skipped:
            _logger.warning("partition %d: %d records of a newer broker were skipped", hosted.number, skipped)
        release = partial(self._release, hosted)
        await in_slices(map(release, hosted.shard.loaded(self.now())), self._clock)

    def due(self, hosted: HostedShard[GroupShard]) -> None:
        for outcome in hosted.shard.tick(self.now()):
            self._release(hosted, outcome)

    def dropped(self, hosted: HostedShard[GroupShard]) -> None:
        for waiter in list(self._waiting.values()):
            if waiter.hosted is hosted and waiter.parked is not None:
                waiter.parked.expire_now()

    # -- answers -----------------------------------------------------------------------------------------

    def _release(self, hosted: HostedShard[GroupShard], outcome: Outcome[Answers]) -> None:
        """Write what was decided, and answer: at once, or when it is committed."""
        answers = outcome.reply
        try:
            end = hosted.write(outcome.records) if outcome.records else hosted.end
            must_wait = bool(outcome.records) or any(map(_tells_what_is_stored, answers))
            if must_wait and not hosted.is_committed(end):
                self._tasks.start(self._deliver_committed(hosted, answers, end), name="answers to a group")
            else:
                self._deliver(answers)
        except ApiError as refusal:
            self._deliver(_refused(answers, refusal))

    async def _deliver_committed(self, hosted: HostedShard[GroupShard], answers: Answers, end: int) -> None:
        try:
            await hosted.committed(end)
        except ApiError as refusal:
            self._deliver(_refused(answers, refusal))
        else:
            self._deliver(answers)

    def _deliver(self, answers: Iterable[Answer]) -> None:
        for ticket, response in answers:
            waiter = self._waiting.pop(ticket, None)
            if waiter is not None:  # its connection may be gone
                waiter.response = in_version(response, waiter.version)
                if waiter.parked is not None:
                    waiter.parked.wake()

    # -- forgetting --------------------------------------------------------------------------------------

    def expiring(self) -> Chore:
        """To be kept once the broker serves."""
        return Chore(name="expire offsets", run=self._expire, rest_ms=lambda: self._check_interval_ms)

    async def _expire(self) -> None:
        for hosted in self.shards:
            await self._write_all(hosted, hosted.shard.expire(self.now()))

    def _forget_deleted(self, old: ClusterImage, new: ClusterImage) -> None:
        if new.topics is old.topics:
            return
        gone = [name for name, topic in old.topics.items() if name not in new.topics]
        if gone:
            for hosted in self.shards:
                forgetting = hosted.shard.forget_topics(frozenset(gone))
                self._tasks.start(
                    self._write_all(hosted, forgetting), name="forget offsets of deleted topics"
                )

    async def _write_all(self, hosted: HostedShard[GroupShard], outcomes: Iterable[Outcome[None]]) -> None:
        def write(outcome: Outcome[None]) -> None:
            if outcome.records:
                hosted.write(outcome.records)

        try:
            await in_slices(map(write, outcomes), self._clock)
        except ApiError as refusal:  # the next time, or whoever coordinates these groups then
            _logger.warning("partition %d: offsets are not forgotten yet: %s", hosted.number, refusal)


def _settings(config: BrokerConfig) -> GroupSettings:
    return GroupSettings(
        session_timeout_min_ms=config.integer("group.min.session.timeout.ms"),
        session_timeout_max_ms=config.integer("group.max.session.timeout.ms"),
        members_max=config.integer("group.max.size"),
        initial_rebalance_delay_ms=config.integer("group.initial.rebalance.delay.ms"),
        metadata_length_max=config.integer("offset.metadata.max.bytes"),
        retention_ms=config.integer("offsets.retention.minutes") * 60_000,
    )


def _tells_what_is_stored(answer: Answer) -> bool:
    response = answer.response
    return isinstance(response, SyncGroupResponse) and response.error_code == 0


def _refused(answers: Sequence[Answer], refusal: ApiError) -> list[Answer]:
    """In the words of members: one that waited too long for the others' disks is to join again."""
    match refusal.error:
        case ErrorCode.REQUEST_TIMED_OUT:
            error = ErrorCode.REBALANCE_IN_PROGRESS
        case ErrorCode.MESSAGE_TOO_LARGE | ErrorCode.RECORD_LIST_TOO_LARGE:
            error = ErrorCode.UNKNOWN_SERVER_ERROR
        case _:
            error = refusal.error
    return [answer.refused(error) for answer in answers]
