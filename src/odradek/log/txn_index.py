"""The aborted transactions of one segment, for consumers that read committed data only.

An entry stands in the segment that holds the transaction's marker, so they ascend by the marker's offset.
Most segments have none, and then no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from odradek.log.entries import EntryFile
from odradek.log.producers import CompletedTransaction

_VERSION = 0
_LAST_OFFSET = 3  # the field


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int  # the marker's
    last_stable_offset: int  # where the stable part of the log ended once this was decided

    @classmethod
    def of(cls, completed: CompletedTransaction) -> AbortedTransaction:
        assert completed.aborted
        return cls(
            completed.producer_id, completed.first_offset, completed.last_offset, completed.last_stable_offset
        )


class TxnIndex(EntryFile):
    ENTRY = Struct(">hqqqq")
    __slots__ = ()

    def add(self, aborted: AbortedTransaction) -> None:
        self.push(_VERSION, *aborted)

    def ending_from(self, offset: int) -> Iterator[AbortedTransaction]:
        """Those whose marker does not lie before `offset`, by marker."""
        for number in range(self.count_not_above(offset - 1, _LAST_OFFSET), self.count):
            _, producer_id, first_offset, last_offset, last_stable_offset = self.entry(number)
            yield AbortedTransaction(producer_id, first_offset, last_offset, last_stable_offset)

    def cut_from(self, offset: int) -> None:
        """The .log ends before `offset` from now on."""
        self.cut(self.count_not_above(offset - 1, _LAST_OFFSET))
