"""Threads for what blocks on a disk, processes for what burns a core; neither belongs on the event loop.

Both take work with `start`, which answers a future of the loop and refuses (`Busy`) when enough is waiting:
whoever asks for more than can be done has to hear of it at once. What the work raises, the future raises.

A process is started for every piece of work and ends with it. Work here takes seconds (recovery, compaction)
and an interpreter starts in 20 ms; in return nothing idles in memory, a killed process takes nothing along
but its own work, and to cancel is to kill. Not forked: a fork copies the loop, its sockets and its locks in
whatever state another thread left them. Not `multiprocessing`: it runs the parent's main module again in the
child and keeps a process beside for bookkeeping.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, Protocol, TypeVar, TypeVarTuple, cast

from odradek.runtime.child import START

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class Busy(Exception):
    """As much work waits as may; the asker should try later, or do without."""


class ProcessDied(Exception):
    """A worker process ended without an answer: killed, out of memory, crashed. Its work can be retried."""


class Workers(Protocol):
    """Somewhere else to do things."""

    def start(
        self, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> asyncio.Future[Result]: ...

    async def stop(self) -> None: ...


class Threads:
    """So many threads. What is cancelled while it waits is not done; what runs runs to its end."""

    def __init__(self, count: int, *, waiting_max: int, name: str) -> None:
        self._taken_max = count + waiting_max
        self._taken: set[Future[object]] = set()
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    def start(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        if len(self._taken) >= self._taken_max:
            raise Busy(f"{self._taken_max} pieces of work are running or waiting")
        future = self._pool.submit(work, *arguments)
        self._taken.add(cast("Future[object]", future))
        future.add_done_callback(self._taken.discard)
        return asyncio.wrap_future(future)

    async def stop(self) -> None:
        """Finish what was taken; take nothing more."""
        await asyncio.gather(*map(asyncio.wrap_future, list(self._taken)), return_exceptions=True)
        self._pool.shutdown()


class Processes:
    """A process for each piece of work, so many at once. The work is a function that can be imported, its
    arguments and its result can be pickled. What is cancelled is killed."""

    def __init__(self, count: int, *, waiting_max: int, name: str) -> None:
        self._minders = Threads(count, waiting_max=waiting_max, name=name)
        self._running: set[asyncio.Future[object]] = set()

    def start(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        errand = _Errand[Result](pickle.dumps((work, arguments)))
        future = self._minders.start(errand.run)
        self._running.add(cast("asyncio.Future[object]", future))
        future.add_done_callback(lambda _: errand.end())
        future.add_done_callback(self._running.discard)
        return future

    async def stop(self) -> None:
        """Kill what runs: it was made to be taken up again."""
        for future in list(self._running):
            future.cancel()
        await asyncio.sleep(0)  # the callbacks of what was cancelled
        await self._minders.stop()


class _Errand(Generic[Result]):
    """One process from start to end, on the thread that minds it."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._lock = threading.Lock()  # the loop may end what a thread is just starting

    def run(self) -> Result:
        with self._lock:
            if self._ended:
                raise ProcessDied("it was cancelled before it began")
            self._process = process = _start()
        assert process.stdin
        assert process.stdout
        with process:
            with suppress(BrokenPipeError):
                _write(process.stdin.fileno(), pickle.dumps(sys.path) + self._request)
            answer = process.stdout.read()
        if process.returncode != 0:
            raise ProcessDied(f"a worker process ended with {process.returncode} and no answer")
        result, error = cast("tuple[Result, BaseException | None]", pickle.loads(answer))
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()


def _start() -> subprocess.Popen[bytes]:
    """In a session of its own, for Ctrl-C is the broker's to hear; isolated, so that asserts stay on."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


def _write(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
