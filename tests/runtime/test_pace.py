from __future__ import annotations

import pickle
import sys

from odradek.runtime.pace import Pace


class Time:
    now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0.01, "not worth waking up for"
        self.now += seconds


def test_work_takes_as_long_as_its_bytes_allow() -> None:
    time = Time()
    pace = Pace(1000, time.monotonic, time.sleep)
    for size in (1, 1, 500, 3, 2000, 7, 100) * 10:
        pace(size)
    assert abs(time.now - 100 - 26.12) < 0.01


def test_idle_time_is_not_saved_up() -> None:
    time = Time()
    pace = Pace(1000, time.monotonic, time.sleep)
    pace(100)
    time.now += 60
    before = time.now
    pace(5000)
    assert time.now - before == 5.0


def test_no_limit_never_sleeps() -> None:
    time = Time()
    pace = Pace(sys.float_info.max, time.monotonic, time.sleep)
    for _ in range(1000):
        pace(1 << 30)
    assert time.now == 100.0


def test_it_crosses_processes() -> None:
    pickle.loads(pickle.dumps(Pace(1e9)))(1)
