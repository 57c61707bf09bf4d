"""Compaction's rounds: which log is cleaned next, its round in another process, and what becomes of it.

Some cleaners (log.cleaner.threads) each take the logs with the largest dirty part until none is due; small
logs go together, because a process costs more than they do. A log that is damaged, or that kills its process
twice, is uncleanable until the broker starts anew, as in Kafka: it goes on to serve and to grow, and nothing
that cannot be read is rewritten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.chores import in_slices
from odradek.broker.serving import Served, blaming, serving
from odradek.log import cleaning
from odradek.log.cleaning import Cleaned, KeyMapSettings, Order
from odradek.log.compaction import Cleanable, cleanable, dirtiest_first
from odradek.runtime.workers import Busy, ProcessDied

if TYPE_CHECKING:
    from odradek.broker.clean_apart import Damage
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
_LOGS_TOGETHER = 64  # at most, and of this size
_SIZE_TOGETHER = 8 * 1024 * 1024


class LastRound(NamedTuple):
    """What a finished round was like, for whoever watches."""

    seconds: float
    kept_ratio: float  # of the bytes it read
    key_map_used_ratio: float


class _Round(NamedTuple):
    served: Served
    order: Order

    @property
    def is_wanted(self) -> bool:
        return self.served.is_still and self.served.log.settings.compacted


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
        self._deadly: set[Served] = set()  # the process that was at them died
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
        while rounds := await self._choose():
            taken = {each.served.partition for each in rounds}
            self._in_progress |= taken
            try:
                if not await self._carry_out(rounds):
                    return
            finally:
                self._in_progress -= taken

    # -- which ---------------------------------------------------------------------------------------------

    async def _choose(self) -> list[_Round]:
        """The dirtiest, and more as long as they are small."""
        found: dict[Served, tuple[Cleanable, LogSettings]] = {}
        await in_slices(self._look(found), self._clock)
        self.looked_ms = self._clock.wall_ms()
        self.dirtiest_ratio = max((each.dirty_ratio for each, _ in found.values()), default=0.0)
        self.overdue_ms_max = max((each.overdue_ms for each, _ in found.values()), default=0)
        free = {each: what for each, what in found.items() if each.is_still and self.is_free(each.partition)}
        rounds: list[_Round] = []
        room = _SIZE_TOGETHER
        for served in dirtiest_first(free)[:_LOGS_TOGETHER]:
            what, _ = free[served]
            room -= what.clean_bytes + what.dirty_bytes
            if rounds and (room < 0 or served in self._deadly or rounds[0].served in self._deadly):
                break
            with blaming(self._directories, served.log):
                rounds.append(_Round(served, self._order(served.log, what)))
        return rounds

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

    async def _carry_out(self, rounds: Sequence[_Round]) -> bool:
        """False: this cleaner should rest before it looks again."""
        began = self._clock.monotonic()
        try:
            outcomes = await self._outcomes(rounds)
        except Busy:
            return False
        except ProcessDied as death:
            self._process_died([each.served for each in rounds], death)
            return False
        seconds = self._clock.monotonic() - began
        for each, outcome in zip(rounds, outcomes, strict=False):
            if each.served.is_still:
                if isinstance(outcome, Cleaned):
                    self._deadly.discard(each.served)
                    with blaming(self._directories, each.served.log):
                        self._finish(each, outcome, seconds)
                else:
                    self._give_up(each.served, outcome.why)
            await asyncio.sleep(0)
        return True

    def _order(self, log: PartitionLog, found: Cleanable) -> Order:
        size = self._configs.broker.integer("log.cleaner.dedupe.buffer.size") // max(self.cleaners, 1)
        salt = self._random_bytes(_SALT_SIZE)
        return cleaning.order(log, found, self._clock.wall_ms(), salt, KeyMapSettings(size))

    async def _outcomes(self, rounds: Sequence[_Round]) -> Sequence[Cleaned | Damage]:
        """None, if one of the logs was deleted, moved, or is to be compacted no longer: what writes into its
        directory must end, and the others come again."""
        from odradek.broker.clean_apart import clean_apart  # much, and few brokers ever compact

        rate = self._configs.broker.double("log.cleaner.io.max.bytes.per.second") / max(self.cleaners, 1)
        work = self._processes.start(clean_apart, [each.order for each in rounds], self._disk, rate)
        try:
            while all(each.is_wanted for each in rounds):
                done, _ = await asyncio.wait([work], timeout=_STILL_WANTED_EVERY_S)
                if done:
                    return await work
            return ()
        finally:
            work.cancel()

    def _finish(self, round_: _Round, cleaned: Cleaned, seconds: float) -> None:
        (directory, partition, log), order = round_
        if not cleaning.finish(log, self._disk, order, cleaned, self._clock.wall_ms()):
            _logger.info("%s was cut while it was compacted; it will be compacted anew", partition)
            return
        directory.note_cleaned(partition, cleaned.cleaned_until)
        self.on_replaced(round_.served)
        tally = cleaned.tally
        kept_ratio = tally.bytes_kept / (tally.bytes_read or 1)
        self.last_round = LastRound(seconds, kept_ratio, cleaned.keys / _keys_max(order))
        _logger.info(
            "%s is compacted up to offset %d: of %d records %d stay, of %d bytes %d, after %.1f s",
            *(partition, cleaned.cleaned_until, tally.records_read, tally.records_kept),
            *(tally.bytes_read, tally.bytes_kept, seconds),
        )

    def _process_died(self, logs: Sequence[Served], death: ProcessDied) -> None:
        """Killed, or out of memory: it may have been about any of these logs. Each is tried again, alone."""
        names = ", ".join(str(each.partition) for each in logs)
        _logger.warning("%s while it compacted %s; they are tried again. Is memory short?", death, names)
        if len(logs) == 1 and logs[0] in self._deadly:
            self._give_up(logs[0], str(death))
        self._deadly.update(logs)

    def _give_up(self, served: Served, why: str) -> None:
        self.uncleanable[served.partition] = served.log
        _logger.error(
            "%s cannot be compacted and will only grow; its records are still served: %s. Repair the file or "
            "have another replica take its place; compaction is tried again when the broker starts anew",
            *(served.partition, why),
        )


def _keys_max(order: Order) -> float:
    from odradek.log.key_map import SLOT_SIZE

    return order.key_map.size // SLOT_SIZE * order.key_map.load_factor
