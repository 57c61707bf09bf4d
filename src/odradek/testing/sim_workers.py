"""Workers that are no threads and no processes: what they are given is done in the loop's next turn.

For worlds in which only one thing happens at a time, and whose disk is not to be had elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class SimWorkers:
    def start(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        return asyncio.ensure_future(_done_later(work, *arguments))

    async def stop(self) -> None:
        """Nothing is left running."""


class HeldWorkers(SimWorkers):
    """Work is done when the gate is opened."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.started: list[str] = []  # by the names of the functions
        self.cancelled: list[str] = []

    def start(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        return asyncio.ensure_future(self._held(work, *arguments))

    async def _held(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        self.started.append(work.__name__)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(work.__name__)
            raise
        return work(*arguments)


async def _done_later(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    return work(*arguments)
