"""One segment: a .log file with its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.log.disk import DiskFile
from odradek.log.open_files import OpenFiles
from odradek.wire.batch import BatchHeader


class FoundTimestamp(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int


class Segment:
    """Files of `directory` named by `base_offset`; nothing is opened before it is needed."""

    base_offset: int
    directory: str
    size: int  # of the .log

    def __init__(
        self, files: OpenFiles, directory: str, base_offset: int, *, size: int, suffix: str = ""
    ) -> None:
        raise NotImplementedError

    def path(self, kind: str) -> str:
        """kind: ".log", ".index", ".timeindex", ".txnindex", ".snapshot"."""
        raise NotImplementedError

    def file(self) -> DiskFile:
        raise NotImplementedError

    def batches(self, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        """(position, header) of every whole batch from `position`, headers only; stops where the bytes end or
        cannot be a batch."""
        raise NotImplementedError

    @property
    def max_timestamp(self) -> int:
        """-1 where no record has one."""
        raise NotImplementedError
