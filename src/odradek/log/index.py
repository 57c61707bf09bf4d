"""Where a segment's batches lie, by offset and by time: sparse, an entry every few kilobytes of log.

docs/formats/indexes.md shows both files. Offsets are kept relative to the segment's base offset, in 32 bits.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from odradek.log.entries import EntryFile

NO_TIMESTAMP = -1
RELATIVE_OFFSET_MAX = 0x7FFFFFFF


class OffsetIndex(EntryFile):
    """Last offset of a batch -> position of that batch in the .log."""

    ENTRY = Struct(">ii")
    __slots__ = ()

    @property
    def last(self) -> tuple[int, int] | None:
        """(last offset, position) of the newest entry."""
        if not self.count:
            return None
        relative, position = self.entry(self.count - 1)
        return self.base_offset + relative, position

    def add(self, last_offset: int, position: int) -> None:
        self.push(last_offset - self.base_offset, position)

    def position_before(self, offset: int) -> int:
        """Where to begin looking for the batch that holds `offset`."""
        number = self.count_not_above(offset - self.base_offset, 0) - 1
        return self.entry(number)[1] if number >= 0 else 0

    def offset_at(self, position: int) -> int | None:
        """An offset that does not lie before `position`, as near as the index knows."""
        number = self.count_not_above(position - 1, 1)
        return self.base_offset + self.entry(number)[0] if number < self.count else None

    def cut_from(self, position: int) -> None:
        """The .log ends at `position` from now on."""
        self.cut(self.count_not_above(position - 1, 1))


class LatestTimestamp(NamedTuple):
    """The largest timestamp of a stretch of log, and the last offset of the first batch that has it."""

    timestamp: int
    offset: int


class TimeIndex(EntryFile):
    """Largest timestamp so far -> last offset of the batch that brought it."""

    ENTRY = Struct(">qi")
    SPARE = 1  # for the entry that every segment ends with
    __slots__ = ()

    @property
    def last(self) -> LatestTimestamp:
        return self._at(self.count - 1)

    def add_if_later(self, latest: LatestTimestamp) -> None:
        """An entry says that nothing up to its offset is newer; one more is worth it only if it is newer."""
        if latest.timestamp > self.last.timestamp:
            self.push(latest.timestamp, latest.offset - self.base_offset)

    def offset_before(self, timestamp: int) -> int:
        """Where to begin looking for records of `timestamp`: all before are older."""
        return self._at(self.count_not_above(timestamp, 0) - 1).offset

    def cut_from(self, offset: int) -> None:
        """The .log ends before `offset` from now on."""
        self.cut(self.count_not_above(offset - 1 - self.base_offset, 1))

    def _at(self, number: int) -> LatestTimestamp:
        if number < 0:
            return LatestTimestamp(NO_TIMESTAMP, self.base_offset)
        timestamp, relative = self.entry(number)
        return LatestTimestamp(timestamp, self.base_offset + relative)
