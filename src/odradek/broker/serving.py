"""The logs that are served, gone through one by one, and what happens when one meets a failed disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from odradek.model.errors import StorageError

if TYPE_CHECKING:
    from odradek.log.directories import LogDirectories
    from odradek.log.directory import DataDirectory
    from odradek.log.log import PartitionLog
    from odradek.model.ids import Partition


class Served(NamedTuple):
    """A log, and where it is served from."""

    directory: DataDirectory
    partition: Partition
    log: PartitionLog

    @property
    def is_still(self) -> bool:
        return self.directory.logs.get(self.partition) is self.log


def serving(directories: LogDirectories) -> Iterator[Served]:
    """Every log that serves when its turn comes; logs may come and go between two of them."""
    for directory in directories.online:
        for partition, log in list(directory.logs.items()):
            served = Served(directory, partition, log)
            if served.is_still:
                yield served


@contextmanager
def blaming(directories: LogDirectories, log: PartitionLog) -> Iterator[None]:
    """A disk that fails takes this log's directory offline, and nothing else."""
    try:
        yield
    except StorageError as failure:
        directories.failed(log.directory, str(failure))
