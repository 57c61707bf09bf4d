"""The transactions this broker coordinates: keeps their shards, and sees to it that what is decided is done.

A decision is committed first; then its markers are written, and when all are safe the transaction is
complete. A coordinator that takes over finds the decision in its log and goes on from there.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from odradek.broker.chores import Chore, in_slices
from odradek.broker.markers import RETRY_S, Overtaken
from odradek.broker.shards import HostedShard, Kind, Shards
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.topic_names import TRANSACTION_STATE
from odradek.transactions.shard import TransactionShard
from odradek.wire.compression import Codec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from odradek.broker.context import RequestContext
    from odradek.broker.markers import Markers
    from odradek.broker.metadata import Metadata
    from odradek.broker.parked import Parked
    from odradek.broker.replicas import Replicas
    from odradek.model.config.broker_config import BrokerConfig
    from odradek.model.outcome import Outcome
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.broker.transactions")

Reply = TypeVar("Reply")
Hosted = HostedShard[TransactionShard]


class Transactions:
    """The keeper of the transaction shards."""

    def __init__(
        self,
        config: BrokerConfig,
        metadata: Metadata,
        markers: Markers,
        *,
        replicas: Replicas,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._config = config
        self._markers = markers
        self._clock = clock
        self._tasks = tasks
        self._completing: dict[Hosted, dict[str, asyncio.Task[None]]] = {}
        kind = Kind(TRANSACTION_STATE, Codec.NONE, commit_within_ms=config.integer("request.timeout.ms"))
        self.shards = Shards(kind, self, metadata, replicas=replicas, clock=clock, tasks=tasks)

    # -- for handlers ------------------------------------------------------------------------------------

    def hosting(self, transactional_id: str) -> Hosted:
        """The shard that coordinates this id; `ApiError` where it is not ready, or not here."""
        if not transactional_id:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        return self.shards.of(transactional_id)

    def carry_out(
        self,
        ctx: RequestContext,
        transactional_id: str,
        outcome: Outcome[Reply],
        refuse: Callable[[ApiError], Reply],
    ) -> Reply | Parked[Reply]:
        """Write what was decided for this id, reply when it is committed, and complete what can be."""
        hosted = self.shards.of(transactional_id)
        answer = hosted.carry_out(ctx, outcome, lambda refusal: refuse(as_coordinator(refusal)))
        self._complete_soon(hosted, transactional_id)
        return answer

    def now_ms(self) -> int:
        return self._clock.wall_ms()

    # -- the keeper of shards ----------------------------------------------------------------------------

    def new_shard(self) -> TransactionShard:
        return TransactionShard(
            self._config.integer("transaction.max.timeout.ms"),
            self._config.integer("transactional.id.expiration.ms"),
        )

    async def loaded(self, hosted: Hosted) -> None:
        for completion in hosted.shard.completions():
            self._complete_soon(hosted, completion.transactional_id)

    def due(self, hosted: Hosted) -> None:
        raise AssertionError(f"{hosted.partition.name} has chores, no deadlines")

    def dropped(self, hosted: Hosted) -> None:
        for task in self._completing.pop(hosted, {}).values():
            task.cancel()

    # -- completing --------------------------------------------------------------------------------------

    def _complete_soon(self, hosted: Hosted, transactional_id: str) -> None:
        completing = self._completing.setdefault(hosted, {})
        if transactional_id not in completing and hosted.shard.completion(transactional_id) is not None:
            task = self._tasks.start(
                self._complete(hosted, transactional_id), name=f"complete a transaction of {transactional_id}"
            )
            completing[transactional_id] = task
            task.add_done_callback(lambda _: completing.pop(transactional_id, None))

    async def _complete(self, hosted: Hosted, transactional_id: str) -> None:
        """Until it is done, or somebody else's to do."""
        while (completion := hosted.shard.completion(transactional_id)) is not None:
            try:
                await hosted.committed(hosted.end)
                await self._markers.write(completion, hosted.epoch)
                hosted.write(hosted.shard.complete(transactional_id, self.now_ms()).records)
            except Overtaken as overtaken:
                _logger.warning("the transaction of %s stays undecided: %s", transactional_id, overtaken)
                return
            except ApiError as refusal:
                if refusal.error is ErrorCode.NOT_COORDINATOR:
                    return
                await asyncio.sleep(RETRY_S)

    # -- chores ------------------------------------------------------------------------------------------

    def chores(self) -> Iterator[Chore]:
        """To be kept once the broker serves."""
        for name, run, setting in (
            (
                "abort transactions that take too long",
                self._abort_timed_out,
                "transaction.abort.timed.out.transaction.cleanup.interval.ms",
            ),
            (
                "forget transactional ids",
                self._forget_expired,
                "transaction.remove.expired.transaction.cleanup.interval.ms",
            ),
        ):
            yield Chore(name=name, run=run, rest_ms=partial(self._config.integer, setting))

    async def _abort_timed_out(self) -> None:
        for hosted in self.shards:
            await self._in_slices(hosted, self._time_outs(hosted))

    def _time_outs(self, hosted: Hosted) -> Iterator[None]:
        now_ms = self.now_ms()
        for transactional_id in hosted.shard.timed_out(now_ms):
            outcome = hosted.shard.time_out(transactional_id, now_ms)
            if outcome.records:  # it may have ended a moment ago
                _logger.info("the transaction of %s takes too long and is aborted", transactional_id)
                hosted.write(outcome.records)
                self._complete_soon(hosted, transactional_id)
            yield

    async def _forget_expired(self) -> None:
        for hosted in self.shards:
            await self._in_slices(hosted, self._forgettings(hosted))

    def _forgettings(self, hosted: Hosted) -> Iterator[None]:
        for tombstone in hosted.shard.expired(self.now_ms()):
            if tombstone is not None:
                hosted.write((tombstone,))
            yield

    async def _in_slices(self, hosted: Hosted, steps: Iterator[None]) -> None:
        try:
            await in_slices(steps, self._clock)
        except ApiError as refusal:  # the next time, or whoever coordinates then
            _logger.warning("%s is not written to now: %s", hosted.partition.name, refusal)


def as_coordinator(refusal: ApiError) -> ApiError:
    """Why something could not be stored, in the words that producers understand."""
    match refusal.error:
        case ErrorCode.REQUEST_TIMED_OUT:
            return ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, refusal.detail)
        case ErrorCode.MESSAGE_TOO_LARGE | ErrorCode.RECORD_LIST_TOO_LARGE:
            return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, refusal.detail)
    return refusal
