from __future__ import annotations

import asyncio
import threading
import time

import pytest

from odradek.testing.sim_clock import MovableClock, MovableLoop, SimClock, Stuck, run


def test_a_week_passes_at_once_in_virtual_time() -> None:
    clock = SimClock(wall_ms=5_000)
    before = time.monotonic()

    async def main() -> float:
        await asyncio.sleep(7 * 24 * 3600)
        return asyncio.get_running_loop().time()

    assert run(main(), clock) == 7 * 24 * 3600
    assert clock.wall_ms() == 5_000 + 7 * 24 * 3600 * 1000
    assert time.monotonic() - before < 1


def test_timers_fire_in_the_order_of_their_deadlines() -> None:
    async def main() -> list[tuple[str, float]]:
        loop = asyncio.get_running_loop()
        fired: list[tuple[str, float]] = []

        def fire(name: str) -> None:
            fired.append((name, loop.time()))

        for name, delay_s in (("late", 30.0), ("early", 1.0), ("middle", 2.5)):
            loop.call_later(delay_s, fire, name)
        await asyncio.sleep(31)
        return fired

    assert run(main()) == [("early", 1.0), ("middle", 2.5), ("late", 30.0)]


def test_waiting_for_what_never_comes_is_found_at_once() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck):
        run(main())


def test_a_skewed_wall_clock_leaves_monotonic_time_alone() -> None:
    clock = SimClock(wall_ms=1_000)
    clock.skew(-400)
    assert (clock.wall_ms(), clock.monotonic()) == (600, 0.0)


def test_a_movable_clock_runs_by_itself_and_jumps_when_pushed() -> None:
    base = SimClock(wall_ms=100)
    clock = MovableClock(base)
    base.advance(1)
    assert (clock.wall_ms(), clock.monotonic()) == (1_100, 1.0)
    clock.push(5_000)
    assert (clock.wall_ms(), clock.monotonic()) == (6_100, 6.0)


def test_pushing_the_clock_from_another_thread_fires_what_became_due() -> None:
    clock = MovableClock()
    loop = MovableLoop(clock)
    waiting = threading.Event()

    async def main() -> str:
        loop.call_soon(waiting.set)
        await asyncio.sleep(8 * 24 * 3600)
        return "expired"

    def push() -> None:
        waiting.wait(5)
        clock.push(8 * 24 * 3600 * 1000)
        loop.wake()

    pusher = threading.Thread(target=push)
    pusher.start()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(main()) == "expired"
    pusher.join()
