"""Wall and monotonic time; the only import of time.

A clock only tells the time. What must happen later is scheduled on the event loop, whose own time is its
clock's (`testing/sim_clock.py` has loops that follow a clock which jumps or is moved).
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def wall_ms(self) -> int:
        """Milliseconds since 1970, as stamped into records. May jump either way."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment. Never goes back."""
        ...


class SystemClock:
    """The machine's clocks."""

    __slots__ = ()

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
