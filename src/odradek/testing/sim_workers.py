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


async def _done_later(work: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    return work(*arguments)
