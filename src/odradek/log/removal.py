"""What was deleted a while ago and may be removed now: a gigabyte keeps whoever removes it waiting."""

from __future__ import annotations

from typing import NamedTuple

from odradek.log.disk import Disk


class Removal(NamedTuple):
    disk: Disk
    files: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()

    def run(self) -> None:
        """May run on a thread. One that fails takes the data directory offline."""
        for path in self.files:
            self.disk.remove(path)
        for path in self.directories:
            self.disk.remove_tree(path)
