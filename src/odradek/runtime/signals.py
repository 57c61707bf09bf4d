"""Stopping on SIGTERM and SIGINT: the first asks for a clean stop, the second stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While inside, the first signal calls `stop` on the running loop. From then on the system ends the
    process at a signal, even if the loop hangs."""
    loop = asyncio.get_running_loop()

    def received() -> None:
        for number in STOPPING:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop()

    for number in STOPPING:
        loop.add_signal_handler(number, received)
    try:
        yield
    finally:
        for number in STOPPING:
            loop.remove_signal_handler(number)


@contextmanager
def noticing_signals() -> Iterator[Callable[[], int | None]]:
    """For a loop that looks for itself: while inside, the first signal is only noted, and the function tells
    which one it was. The second ends the process at once."""
    noted: list[int] = []

    def received(number: int, _: FrameType | None) -> None:
        noted.append(number)
        for each in STOPPING:
            signal.signal(each, signal.SIG_DFL)

    before = {number: signal.signal(number, received) for number in STOPPING}
    try:
        yield lambda: noted[0] if noted else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
