from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from odradek.runtime.tasks import Tasks
from odradek.testing.sim_clock import run


def faults_of(use: Callable[[Tasks], Coroutine[object, object, None]]) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []

    async def main() -> None:
        tasks = Tasks(lambda name, error: faults.append((name, repr(error))))
        await use(tasks)
        await tasks.stop()
        assert len(tasks) == 0

    run(main())
    return faults


async def fail(after_s: float) -> None:
    await asyncio.sleep(after_s)
    raise AssertionError("two leaders")


def test_a_task_that_fails_an_assertion_is_reported_by_name() -> None:
    async def use(tasks: Tasks) -> None:
        tasks.start(fail(3), name="election")
        await asyncio.sleep(4)

    assert faults_of(use) == [("election", "AssertionError('two leaders')")]


def test_a_task_that_ends_or_is_cancelled_is_no_fault() -> None:
    async def use(tasks: Tasks) -> None:
        tasks.start(asyncio.sleep(1), name="short")
        tasks.start(asyncio.sleep(100), name="long").cancel()
        await asyncio.sleep(2)
        assert tasks.names() == []

    assert faults_of(use) == []


def test_stopping_ends_every_task_and_waits_for_its_last_words() -> None:
    said: list[str] = []

    async def talk() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1)
            said.append("goodbye")

    async def use(tasks: Tasks) -> None:
        tasks.start(talk(), name="talk")
        await asyncio.sleep(0)

    assert faults_of(use) == []
    assert said == ["goodbye"]


def test_a_task_may_stop_its_own_owner() -> None:
    async def use(tasks: Tasks) -> None:
        tasks.start(asyncio.sleep(1000), name="other")
        await tasks.start(tasks.stop(), name="last")

    assert faults_of(use) == []


def test_a_fault_while_stopping_is_reported_too() -> None:
    async def stumble() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            raise AssertionError("left half done")

    async def use(tasks: Tasks) -> None:
        tasks.start(stumble(), name="closer")
        await asyncio.sleep(0)

    assert faults_of(use) == [("closer", "AssertionError('left half done')")]
