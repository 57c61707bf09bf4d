"""An event loop on a thread of its own, for whoever has none: a broker inside a synchronous test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar

Result = TypeVar("Result")


class LoopThread:
    """Runs from `start` to `stop`. What it is given to run, it runs on its loop while the caller waits."""

    def __init__(self, make_loop: Callable[[], asyncio.AbstractEventLoop], name: str) -> None:
        self._make_loop = make_loop
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        running = threading.Event()

        def main() -> None:
            with asyncio.Runner(loop_factory=self._make_loop) as runner:
                loop = self._loop = runner.get_loop()
                loop.call_soon(running.set)
                loop.run_forever()

        self._thread = threading.Thread(target=main, name=self._name, daemon=True)
        self._thread.start()
        running.wait()

    def run(self, work: Coroutine[object, object, Result]) -> Result:
        """Not to be called from the loop itself."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """The loop ends after what it is doing; what is left on it is cancelled."""
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop = self._thread = None
