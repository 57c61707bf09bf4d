from __future__ import annotations

import asyncio

import pytest

from odradek.model.errors import StorageError
from odradek.testing.sim_clock import run
from odradek.testing.sim_workers import HeldWorkers, SimWorkers


def test_work_is_done_in_a_later_turn() -> None:
    done: list[int] = []

    async def main() -> None:
        future = SimWorkers().start(done.append, 1)
        assert not done
        await future

    run(main())
    assert done == [1]


def test_what_work_raises_the_future_raises() -> None:
    def fail() -> int:
        raise StorageError("gone")

    async def main() -> None:
        with pytest.raises(StorageError, match="gone"):
            await SimWorkers().start(fail)

    run(main())


def test_what_is_cancelled_before_its_turn_is_not_done() -> None:
    done: list[int] = []

    async def main() -> None:
        SimWorkers().start(done.append, 1).cancel()
        await asyncio.sleep(0)

    run(main())
    assert not done


def test_what_is_held_is_done_when_the_gate_opens() -> None:
    done: list[int] = []

    async def main() -> None:
        workers = HeldWorkers()
        first, second = workers.start(done.append, 1), workers.start(done.append, 2)
        await asyncio.sleep(1)
        assert (workers.started, done) == (["append", "append"], [])
        first.cancel()
        workers.gate.set()
        await second

    run(main())
    assert done == [2]
