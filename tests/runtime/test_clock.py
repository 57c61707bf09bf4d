from __future__ import annotations

from odradek.runtime.clock import Clock, SystemClock


def test_wall_time_is_in_milliseconds_of_this_century() -> None:
    clock: Clock = SystemClock()
    assert 1_577_836_800_000 < clock.wall_ms() < 4_102_444_800_000


def test_monotonic_time_does_not_go_back() -> None:
    clock = SystemClock()
    readings = [clock.monotonic() for _ in range(100)]
    assert readings == sorted(readings)
