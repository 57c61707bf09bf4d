"""Stopping on SIGTERM and SIGINT: the first asks for a clean stop, the second stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
