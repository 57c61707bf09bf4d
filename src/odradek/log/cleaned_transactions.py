"""Which batches of a transactional log compaction may discard: aborted data, and markers without data.

It is told every batch in offset order. A marker must outlive its data, or the data would look like an open
transaction's to whoever rebuilds producer state: only when a pass meets a marker and no batch of its
transaction may the marker go. An entry of the transaction index lives as long as its data, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from odradek.log.txn_index import AbortedTransaction
from odradek.wire.batch import CONTROL, TRANSACTIONAL, BatchHeader, Buffer
from odradek.wire.markers import MarkerType, read_marker


class CleanedTransactions:
    """The transactions of one pass over a log, whose aborted ones are known beforehand."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._to_come = deque(sorted(aborted, key=lambda each: each.first_offset))
        self._aborting: dict[int, AbortedTransaction] = {}  # by producer id, until its marker comes
        self._with_data: set[int] = set()  # producers of which this transaction's data was met
        self.indexed: list[
            AbortedTransaction
        ] = []  # whose markers were met after data; the caller takes them

    def may_discard(self, header: BatchHeader, batch: Buffer) -> bool:
        """Has this batch nothing to say to a reader of committed data? Of a marker: is its data gone?"""
        while self._to_come and self._to_come[0].first_offset <= header.last_offset:
            begun = self._to_come.popleft()
            self._aborting.setdefault(begun.producer_id, begun)
        if header.attributes & CONTROL:
            return self._decided(header, batch)
        if not header.attributes & TRANSACTIONAL:
            return False
        self._with_data.add(header.producer_id)
        return header.producer_id in self._aborting

    def _decided(self, header: BatchHeader, batch: Buffer) -> bool:
        if header.record_count == 0:
            return True  # an earlier round left nothing of it but its place
        marker = read_marker(batch)
        if marker is None:
            return False
        had_data = header.producer_id in self._with_data
        self._with_data.discard(header.producer_id)
        if marker.type is MarkerType.ABORT:
            aborted = self._aborting.pop(header.producer_id, None)
            if aborted is not None and had_data:
                self.indexed.append(aborted)
        return not had_data
