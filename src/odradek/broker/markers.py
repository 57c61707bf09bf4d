"""Transaction markers: appended to our own partitions, and for a decided transaction to all that take part.

A decided transaction is complete once every partition has its marker, so whoever writes them does not give
up: a leader that cannot take one now is asked again. A marker that is written twice does no harm.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.chores import in_slices
from odradek.broker.partition import ACKS_ALL
from odradek.model.errors import ApiError, ErrorCode, StorageError

if TYPE_CHECKING:
    from odradek.broker.metadata import Metadata
    from odradek.broker.parked import Waiting
    from odradek.broker.partition import HostedPartition
    from odradek.broker.replicas import Replicas
    from odradek.broker.shards import Shards
    from odradek.groups.shard import GroupShard
    from odradek.model.ids import Partition
    from odradek.runtime.clock import Clock
    from odradek.transactions.shard import Completion
    from odradek.transactions.transaction import Identity

_logger = logging.getLogger("odradek.broker.markers")

RETRY_S = 0.1
_OVERTAKEN = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED)


class Decision(NamedTuple):
    """What a marker says."""

    identity: Identity
    committed: bool
    coordinator_epoch: int


class Written(NamedTuple):
    """A marker in one of our partitions; safe when everything below `end` is committed."""

    partition: HostedPartition
    end: int

    def is_safe(self) -> bool:
        """`ApiError` when it cannot be any more."""
        return self.partition.is_acknowledged(self.end, ACKS_ALL)

    def await_safe(self, waiting: Waiting) -> None:
        self.partition.await_acknowledged(self.end, ACKS_ALL, waiting)


class Overtaken(Exception):
    """A newer producer or coordinator wrote to a partition: the decision is not ours any more."""


class Markers:
    def __init__(
        self,
        replicas: Replicas,
        metadata: Metadata,
        clock: Clock,
        offsets: Shards[GroupShard],
    ) -> None:
        """`offsets` may be what a transaction decides, too."""
        self._replicas = replicas
        self._metadata = metadata
        self._clock = clock
        self._offsets = offsets

    def append(self, name: Partition, decision: Decision) -> Written:
        """To a partition that we lead."""
        partition = self._replicas.hosted(name.topic, name.number)
        try:
            appended = partition.append_marker(
                decision.identity.id,
                decision.identity.epoch,
                aborted=not decision.committed,
                coordinator_epoch=decision.coordinator_epoch,
            )
        except StorageError as failure:
            raise self._replicas.failed(partition, failure) from None
        self._offsets.decided(name.topic, name.number, decision.identity.id, committed=decision.committed)
        return Written(partition, appended.last_offset + 1)

    async def write(self, completion: Completion, coordinator_epoch: int) -> None:
        """To every partition. Comes back when all are safe; `Overtaken` when that is for others to do."""
        decision = Decision(completion.identity, completion.committed, coordinator_epoch)
        missing = sorted(completion.partitions)
        while missing:
            written: dict[Partition, Written] = {}
            await in_slices(self._append_each(missing, decision, written), self._clock)
            missing = [name for name in missing if not await self._is_done(name, written.get(name))]
            if missing:
                await asyncio.sleep(RETRY_S)

    def _append_each(
        self, names: list[Partition], decision: Decision, written: dict[Partition, Written]
    ) -> Iterator[None]:
        for name in names:
            try:
                written[name] = self.append(name, decision)
            except ApiError as refusal:
                if refusal.error in _OVERTAKEN:
                    raise Overtaken(f"{name}: {refusal}") from None
                _logger.info("%s does not take the marker of %s now: %s", name, decision.identity, refusal)
            yield

    async def _is_done(self, name: Partition, written: Written | None) -> bool:
        if written is None:
            return self._metadata.image.partition(name) is None  # deleted: there is nothing to decide
        try:
            while not written.is_safe():
                safe = asyncio.Event()
                written.await_safe(_Waking(safe))
                await safe.wait()
        except ApiError:
            return False
        return True


class _Waking:
    """Whom an event waits for."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    def wake(self) -> None:
        self._event.set()
