"""At most so many bytes a second: for work that would otherwise take a whole disk for itself."""

from __future__ import annotations

import time
from collections.abc import Callable

_NAP_S = 0.01  # less is owed until it is worth sleeping for


class Pace:
    """Call it with every number of bytes read or written; it sleeps as long as that should have taken. What
    was not used is not saved up. Crosses processes, where its pace is its own."""

    def __init__(
        self,
        bytes_per_second: float,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        assert bytes_per_second > 0
        self._bytes_per_second = bytes_per_second
        self._monotonic = monotonic
        self._sleep = sleep
        self._paid_until = 0.0

    def __call__(self, size: int) -> None:
        now = self._monotonic()
        self._paid_until = max(self._paid_until, now) + size / self._bytes_per_second
        if self._paid_until - now >= _NAP_S:
            self._sleep(self._paid_until - now)
