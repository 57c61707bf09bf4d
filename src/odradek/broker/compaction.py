"""Compaction's rounds: which log is cleaned next, its round in another process, and what becomes of it.

Some cleaners (log.cleaner.threads) each take the log with the largest dirty part until none is due. A round
that meets damage marks its partition uncleanable until the broker starts anew, as Kafka does: the log goes on
to serve and to grow, and nothing that cannot be read is rewritten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.chores import in_slices
from odradek.broker.serving import Served, blaming, serving
from odradek.log import cleaning
from odradek.log.cleaning import Cleaned, KeyMapSettings, Order
from odradek.log.compaction import Cleanable, cleanable, filthiest
from odradek.model.errors import StorageError
from odradek.runtime.workers import Busy, ProcessDied

if TYPE_CHECKING:
    from odradek.broker.configs import Configs
    from odradek.log.directories import LogDirectories
    from odradek.log.disk import Disk
    from odradek.log.log import PartitionLog
    from odradek.log.settings import LogSettings
    from odradek.model.ids import Partition
    from odradek.runtime.clock import Clock
    from odradek.runtime.workers import Workers

_logger = logging.getLogger("odradek.broker.compaction")

_STILL_WANTED_EVERY_S = 1.0
_SALT_SIZE = 16


class LastRound(NamedTuple):
    """What a finished round was like, for whoever watches."""

    seconds: float
    kept_ratio: float  # of the bytes it read
    key_map_used_ratio: float


class Compaction:
    def __init__(
        self,
        clock: Clock,
        configs: Configs,
        directories: LogDirectories,
        disk: Disk,
        *,
        processes: Workers,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._clock = clock
        self._configs = configs
        self._directories = directories
        self._disk = disk
        self._processes = processes
        self._random_bytes = random_bytes
        self._in_progress: set[Partition] = set()
        self.uncleanable: dict[Partition, PartitionLog] = {}
        self.on_replaced: Callable[[Served], None] = lambda _: None  # files wait for their removal
        self.last_round: LastRound | None = None
        self.looked_ms = clock.wall_ms()  # when it was last looked what there is to clean
        self.dirtiest_ratio = 0.0  # of what was seen then
        self.overdue_ms_max = 0

    @property
    def cleaners(self) -> int:
        broker = self._configs.broker
        return broker.integer("log.cleaner.threads") if broker.boolean("log.cleaner.enable") else 0

    def is_free(self, partition: Partition) -> bool:
        """No round is under way that counts on its segments."""
        return partition not in self._in_progress

    async def clean_what_is_due(self) -> None:
        """One cleaner: log after log, until none is due."""
        while (chosen := await self._choose()) is not None:
            served, found = chosen
            self._in_progress.add(served.partition)
            try:
                if not await self._round(served, found):
                    return
            finally:
                self._in_progress.discard(served.partition)

    # -- which ---------------------------------------------------------------------------------------------

    async def _choose(self) -> tuple[Served, Cleanable] | None:
        found: dict[Served, tuple[Cleanable, LogSettings]] = {}
        await in_slices(self._look(found), self._clock)
        self.looked_ms = self._clock.wall_ms()
        self.dirtiest_ratio = max((each.dirty_ratio for each, _ in found.values()), default=0.0)
        self.overdue_ms_max = max((each.overdue_ms for each, _ in found.values()), default=0)
        free = {each: what for each, what in found.items() if each.is_still and self.is_free(each.partition)}
        served = filthiest(free)
        return None if served is None else (served, free[served][0])

    def _look(self, found: dict[Served, tuple[Cleanable, LogSettings]]) -> Iterator[None]:
        for served in serving(self._directories):
            directory, partition, log = served
            if log.settings.compacted and self.is_free(partition) and not self._is_uncleanable(served):
                with blaming(self._directories, log):
                    now_ms = self._clock.wall_ms()
                    each = cleanable(log.facts(), log.settings, directory.cleaned_until(partition), now_ms)
                    if each.checkpoint_is_wrong:
                        directory.note_cleaned(partition, each.first_dirty)
                    found[served] = each, log.settings
            yield

    def _is_uncleanable(self, served: Served) -> bool:
        """It was; a log that was made anew since is another."""
        return self.uncleanable.get(served.partition) is served.log

    # -- a round -------------------------------------------------------------------------------------------

    async def _round(self, served: Served, found: Cleanable) -> bool:
        """False: this cleaner should rest before it looks again."""
        began = self._clock.monotonic()
        with blaming(self._directories, served.log):
            order = self._order(served.log, found)
            cleaned = None
            try:
                cleaned = await self._carried_out(served, order)
            except (ProcessDied, Busy) as interrupted:
                _logger.warning("%s is compacted later: %s", served.partition, interrupted)
                return False
            except (StorageError, FileNotFoundError) as damage:
                if served.is_still:
                    self._give_up(served, damage)
            if cleaned is not None:
                self._finish(served, order, cleaned, self._clock.monotonic() - began)
        return True

    def _order(self, log: PartitionLog, found: Cleanable) -> Order:
        size = self._configs.broker.integer("log.cleaner.dedupe.buffer.size") // max(self.cleaners, 1)
        salt = self._random_bytes(_SALT_SIZE)
        return cleaning.order(log, found, self._clock.wall_ms(), salt, KeyMapSettings(size))

    async def _carried_out(self, served: Served, order: Order) -> Cleaned | None:
        """None if nobody wants it any more: the log was deleted, moved, or is to be compacted no longer."""
        from odradek.broker.clean_apart import clean_apart  # much, and few brokers ever compact

        rate = self._configs.broker.double("log.cleaner.io.max.bytes.per.second") / max(self.cleaners, 1)
        work = self._processes.start(clean_apart, order, self._disk, rate)
        try:
            while served.is_still and served.log.settings.compacted:
                done, _ = await asyncio.wait([work], timeout=_STILL_WANTED_EVERY_S)
                if done:
                    return await work if served.is_still else None
            return None
        finally:
            work.cancel()

    def _finish(self, served: Served, order: Order, cleaned: Cleaned, seconds: float) -> None:
        directory, partition, log = served
        if not cleaning.finish(log, self._disk, order, cleaned, self._clock.wall_ms()):
            _logger.info("%s was cut while it was compacted; it will be compacted anew", partition)
            return
        directory.note_cleaned(partition, cleaned.cleaned_until)
        self.on_replaced(served)
        tally = cleaned.tally
        kept_ratio = tally.bytes_kept / (tally.bytes_read or 1)
        self.last_round = LastRound(seconds, kept_ratio, cleaned.keys / _keys_max(order))
        _logger.info(
            "%s is compacted up to offset %d: of %d records %d stay, of %d bytes %d, after %.1f s",
            *(partition, cleaned.cleaned_until, tally.records_read, tally.records_kept),
            *(tally.bytes_read, tally.bytes_kept, seconds),
        )

    def _give_up(self, served: Served, damage: Exception) -> None:
        self.uncleanable[served.partition] = served.log
        _logger.error(
            "%s cannot be compacted and will only grow; its records are still served: %s. Repair the file or "
            "have another replica take its place; compaction is tried again when the broker starts anew",
            *(served.partition, damage),
        )


def _keys_max(order: Order) -> float:
    from odradek.log.key_map import SLOT_SIZE

    return order.key_map.size // SLOT_SIZE * order.key_map.load_factor
