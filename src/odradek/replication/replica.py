"""What this broker is for one partition: its leader, a follower, or neither.

Becomes one from another by the controller's order, and refuses what is older than what it already knows.
Pure: whether an epoch of our own begins in the log is returned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId
from odradek.replication.leader import LeaderReplica, Progress

NO_EPOCH = -1


class Order(NamedTuple):
    """The controller's word on a partition."""

    leader: BrokerId
    leader_epoch: int
    partition_epoch: int
    isr: frozenset[BrokerId]
    replicas: tuple[BrokerId, ...]


@dataclass(slots=True)
class Replica:
    self_id: BrokerId
    lag_ms_max: int
    leader_id: BrokerId = NO_BROKER
    leader_epoch: int = NO_EPOCH
    partition_epoch: int = NO_EPOCH
    replicas: tuple[BrokerId, ...] = ()
    leading: LeaderReplica | None = field(default=None)  # while we lead

    def obey(self, order: Order, *, log_end: int, high_watermark: int, now_ms: int) -> bool:
        """Become what the order says. True if a new epoch of our own leadership begins at `log_end`.
        An order that is older than what we know is refused."""
        if (order.leader_epoch, order.partition_epoch) < (self.leader_epoch, self.partition_epoch):
            raise ApiError(
                ErrorCode.FENCED_LEADER_EPOCH,
                f"epoch {order.leader_epoch}/{order.partition_epoch} is older than "
                f"{self.leader_epoch}/{self.partition_epoch}",
            )
        begins = order.leader == self.self_id and (
            self.leading is None or order.leader_epoch > self.leader_epoch
        )
        self.leader_id, self.replicas = order.leader, order.replicas
        self.leader_epoch, self.partition_epoch = order.leader_epoch, order.partition_epoch
        if order.leader != self.self_id:
            self.leading = None
        elif begins:
            self.leading = self._new_leader(order, log_end, high_watermark, now_ms)
        elif self.leading is not None:
            self._follow_up(self.leading, order, now_ms)
        return begins

    def lead(self, told_epoch: int = NO_EPOCH) -> LeaderReplica:
        """The leader's state, for a request that was sent to epoch `told_epoch` (-1: whichever it is)."""
        self.check_epoch(told_epoch)
        if self.leading is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"the leader is broker {self.leader_id}")
        return self.leading

    def check_epoch(self, told_epoch: int) -> None:
        if told_epoch in (NO_EPOCH, self.leader_epoch):
            return
        if told_epoch < self.leader_epoch:
            raise ApiError(
                ErrorCode.FENCED_LEADER_EPOCH, f"epoch {told_epoch} is over, it is {self.leader_epoch}"
            )
        raise ApiError(
            ErrorCode.UNKNOWN_LEADER_EPOCH, f"epoch {told_epoch} is not known yet, only {self.leader_epoch}"
        )

    def _new_leader(self, order: Order, log_end: int, high_watermark: int, now_ms: int) -> LeaderReplica:
        return LeaderReplica(
            self_id=self.self_id,
            epoch=order.leader_epoch,
            epoch_start=log_end,
            isr=order.isr,
            followers={
                each: Progress(caught_up_ms=now_ms) for each in order.replicas if each != self.self_id
            },
            lag_ms_max=self.lag_ms_max,
            log_end=log_end,
            high_watermark=high_watermark,
        )

    def _follow_up(self, leading: LeaderReplica, order: Order, now_ms: int) -> None:
        """The same epoch with other replicas: a reassignment adds and removes followers."""
        for each in order.replicas:
            if each != self.self_id and each not in leading.followers:
                leading.followers[each] = Progress(caught_up_ms=now_ms)
        for each in set(leading.followers) - set(order.replicas):
            del leading.followers[each]
        leading.isr = order.isr
