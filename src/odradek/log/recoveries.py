"""Many logs to recover after a crash, and how the work is shared among workers.

Everything here is plain values, so that it crosses processes: `recover_logs` is what a worker is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from odradek.log.disk import Disk
from odradek.log.recovery import Known, Recovered, recover
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError

_COST_OF_A_LOG = 64 * 1024  # what opening and listing costs, as so many bytes more to read


class Recovery(NamedTuple):
    """One log to recover."""

    directory: str
    settings: LogSettings
    known: Known
    size: int  # bytes to read


class Outcome(NamedTuple):
    """What became of a recovery: either what was found, or why it failed."""

    directory: str
    recovered: Recovered | None
    failure: str = ""


def recover_logs(disk: Disk, recoveries: Iterable[Recovery]) -> list[Outcome]:
    """One worker's share."""
    return [_recover(disk, each) for each in recoveries]


def shares(recoveries: Iterable[Recovery], count: int) -> list[list[Recovery]]:
    """At most `count` shares of about the same cost."""
    parts: list[list[Recovery]] = [[] for _ in range(count)]
    loads = [0] * count
    for each in sorted(recoveries, key=lambda recovery: recovery.size, reverse=True):
        least = loads.index(min(loads))
        parts[least].append(each)
        loads[least] += each.size + _COST_OF_A_LOG
    return [part for part in parts if part]


def _recover(disk: Disk, each: Recovery) -> Outcome:
    try:
        return Outcome(each.directory, recover(disk, each.directory, each.settings, each.known))
    except StorageError as error:
        return Outcome(each.directory, None, str(error))
