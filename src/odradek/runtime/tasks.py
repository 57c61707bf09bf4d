"""Named, owned tasks; a task that dies of a bug stops the node.

Whoever starts a task answers for what can go wrong in it: a refused peer, a failed disk. Whatever escapes a
task is therefore a bug, an assertion above all, and `on_fault` is told the task's name and the exception; the
node stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

OnFault = Callable[[str, BaseException], None]


class Tasks:
    """The tasks of one owner. All of them end when the owner stops."""

    def __init__(self, on_fault: OnFault) -> None:
        self._on_fault = on_fault
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._running)

    def names(self) -> list[str]:
        return sorted(task.get_name() for task in self._running)

    def start(self, coroutine: Coroutine[object, object, None], *, name: str) -> asyncio.Task[None]:
        """Run `coroutine` on the loop until it ends, is cancelled, or its owner stops."""
        assert not self._stopping, f"task {name} started while its owner stops"
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def stop(self) -> None:
        """Cancel what still runs and wait until it has ended. The caller's own task is left alone."""
        self._stopping = True
        me = asyncio.current_task()
        others = [task for task in self._running if task is not me]
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._on_fault(task.get_name(), error)
