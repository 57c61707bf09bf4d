"""The row of segments that a log is: which of them holds an offset, and how they come and go as files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from odradek.log.open_files import OpenFiles
from odradek.log.removal import Removal
from odradek.log.segment import INDEX, KINDS, LOG, TIME_INDEX, TXN_INDEX, Segment
from odradek.log.settings import LogSettings
from odradek.log.txn_index import AbortedTransaction
from odradek.wire.parts import FileSlice

CLEANED = ".cleaned"  # a compacted segment in the making
SWAP = ".swap"  # a finished one, about to take its place
DELETED = ".deleted"  # to be removed when nobody can be reading it any more

_POSITIONS_MAX = 8


class Segments:
    """The segments of one log, oldest first; the last is the active one."""

    __slots__ = ("_deleted", "_directory", "_files", "_positions", "active", "row")

    def __init__(self, files: OpenFiles, directory: str, row: Sequence[Segment]) -> None:
        self.row = row  # replaced whole whenever it changes
        self.active = row[-1]
        self._files = files
        self._directory = directory
        self._deleted: list[tuple[int, str]] = []  # when it is due, and what is to be removed
        # Offset -> where its batch begins, or will. Readers come back where a slice ended, which is where an
        # offset that bounds reads stood.
        self._positions: dict[int, tuple[Segment, int]] = {}

    @staticmethod
    def named(files: OpenFiles, directory: str, names: Iterable[str]) -> list[Segment]:
        """Those whose .log is among `names`, oldest first."""
        bases = sorted(int(name[:20]) for name in names if name.endswith(LOG))
        return [Segment.existing(files, directory, base) for base in bases]

    # -- where things are ----------------------------------------------------------------------------------

    def position(self, offset: int) -> tuple[Segment, int]:
        """Where the batch that holds `offset` begins, or the next one, or the next one will."""
        found = self._positions.get(offset)
        if found is None or (found[1] == found[0].size and found[0] is not self.active):
            found = self._search(offset)
            self._remember(offset, found)
        return found

    def remember_end(self, log_end: int) -> None:
        self._remember(log_end, (self.active, self.active.size))

    def aborted(
        self, offset: int, segment: Segment, found: FileSlice, bound: int
    ) -> Iterator[AbortedTransaction]:
        """The aborted transactions with data in a slice of `segment` that was read from `offset` and ends
        below `bound`: they end in it or behind it."""
        first = self.row.index(segment)
        indexes = [each.txn_index for each in self.row[first:] if each.txn_index.count]
        if not indexes:
            return
        following = min((each.base_offset for each in self.row[first + 1 : first + 2]), default=bound)
        end = segment.index.offset_at(found.position + found.size)
        upper = min(bound, following if end is None else end)
        for index in indexes:
            for aborted in index.ending_from(offset):
                if aborted.first_offset < upper:
                    yield aborted
                if aborted.last_stable_offset >= upper:
                    return

    def _search(self, offset: int) -> tuple[Segment, int]:
        first = bisect_right(self.row, offset, key=_base_offset) - 1
        for segment in self.row[max(first, 0) :]:
            position = segment.locate(offset)
            if position is not None:
                return segment, position
        return self.active, self.active.size

    def _remember(self, offset: int, place: tuple[Segment, int]) -> None:
        if len(self._positions) >= _POSITIONS_MAX:
            del self._positions[next(iter(self._positions))]
        self._positions[offset] = place

    # -- coming --------------------------------------------------------------------------------------------

    def start(self, base_offset: int, settings: LogSettings) -> None:
        """A new active segment."""
        self.active = Segment.create(self._files, self._directory, base_offset, settings)
        self.row = [*self.row, self.active]

    def replace(self, old: Sequence[Segment], new_base_offset: int, due_ms: int) -> None:
        """Put the finished, synced files <base>.<kind>.cleaned in the place of `old`.

        With the .log's change to .swap, the last of its files', the new segment is decided on: recovery
        completes what a crash interrupts after that, and undoes what it interrupts before."""
        at = self.row.index(old[0])
        assert list(self.row[at : at + len(old)]) == list(old)
        assert self.active not in old
        new = Segment.existing(self._files, self._directory, new_base_offset, CLEANED)
        new.rename(SWAP, (INDEX, TIME_INDEX, TXN_INDEX, LOG))
        self._files.disk.sync_directory(self._directory)
        self._retire(old, due_ms)
        new.rename("")
        self._files.disk.sync_directory(self._directory)
        self.row = [*self.row[:at], new, *self.row[at + len(old) :]]
        self._positions.clear()

    # -- going ---------------------------------------------------------------------------------------------

    def drop_below(self, end: int, due_ms: int) -> Sequence[Segment]:
        """Those that lie wholly below `end`, never the active one; the oldest first, so that a crash leaves
        no hole."""
        ends = [segment.base_offset for segment in self.row[1:]]
        dropped = self.row[: bisect_right(ends, end)]
        self.row = self.row[len(dropped) :]
        self._retire(dropped, due_ms)
        return dropped

    def take_deleted(self, now_ms: int | None = None) -> Removal:
        """Of the .deleted files that are due; without a time, of all."""
        due = [each for each in self._deleted if now_ms is None or each[0] <= now_ms]
        self._deleted = [each for each in self._deleted if each not in due]
        return Removal(self._files.disk, files=tuple(path for _, path in due))

    def cut_from(self, offset: int, settings: LogSettings) -> int:
        """Forget the batch that holds `offset` and all behind it. Where the batches end now: an offset."""
        self._remove_from(bisect_right(self.row, offset, key=_base_offset))
        self.active = self.row[-1]
        return self.active.cut_from(offset, settings)

    def restart(self, base_offset: int, settings: LogSettings) -> None:
        """Forget all, and begin anew."""
        self._remove_from(0)
        self.start(base_offset, settings)

    def _remove_from(self, count: int) -> None:
        """The newest first, so that a crash leaves no hole; and durably, or what comes back could not be told
        from what follows the segment that goes on here."""
        self._positions.clear()
        for segment in reversed(self.row[count:]):
            segment.remove()
        if count < len(self.row):
            self._files.disk.sync_directory(self._directory)
        self.row = self.row[:count]

    def _retire(self, segments: Sequence[Segment], due_ms: int) -> None:
        for segment in segments:
            segment.rename(DELETED)
            self._deleted += [(due_ms, segment.path(kind)) for kind in KINDS]


_base_offset = attrgetter("base_offset")
