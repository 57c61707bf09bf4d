"""A bar on standard error that shows how far something got, where there is a person to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from odradek.runtime.clock import SystemClock

_REDRAWN_EVERY_S = 0.1


@contextmanager
def progress(doing: str, total: int) -> Iterator[Callable[[int], None]]:
    """Told how much is done, as often as one likes. Without a terminal or `rich` nothing is shown."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield lambda _: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        clock, due = SystemClock(), 0.0

        def show(done: int) -> None:
            nonlocal due
            if (now := clock.monotonic()) >= due:
                due = now + _REDRAWN_EVERY_S
                bar.update(task, completed=done)

        yield show
