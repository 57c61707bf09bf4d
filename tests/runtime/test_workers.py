from __future__ import annotations

import asyncio
import operator
import os
import signal
import threading
from collections.abc import Awaitable, Callable

import pytest

from odradek.runtime.workers import Busy, ProcessDied, Processes, Threads


def with_threads(use: Callable[[Threads], Awaitable[None]], *, count: int = 1, waiting_max: int = 10) -> None:
    async def main() -> None:
        threads = Threads(count, waiting_max=waiting_max, name="test")
        await use(threads)
        await threads.stop()

    asyncio.run(main())


def with_processes(
    use: Callable[[Processes], Awaitable[None]], *, count: int = 1, waiting_max: int = 9
) -> None:
    async def main() -> None:
        processes = Processes(count, waiting_max=waiting_max, name="test")
        await use(processes)
        await processes.stop()

    asyncio.run(main())


def test_a_thread_answers_or_fails_like_a_call() -> None:
    async def use(threads: Threads) -> None:
        assert await threads.start(operator.add, 1, 2) == 3
        assert await threads.start(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await threads.start(operator.floordiv, 1, 0)

    with_threads(use)


def test_more_than_may_wait_is_refused_at_once() -> None:
    async def use(threads: Threads) -> None:
        gate = threading.Event()
        taken = [threads.start(gate.wait) for _ in range(3)]
        with pytest.raises(Busy, match="3 pieces of work"):
            threads.start(gate.wait)
        gate.set()
        await asyncio.gather(*taken)
        assert await threads.start(gate.wait)

    with_threads(use, count=1, waiting_max=2)


def test_what_is_cancelled_before_it_began_is_not_done() -> None:
    done: list[str] = []

    async def use(threads: Threads) -> None:
        gate = threading.Event()
        first = threads.start(gate.wait)
        threads.start(done.append, "second").cancel()
        third = threads.start(done.append, "third")
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, third)

    with_threads(use)
    assert done == ["third"]


def test_stopping_finishes_what_was_taken() -> None:
    done: list[int] = []

    async def use(threads: Threads) -> None:
        for number in range(5):
            threads.start(done.append, number)

    with_threads(use)
    assert done == [0, 1, 2, 3, 4]


def test_a_process_answers_from_elsewhere() -> None:
    async def use(processes: Processes) -> None:
        assert await processes.start(os.getpid) != os.getpid()
        assert await processes.start(len, bytes(1 << 20)) == 1 << 20
        assert await processes.start(bytes, 1 << 20) == bytes(1 << 20)

    with_processes(use)


def test_what_a_process_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    async def use(processes: Processes) -> None:
        assert await processes.start(os.system, "echo noise") == 0
        assert await processes.start(os.write, 1, b"more noise") == 10

    with_processes(use)
    assert capfd.readouterr().err == "noise\nmore noise"


def test_an_error_comes_back_as_what_it_was() -> None:
    async def use(processes: Processes) -> None:
        with pytest.raises(ZeroDivisionError) as raised:
            await processes.start(operator.floordiv, 1, 0)
        assert "In a worker process" in raised.value.__notes__[0]

    with_processes(use)


def test_work_that_cannot_be_sent_is_refused_where_it_is_asked_for() -> None:
    async def use(processes: Processes) -> None:
        with pytest.raises((AttributeError, TypeError), match="pickle"):
            processes.start(lambda: None)

    with_processes(use)


def test_an_answer_that_cannot_be_sent_is_an_error() -> None:
    async def use(processes: Processes) -> None:
        with pytest.raises(TypeError, match="pickle"):
            await processes.start(threading.Lock)

    with_processes(use)


def test_a_process_that_dies_fails_its_work_and_no_other() -> None:
    async def use(processes: Processes) -> None:
        dying, living = processes.start(os._exit, 3), processes.start(operator.add, 1, 1)
        with pytest.raises(ProcessDied, match="ended with 3"):
            await dying
        assert await living == 2
        assert await processes.start(operator.add, 2, 2) == 4

    with_processes(use, count=2)


def test_what_is_cancelled_is_killed() -> None:
    async def use(processes: Processes) -> None:
        endless = processes.start(signal.pause)
        waiting = processes.start(operator.add, 1, 1)
        endless.cancel()
        assert await waiting == 2

    with_processes(use)


def test_stopping_kills_what_runs_and_forgets_what_waits() -> None:
    futures: list[asyncio.Future[object]] = []

    async def use(processes: Processes) -> None:
        futures.extend(processes.start(signal.pause) for _ in range(3))
        await asyncio.sleep(0)

    with_processes(use)
    assert all(future.cancelled() for future in futures)
