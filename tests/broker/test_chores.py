from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator

import pytest

from odradek.broker.chores import SLICE_S, Chore, Chores, in_slices
from odradek.runtime.tasks import Tasks
from odradek.testing.sim_clock import MovableClock, MovableLoop, SimClock, run

DAY_MS = 24 * 3600 * 1000


def no_fault(name: str, error: BaseException) -> None:
    raise AssertionError(name) from error


class Diary:
    """When each chore ran, in seconds since the start."""

    def __init__(self) -> None:
        self.chores = Chores(Tasks(no_fault))
        self.ran: list[tuple[str, float]] = []

    def keep(self, name: str, rest_ms: float, first_ms: float | None = None, takes_s: float = 0) -> None:
        async def work() -> None:
            self.ran.append((name, asyncio.get_running_loop().time()))
            await asyncio.sleep(takes_s)

        self.chores.start(Chore(name=name, run=work, rest_ms=lambda: rest_ms, first_ms=first_ms))


def kept(act: Callable[[Diary], Coroutine[object, object, None]]) -> Diary:
    """What a diary says after `act` in virtual time."""

    async def main() -> Diary:
        diary = Diary()
        await act(diary)
        await diary.chores.stop()
        return diary

    return run(main())


def test_a_chore_runs_rests_and_runs_again() -> None:
    async def act(diary: Diary) -> None:
        diary.keep("early", rest_ms=2000, first_ms=500)
        diary.keep("late", rest_ms=3000, takes_s=1)
        await asyncio.sleep(7.25)

    assert kept(act).ran == [
        ("early", 0.5),
        ("early", 2.5),
        ("late", 3),
        ("early", 4.5),
        ("early", 6.5),
        ("late", 7),
    ]


def test_one_that_is_to_run_never_sets_no_timer() -> None:
    async def act(diary: Diary) -> None:
        diary.keep("never", rest_ms=(1 << 63) - 1)
        await asyncio.sleep(3600)
        assert not diary.ran

    kept(act)


def test_a_chore_can_be_brought_forward_and_never_put_off() -> None:
    async def act(diary: Diary) -> None:
        diary.keep("chore", rest_ms=10_000)
        diary.chores.bring_forward("chore", 4000)
        diary.chores.bring_forward("chore", 6000)
        await asyncio.sleep(15)

    assert kept(act).ran == [("chore", 4), ("chore", 14)]


def test_what_runs_is_given_up_when_it_stops() -> None:
    async def act(diary: Diary) -> None:
        diary.keep("chore", rest_ms=1000, takes_s=3600)
        await asyncio.sleep(1.5)
        await diary.chores.stop()
        await asyncio.sleep(10_000)

    assert kept(act).ran == [("chore", 1)]


def test_what_comes_due_in_eight_days_runs_once_and_at_once() -> None:
    clock = MovableClock(SimClock())

    async def main() -> list[str]:
        diary = Diary()
        diary.keep("each second", rest_ms=1000)
        diary.keep("each day", rest_ms=DAY_MS)
        diary.keep("each month", rest_ms=30 * DAY_MS)
        diary.keep("slow", rest_ms=5000, takes_s=0)
        clock.push(8 * DAY_MS)
        await diary.chores.run_due()
        ran = [name for name, _ in diary.ran]
        await diary.chores.run_due()
        assert len(diary.ran) == len(ran), "nothing is due any more"
        await diary.chores.stop()
        return ran

    with asyncio.Runner(loop_factory=lambda: MovableLoop(clock)) as runner:
        assert sorted(runner.run(main())) == ["each day", "each second", "slow"]


def test_whoever_waits_for_what_is_due_waits_for_what_runs() -> None:
    async def act(diary: Diary) -> None:
        diary.keep("slow", rest_ms=1000, takes_s=5)
        await asyncio.sleep(2)
        await diary.chores.run_due()
        assert asyncio.get_running_loop().time() == 6

    kept(act)


def test_a_chore_that_fails_is_a_fault_and_does_not_come_again() -> None:
    faults: list[str] = []

    async def main() -> None:
        chores = Chores(Tasks(lambda name, error: faults.append(f"{name}: {error}")))

        async def work() -> None:
            raise AssertionError("a bug")

        chores.start(Chore(name="chore", run=work, rest_ms=lambda: 1000))
        await asyncio.sleep(1.5)
        await chores.run_due()
        await asyncio.sleep(100)

    run(main())
    assert faults == ["chore: a bug"]


@pytest.mark.parametrize("steps_a_slice", [1, 4])
def test_others_have_their_turn_after_every_slice(steps_a_slice: int) -> None:
    clock = SimClock()
    turns: list[int] = []

    async def main() -> None:
        done = 0

        def steps() -> Iterator[None]:
            nonlocal done
            for _ in range(40):
                clock.advance(SLICE_S / steps_a_slice + 1e-9)
                done += 1
                yield

        async def other() -> None:
            while done < 40:
                turns.append(done)
                await asyncio.sleep(0)

        await asyncio.gather(in_slices(steps(), clock), other())

    run(main(), clock)
    assert turns == list(range(steps_a_slice, 40, steps_a_slice))
