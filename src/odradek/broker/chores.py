"""Chores by the clock: each runs, rests, and runs again, and never holds up the loop for long.

They are timers of the event loop, so they follow whatever time the loop follows: where time is pushed on by
days, what came due meanwhile runs once, and then rests as ever.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks

SLICE_S = 0.005  # for so long the loop may be kept from its clients
NEVER_S = 10 * 366 * 24 * 3600.0  # Kafka's way to say "not at all" is an interval of ages
_REST_S_MIN = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    name: str
    run: Callable[[], Coroutine[object, object, None]]
    rest_ms: Callable[[], float]  # asked after every run, because settings change
    first_ms: float | None = None  # how long it rests at the start, where not as ever


async def in_slices(steps: Iterable[object], clock: Clock) -> None:
    """Go through `steps`, and let the loop serve others whenever they have taken a while."""
    began = clock.monotonic()
    for _ in steps:
        if clock.monotonic() - began >= SLICE_S:
            await asyncio.sleep(0)
            began = clock.monotonic()


class Chores:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._kept: dict[str, _Kept] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def start(self, chore: Chore) -> None:
        assert chore.name not in self._kept
        kept = self._kept[chore.name] = _Kept(chore, self._tasks)
        kept.rest(chore.rest_ms() if chore.first_ms is None else chore.first_ms)

    def bring_forward(self, name: str, within_ms: float) -> None:
        """Run it no later than that. One that runs just now will have seen what there is to do."""
        self._kept[name].bring_forward(within_ms)

    async def run_due(self) -> None:
        """Come back when everything that is due by now has been done."""
        now = asyncio.get_running_loop().time()
        due = [kept for kept in self._kept.values() if kept.task is not None or kept.due_at <= now]
        while due:
            await asyncio.wait([kept.begin() for kept in due])
            due = [kept for kept in self._kept.values() if kept.due_at <= now]

    async def stop(self) -> None:
        """Nothing comes due any more, and what runs is given up."""
        running = [kept.task for kept in self._kept.values() if kept.task is not None]
        for kept in self._kept.values():
            kept.be_due_at(math.inf)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)


class _Kept:
    """A chore, and when it is due."""

    def __init__(self, chore: Chore, tasks: Tasks) -> None:
        self._chore = chore
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.due_at = math.inf
        self.task: asyncio.Task[None] | None = None  # while it runs

    def rest(self, rest_ms: float) -> None:
        rest_s = max(rest_ms / 1000, _REST_S_MIN)
        self.be_due_at(self._loop.time() + rest_s if rest_s < NEVER_S else math.inf)

    def bring_forward(self, within_ms: float) -> None:
        due_at = self._loop.time() + within_ms / 1000
        if due_at < self.due_at and self.task is None:
            self.be_due_at(due_at)

    def begin(self) -> asyncio.Task[None]:
        if self.task is None:
            self.be_due_at(math.inf)
            self.task = self._tasks.start(self._run(), name=self._chore.name)
        return self.task

    def be_due_at(self, due_at: float) -> None:
        self.due_at = due_at
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due_at, self.begin) if due_at < math.inf else None

    async def _run(self) -> None:
        try:
            await self._chore.run()
        finally:
            self.task = None
        self.rest(self._chore.rest_ms())
