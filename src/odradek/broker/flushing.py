"""Flushes, run on a thread one after the other, each with the time it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from odradek.log.flush import Flush
from odradek.model.errors import StorageError

Outcome: TypeAlias = float | StorageError  # seconds, or what went wrong


def run_flushes(flushes: Sequence[Flush], monotonic: Callable[[], float]) -> list[Outcome]:
    return [_outcome(flush, monotonic) for flush in flushes]


def _outcome(flush: Flush, monotonic: Callable[[], float]) -> Outcome:
    began = monotonic()
    try:
        flush.run()
    except StorageError as failure:
        return failure
    return monotonic() - began
