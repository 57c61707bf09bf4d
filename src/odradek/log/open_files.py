"""How many inactive files are held open at once, for all logs of a data directory together.

A segment that is written to holds its own files. Any other is opened when it is read, kept while there is
room, and let go when others were used since; a slice on its way to a client keeps its file open by itself.
"""

from __future__ import annotations

from odradek.log.disk import Disk, DiskFile

HELD_MAX = 512


class OpenFiles:
    """The files of one disk, of which the `held_max` used last stay open."""

    __slots__ = ("_held", "_held_max", "disk")

    def __init__(self, disk: Disk, held_max: int = HELD_MAX) -> None:
        self.disk = disk
        self._held_max = held_max
        self._held: dict[str, DiskFile] = {}  # least recently used first

    def open(self, path: str) -> DiskFile:
        """An existing file."""
        file = self._held.pop(path, None) or self.disk.open(path)
        self.hold(path, file)
        return file

    def hold(self, path: str, file: DiskFile) -> None:
        self._held[path] = file
        if len(self._held) > self._held_max:
            del self._held[next(iter(self._held))]

    def forget(self, path: str) -> None:
        """The file at `path` was renamed, cut or removed."""
        self._held.pop(path, None)

    def forget_below(self, directory: str) -> None:
        """The directory was renamed or removed: its paths may soon be another log's."""
        for path in [path for path in self._held if path.startswith(f"{directory}/")]:
            del self._held[path]
