"""A partition's leader: follower progress, the high watermark, and proposals to change the in-sync set.

Pure: it is told what happened and returns what should be done. The high watermark is the offset below which
every in-sync replica holds everything; it never falls while we lead. The leader does not change the in-sync
set, it proposes; until the controller answers, either set may be the true one, so both are waited for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from odradek.model.ids import BrokerId


@dataclass(frozen=True, slots=True)
class HighWatermarkAdvanced:
    offset: int


@dataclass(frozen=True, slots=True)
class IsrProposed:
    isr: frozenset[BrokerId]


Effect: TypeAlias = HighWatermarkAdvanced | IsrProposed


@dataclass(slots=True)
class Progress:
    """How far a follower has come, as its fetches tell."""

    log_end: int = -1  # unknown until its first fetch in this epoch
    caught_up_ms: int = 0  # when it last held everything we had


@dataclass(slots=True)
class LeaderReplica:
    self_id: BrokerId
    epoch: int
    epoch_start: int  # our log end when this epoch began
    isr: frozenset[BrokerId]
    followers: dict[BrokerId, Progress]
    lag_ms_max: int
    log_end: int
    high_watermark: int
    proposed: frozenset[BrokerId] | None = field(default=None)  # at most one change in flight

    def appended(self, log_end: int) -> list[Effect]:
        assert log_end >= self.log_end
        self.log_end = log_end
        if len(self.isr) == 1 and self.proposed is None:  # nobody to wait for: the hot path of a lone broker
            self.high_watermark = log_end
            return [HighWatermarkAdvanced(log_end)]
        return self._advance()

    def fetched(self, follower: BrokerId, offset: int, now_ms: int) -> list[Effect]:
        """A follower asking from `offset` holds everything below it."""
        assert offset <= self.log_end
        progress = self.followers[follower]
        progress.log_end = offset
        if offset == self.log_end:
            progress.caught_up_ms = now_ms
        joins = follower not in self.isr and offset >= max(self.high_watermark, self.epoch_start)
        return self._advance() + (self._propose(self.isr | {follower}) if joins else [])

    def ticked(self, now_ms: int) -> list[Effect]:
        slow = {
            broker
            for broker in self.isr - {self.self_id}
            if self.followers[broker].log_end < self.log_end
            and now_ms - self.followers[broker].caught_up_ms > self.lag_ms_max
        }
        return self._propose(self.isr - slow) if slow else []

    def isr_decided(self, isr: frozenset[BrokerId]) -> list[Effect]:
        """The controller's word, whether it is the one proposed or another."""
        assert self.self_id in isr
        self.isr, self.proposed = isr, None
        return self._advance()

    def proposal_refused(self) -> list[Effect]:
        """The controller surely changed nothing (silence is no such answer); ask anew when due."""
        self.proposed = None
        return self._advance()

    def _propose(self, isr: frozenset[BrokerId]) -> list[Effect]:
        if self.proposed is not None:
            return []
        self.proposed = isr
        return [IsrProposed(isr)]

    def _advance(self) -> list[Effect]:
        counted = (self.isr | (self.proposed or frozenset())) - {self.self_id}
        committed = min([self.log_end, *(self.followers[broker].log_end for broker in counted)])
        if committed <= self.high_watermark:
            return []
        self.high_watermark = committed
        return [HighWatermarkAdvanced(committed)]
