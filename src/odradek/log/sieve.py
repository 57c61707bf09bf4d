"""What of a batch still counts when its log is compacted.

Of each key the newest record counts; of an aborted transaction nothing does; a marker does as long as it has
data to decide. A tombstone counts for delete.retention.ms after the first round that met it as its key's
newest record, so that every reader on its way sees it; when that ends is noted in the batch as its *delete
horizon*. A marker is given the same grace once its transaction's data is gone.
"""

from __future__ import annotations

from odradek.log.cleaned_transactions import CleanedTransactions
from odradek.log.cleaning import Order, Tally
from odradek.log.key_map import KeyMap
from odradek.log.txn_index import AbortedTransaction
from odradek.wire.batch import CONTROL, BatchHeader, Buffer, read_header
from odradek.wire.records import read_keys, retain


class Sieve:
    """What of each batch still counts. It is shown every batch once, in order."""

    def __init__(
        self, order: Order, key_map: KeyMap, cleaned_until: int, transactions: CleanedTransactions
    ) -> None:
        self.tally = Tally()
        self._order = order
        self._key_map = key_map
        self._cleaned_until = cleaned_until
        self._transactions = transactions

    def sift(self, header: BatchHeader, batch: memoryview) -> Buffer | None:
        """The batch as it was, with fewer records, or nothing."""
        kept = (
            self._sift_marker(header, batch)
            if header.attributes & CONTROL
            else self._sift_data(header, batch)
        )
        self.tally.bytes_read += header.size
        self.tally.records_read += header.record_count
        if kept is not None:
            self.tally.bytes_kept += len(kept)
            self.tally.records_kept += read_header(kept).record_count
        return kept

    def take_indexed(self) -> list[AbortedTransaction]:
        """The aborted transactions whose markers were seen since the last call and still have data."""
        indexed, self._transactions.indexed = self._transactions.indexed, []
        return indexed

    def _sift_marker(self, header: BatchHeader, batch: memoryview) -> Buffer | None:
        is_idle = self._transactions.may_discard(header, batch)
        if is_idle and (not header.record_count or self._has_expired(header)):
            return self._emptied(header, batch)
        return self._thinned(header, batch, b"\1" * header.record_count, begins_horizon=is_idle)

    def _sift_data(self, header: BatchHeader, batch: memoryview) -> Buffer | None:
        is_aborted = self._transactions.may_discard(header, batch)
        if is_aborted or not header.record_count:
            return self._emptied(header, batch)
        until = self._cleaned_until
        tombstones_go = self._has_expired(header)
        records = list(read_keys(batch))
        newest = iter(self._key_map.newest(key for _, key, _ in records if key is not None))
        kept, has_tombstones = bytearray(), False
        for offset, key, has_value in records:
            is_newest = key is not None and next(newest) <= offset
            stays = offset >= until or (is_newest and (has_value or not tombstones_go))
            kept.append(stays)
            has_tombstones |= stays and not has_value
        if not any(kept):
            return self._emptied(header, batch)
        return self._thinned(header, batch, bytes(kept), begins_horizon=has_tombstones)

    def _thinned(
        self, header: BatchHeader, batch: memoryview, kept: bytes, *, begins_horizon: bool
    ) -> Buffer:
        if begins_horizon and header.delete_horizon_ms is None:
            horizon = self._order.now_ms + self._order.settings.delete_retention_ms
            return retain(batch, kept, delete_horizon_ms=horizon)
        return batch if all(kept) else retain(batch, kept)

    def _emptied(self, header: BatchHeader, batch: memoryview) -> Buffer | None:
        """Nothing, unless the batch's place is worth keeping: it tells a producer's last sequence, or, being
        the round's last, where the log went on."""
        last = self._order.last_batches.get(header.producer_id) if header.producer_id >= 0 else None
        if last is None:
            is_last = False
        elif last.last_offset < 0:
            is_last = bool(header.attributes & CONTROL) and header.producer_epoch == last.epoch
        else:
            is_last = header.last_offset == last.last_offset
        if is_last or header.next_offset == self._order.first_uncleanable:
            return retain(batch, bytes(header.record_count)) if header.record_count else batch
        return None

    def _has_expired(self, header: BatchHeader) -> bool:
        horizon = header.delete_horizon_ms
        return horizon is not None and horizon <= self._order.now_ms
