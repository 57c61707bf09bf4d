"""One hosted partition: its log, its replica, and the requests that wait for it.

Decides nothing: the log knows offsets, `replication/` knows who holds what, and their effects are carried out
here. An append is *held* when it is as durable as its topic asks for (written; or synced, where the topic
flushes before it acknowledges) and *committed* when the high watermark has passed it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol, assert_never

from odradek.model.errors import ApiError, ErrorCode
from odradek.replication.leader import Effect, HighWatermarkAdvanced, IsrProposed

if TYPE_CHECKING:
    from odradek.broker.parked import Waiting
    from odradek.log.flush import Flush
    from odradek.log.log import Appended, LogRead, Origin, PartitionLog, ReadUpTo
    from odradek.model.ids import BrokerId, Partition, TopicId
    from odradek.replication.leader import LeaderReplica
    from odradek.replication.replica import Order, Replica

ACKS_NONE = 0
ACKS_LEADER = 1
ACKS_ALL = -1


class Surroundings(Protocol):
    """What a partition asks of its broker."""

    def now_ms(self) -> int: ...

    def flush_soon(self, partition: HostedPartition) -> None:
        """Sync what is appended, on a thread, together with all others that wait; then call `flushed`."""
        ...

    def propose_isr(self, partition: HostedPartition, isr: frozenset[BrokerId]) -> None: ...


class HostedPartition:
    __slots__ = (
        "_around",
        "_await_commit",
        "_await_hold",
        "_flushing",
        "_reads",
        "id",
        "isr_min",
        "log",
        "name",
        "replica",
    )

    def __init__(
        self, name: Partition, id: TopicId, log: PartitionLog, replica: Replica, around: Surroundings
    ) -> None:
        self.name = name
        self.id = id
        self.log = log
        self.replica = replica
        self.isr_min = 1  # min.insync.replicas
        self._around = around
        self._flushing = False
        # Offsets only grow, so whoever waits for one waits in order.
        self._await_hold: deque[tuple[int, Waiting]] = deque()
        self._await_commit: deque[tuple[int, Waiting]] = deque()
        self._reads: dict[Waiting, None] = {}

    @property
    def isr_needed(self) -> int:
        """No more than there are replicas: a topic of one that asks for two can still be written to."""
        return min(self.isr_min, len(self.replica.replicas))

    # -- writing -----------------------------------------------------------------------------------------

    def append(self, records: bytearray | memoryview, acks: int, origin: Origin) -> Appended:
        """As leader. The records are stamped in place."""
        leading = self.replica.lead()
        if acks == ACKS_ALL and len(leading.isr) < self.isr_needed:
            raise ApiError(
                ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(leading.isr)} in sync, {self.isr_needed} are needed"
            )
        now_ms = self._around.now_ms()
        log = self.log
        appended = log.append(records, leading.epoch, now_ms, origin)
        self._written(leading, now_ms)
        return appended

    def append_marker(
        self, producer_id: int, producer_epoch: int, *, aborted: bool, coordinator_epoch: int
    ) -> Appended:
        """As leader: decide a producer's transaction."""
        leading = self.replica.lead()
        now_ms = self._around.now_ms()
        appended = self.log.append_marker(
            producer_id,
            producer_epoch,
            aborted=aborted,
            coordinator_epoch=coordinator_epoch,
            leader_epoch=leading.epoch,
            now_ms=now_ms,
        )
        self._written(leading, now_ms)
        return appended

    def is_acknowledged(self, end: int, acks: int) -> bool:
        """Has everything below `end` the acknowledgements asked for? Refused when it cannot any more."""
        leading = self.replica.lead()
        if acks != ACKS_ALL:
            return leading.log_end >= end
        if leading.high_watermark < end:
            return False
        if len(leading.isr) < self.isr_needed:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, f"{len(leading.isr)} in sync")
        return True

    def await_acknowledged(self, end: int, acks: int, parked: Waiting) -> None:
        (self._await_commit if acks == ACKS_ALL else self._await_hold).append((end, parked))

    # -- reading -----------------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, up_to: ReadUpTo, *, min_one_message: bool) -> LogRead:
        return self.log.read(offset, max_bytes, up_to, min_one_message=min_one_message)

    def await_read(self, parked: Waiting) -> None:
        """Wake it when there may be more to read."""
        self._reads[parked] = None

    def forget_read(self, parked: Waiting) -> None:
        self._reads.pop(parked, None)

    # -- leading and following ---------------------------------------------------------------------------

    def obey(self, order: Order) -> None:
        """The controller's order."""
        log = self.log
        if self.replica.obey(
            order,
            log_end=log.log_end,
            high_watermark=log.high_watermark,
            now_ms=self._around.now_ms(),
        ):
            log.begin_epoch(order.leader_epoch)
        leading = self.replica.leading
        if leading is not None:
            self._carry_out(leading.appended(log.log_end))
        self._wake_everybody()

    def isr_decided(self, isr: frozenset[BrokerId], partition_epoch: int) -> None:
        leading = self.replica.leading
        if leading is not None:
            self.replica.partition_epoch = partition_epoch
            self._carry_out(leading.isr_decided(isr))

    def ticked(self) -> None:
        """Time has passed: who is too slow leaves the in-sync set."""
        leading = self.replica.leading
        if leading is not None:
            self._carry_out(leading.ticked(self._around.now_ms()))

    def flushed(self, flush: Flush) -> None:
        """The flush that `flush_soon` asked for is done."""
        self._flushing = False
        now_ms = self._around.now_ms()
        self.log.flushed(flush, now_ms)
        leading = self.replica.leading
        if leading is None:
            return
        if flush.offset > leading.log_end:
            self._carry_out(leading.appended(flush.offset))
            _wake_up_to(self._await_hold, flush.offset)
        self._written(leading, now_ms)

    @property
    def is_flushing(self) -> bool:
        """A flush of the log is under way."""
        return self._flushing

    def retire(self) -> None:
        """The partition leaves this broker: whoever waits asks again, and is told so."""
        self.replica.leading = None
        self._wake_everybody()

    # -- effects -----------------------------------------------------------------------------------------

    def _written(self, leading: LeaderReplica, now_ms: int) -> None:
        """What was appended counts, unless it must be synced before: then it counts when that is done."""
        if self._flushing:
            return
        log = self.log
        if log.flush_due(now_ms):
            self._flushing = True
            self._around.flush_soon(self)
            return
        self._carry_out(leading.appended(log.log_end))
        if self._await_hold:
            _wake_up_to(self._await_hold, leading.log_end)

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case HighWatermarkAdvanced(offset):
                    self.log.advance_high_watermark(offset)
                    if self._await_commit:
                        _wake_up_to(self._await_commit, offset)
                    for parked in self._reads:
                        parked.wake()
                case IsrProposed(isr):
                    self._around.propose_isr(self, isr)
                case _:
                    assert_never(effect)

    def _wake_everybody(self) -> None:
        for waiting in (self._await_hold, self._await_commit):
            for _, parked in waiting:
                parked.wake()
        for parked in self._reads:
            parked.wake()


def _wake_up_to(waiting: deque[tuple[int, Waiting]], offset: int) -> None:
    while waiting and waiting[0][0] <= offset:
        waiting.popleft()[1].wake()
