"""The producer snapshots of a log: files that say what was known of its producers where a segment begins.

One is written when a segment is finished and when the log is closed. They only save time: with the checksum
they carry, a damaged one is passed over for an older one, and the log's own batches tell the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from odradek.log.disk import Disk, DiskFile
from odradek.log.producers import ProducerStates
from odradek.log.segment import Segment
from odradek.model.errors import StorageError
from odradek.wire.batch import CONTROL

SNAPSHOT = ".snapshot"


class Snapshots:
    """Those of one directory, by offset."""

    __slots__ = ("_directory", "_disk", "offsets")

    def __init__(self, disk: Disk, directory: str, names: Iterable[str]) -> None:
        self.offsets = sorted(int(name[:20]) for name in names if name.endswith(SNAPSHOT))
        self._disk = disk
        self._directory = directory

    def path(self, offset: int) -> str:
        return f"{self._directory}/{offset:020d}{SNAPSHOT}"

    def write(self, offset: int, producers: ProducerStates) -> DiskFile:
        """To be synced by the caller."""
        file = self._disk.open(self.path(offset), create=True)
        file.truncate(0)
        file.append(producers.snapshot())
        if offset not in self.offsets:
            self.offsets = sorted([*self.offsets, offset])
        return file

    def newest(self, offset: int) -> tuple[int, ProducerStates] | None:
        """The producers at the newest snapshot that does not lie above `offset` and can be read."""
        for at in reversed([each for each in self.offsets if each <= offset]):
            try:
                return at, ProducerStates.load(self._disk.read_file(self.path(at)))
            except StorageError:
                continue
        return None

    def remove(self, offsets: Iterable[int]) -> None:
        gone = set(offsets)
        for offset in self.offsets:
            if offset in gone:
                self._disk.remove(self.path(offset))
        self.offsets = [offset for offset in self.offsets if offset not in gone]

    def remove_above(self, offset: int) -> None:
        self.remove([each for each in self.offsets if each > offset])


def producers_at(snapshots: Snapshots, segments: Sequence[Segment], log_end: int) -> ProducerStates:
    """The producers as the batches of a log leave them."""
    begin, producers = snapshots.newest(log_end) or (0, ProducerStates())
    ends = [*(segment.base_offset for segment in segments[1:]), log_end]
    for segment, end in zip(segments, ends, strict=False):
        if begin < end:
            for position, header in segment.batches(segment.locate(begin) or 0):
                batch = segment.file.read(position, header.size) if header.attributes & CONTROL else b""
                producers.stored(header, batch)
    return producers
