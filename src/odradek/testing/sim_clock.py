"""Clocks that tests move, and event loops that follow them.

`SimClock` with `SimLoop` is virtual time: nothing waits, the loop jumps to the next deadline as soon as there
is nothing left to do. `MovableClock` with `MovableLoop` is real time that can also be pushed forward: sockets
work, and what was due in eight days is due now.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import TypeVar

from odradek.runtime.clock import Clock, SystemClock

Result = TypeVar("Result")

START_MS = 1_700_000_000_000


class SimClock:
    """Time that stands until it is moved."""

    def __init__(self, wall_ms: int = START_MS) -> None:
        self._start_ms = wall_ms
        self._elapsed = 0.0
        self._skew_ms = 0

    def wall_ms(self) -> int:
        return self._start_ms + self._skew_ms + int(self._elapsed * 1000)

    def monotonic(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        assert seconds >= 0, "monotonic time never goes back"
        self._elapsed += seconds

    def skew(self, ms: int) -> None:
        """Set the wall clock wrong by so much more; monotonic time does not notice."""
        self._skew_ms += ms


class Stuck(AssertionError):
    """Everything waits and nothing is due: what they wait for can never come."""


class SimLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time."""

    def __init__(self, clock: SimClock) -> None:
        super().__init__(_Jumping(clock))
        self.clock = clock

    def time(self) -> float:
        return self.clock.monotonic()


class _Jumping(selectors.DefaultSelector):
    """Instead of waiting, moves the clock to where the wait would have ended."""

    def __init__(self, clock: SimClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise Stuck("every task waits, and no timer is set")
        self._clock.advance(timeout)
        return []


def run(main: Coroutine[object, object, Result], clock: SimClock | None = None) -> Result:
    """`asyncio.run` in virtual time."""
    clock = clock or SimClock()
    with asyncio.Runner(loop_factory=lambda: SimLoop(clock)) as runner:
        return runner.run(main)


class MovableClock:
    """A clock that runs by itself and can be pushed forward, from any thread."""

    def __init__(self, base: Clock | None = None) -> None:
        self._base: Clock = base or SystemClock()
        self._pushed_ms = 0

    def wall_ms(self) -> int:
        return self._base.wall_ms() + self._pushed_ms

    def monotonic(self) -> float:
        return self._base.monotonic() + self._pushed_ms / 1000

    def push(self, ms: int) -> None:
        """Move time forward without telling anybody; `MovableLoop.wake` makes what is due run."""
        assert ms >= 0, "monotonic time never goes back"
        self._pushed_ms += ms


class MovableLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers follow a movable clock."""

    def __init__(self, clock: MovableClock) -> None:
        # Set first: the base class asks for the time while it is built.
        self.clock = clock
        super().__init__()

    def time(self) -> float:
        return self.clock.monotonic()

    def wake(self) -> None:
        """From any thread: look at the clock again."""
        self.call_soon_threadsafe(_nothing)


def _nothing() -> None:
    """Waking a loop needs something for it to do."""
