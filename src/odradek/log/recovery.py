"""Opening after a crash: the longest valid prefix of a log, its indexes and its producers."""

from __future__ import annotations

from typing import NamedTuple

from odradek.log.disk import Disk
from odradek.log.settings import LogSettings


class Known(NamedTuple):
    """What the checkpoint files of a data directory say about one log."""

    recovery_point: int = 0  # everything below was synced
    log_start: int = 0
    high_watermark: int = 0


NOTHING_KNOWN = Known()


class Recovered(NamedTuple):
    """What was found, for the log line and for the directory's report. Plain values: it crosses processes."""

    log_end: int
    bytes_read: int
    bytes_cut: int
    lines: tuple[str, ...]  # what was lost or mended, one sentence each


def recover(disk: Disk, directory: str, settings: LogSettings, known: Known = NOTHING_KNOWN) -> Recovered:
    """Leave in `directory` a log that `PartitionLog.open` takes for a cleanly closed one. Segments that end
    below the recovery point are only looked at. Needs nothing but its arguments: it runs in any process."""
    raise NotImplementedError
