"""What waiting requests promise."""

from __future__ import annotations

import asyncio

from odradek.broker.parked import Parked
from odradek.testing.sim_clock import run


def parked(answers: list[str | None], wait_s: float = 10) -> Parked[str]:
    return Parked(
        asyncio.get_running_loop(), wait_s, ready=lambda: answers.pop(0), at_deadline=lambda: "too late"
    )


def test_woken_it_asks_again_until_there_is_an_answer() -> None:
    async def main() -> None:
        got: list[str] = []
        waiting = parked([None, "now"])
        waiting.deliver_to(got.append)
        for expected in ([], ["now"]):
            waiting.wake()
            await asyncio.sleep(0)
            assert got == expected
        assert waiting.ended

    run(main())


def test_woken_twice_in_a_turn_it_asks_once() -> None:
    async def main() -> None:
        answers: list[str | None] = [None, "unasked"]
        waiting = parked(answers)
        waiting.wake()
        waiting.wake()
        await asyncio.sleep(0)
        assert answers == ["unasked"]

    run(main())


def test_the_deadline_answers() -> None:
    async def main() -> None:
        got: list[str] = []
        parked([], wait_s=3).deliver_to(got.append)
        await asyncio.sleep(2.9)
        assert got == []
        await asyncio.sleep(0.2)
        assert got == ["too late"]

    run(main())


def test_an_answer_that_comes_before_anybody_takes_it_is_kept() -> None:
    async def main() -> None:
        got: list[str] = []
        waiting = parked(["early"])
        waiting.wake()
        await asyncio.sleep(0)
        waiting.deliver_to(got.append)
        assert got == ["early"]

    run(main())


def test_abandoned_it_leaves_its_places_and_says_nothing() -> None:
    async def main() -> None:
        got: list[str] = []
        left: list[bool] = []
        waiting = parked(["never"], wait_s=1)
        waiting.deliver_to(got.append)
        waiting.leave = lambda: left.append(True)
        waiting.abandon()
        waiting.wake()
        await asyncio.sleep(2)
        assert (got, left) == ([], [True])

    run(main())
