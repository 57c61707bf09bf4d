"""One checkpoint file of a data directory: what it says, and how that changes, at once or off the loop.

A disk may take its time, and the loop has none. So what a file is to say next can be drafted: begun here,
written on a thread, put in the file's place here. What is kept at once meanwhile is the later word: the draft
is dropped.
"""

from __future__ import annotations

from odradek.log import checkpoint
from odradek.log.disk import Disk
from odradek.model.ids import Partition

Offsets = dict[Partition, int]


class OffsetFile:
    def __init__(self, disk: Disk, path: str) -> None:
        self.says: Offsets = {}
        self._disk = disk
        self._path = path
        self._draft: Draft | None = None

    def keep(self, offsets: Offsets) -> None:
        """Durably, now."""
        if offsets != self.says or self._draft is not None:
            checkpoint.write_offsets(self._disk, self._path, offsets)
        self.says, self._draft = offsets, None

    def draft(self, offsets: Offsets) -> Draft | None:
        """The next is begun when this one was placed. None if the file says so already."""
        if offsets == self.says:
            return None
        self._draft = Draft(self, self._disk, f"{self._path}.draft", offsets)
        return self._draft

    def promises(self, partition: Partition) -> int:
        """The most that it says, or is about to say."""
        drafted = 0 if self._draft is None else self._draft.offsets.get(partition, 0)
        return max(self.says.get(partition, 0), drafted)

    def place(self, draft: Draft) -> None:
        if draft is self._draft:
            self._disk.rename(draft.path, self._path)
            self.says, self._draft = draft.offsets, None
        else:
            self._disk.remove(draft.path)


class Draft:
    def __init__(self, file: OffsetFile, disk: Disk, path: str, offsets: Offsets) -> None:
        self.path = path
        self.offsets = offsets
        self._file = file
        self._disk = disk

    def write(self) -> None:
        """May run on a thread while the logs go on. One that fails takes the directory offline."""
        checkpoint.write_offsets(self._disk, self.path, self.offsets)

    def place(self) -> None:
        """It was written: back where it was begun. That the file has changed is durable as soon as the system
        gets to it; until then an older one says less, and nothing that is wrong."""
        self._file.place(self)
