"""A bar on standard error that shows how far something got, where there is a person to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(doing: str, total: int) -> Iterator[Callable[[int], None]]:
    """Told how much is done, every now and then. Nothing is shown without a terminal, or without `rich`."""
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
        yield lambda done: bar.update(task, completed=done)
