"""Compaction's work: what is superseded, deleted or aborted is left out, and offsets stay as they are.

A round has two passes. The first reads the dirty part of the log and notes in a `KeyMap` the newest offset of
every key, until the map is full. The second reads the log from its start to where the first one came and
writes, for each group of neighbouring segments, one new segment `<base offset>.<kind>.cleaned` of what still
counts. Nothing else is touched: the log's owner puts the new in the place of the old (`cleaning.py`).

So a round is a function of plain arguments, `clean`, which runs in any process, holds the key map and a few
buffers, and may be killed at any moment: the next one removes what it left and starts over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from odradek.log.cleaned_transactions import CleanedTransactions
from odradek.log.cleaning import Cleaned, Order, Swap
from odradek.log.compaction import SegmentFiles, grouped
from odradek.log.disk import Disk
from odradek.log.key_map import KeyMap, slots_for
from odradek.log.open_files import OpenFiles
from odradek.log.segment import INDEX, LOG, TIME_INDEX, Segment
from odradek.log.segments import CLEANED
from odradek.log.sieve import Sieve
from odradek.log.txn_index import AbortedTransaction
from odradek.model.errors import StorageError
from odradek.wire.batch import CONTROL, BadBatch, BatchHeader, check_checksum, read_header
from odradek.wire.records import read_keys

_NO_END = sys.maxsize

Pay: TypeAlias = Callable[[int], None]  # told of every byte read or written; may wait


def clean(order: Order, disk: Disk, pay: Pay) -> Cleaned:
    """Carry out a round, up to the swaps. `StorageError` where the log is not what it should be."""
    return _Round(order, disk, pay).run()


class _Round:
    def __init__(self, order: Order, disk: Disk, pay: Pay) -> None:
        self._order = order
        self._disk = disk
        self._pay = pay
        self._files = OpenFiles(disk)
        self._segments = [Segment.existing(self._files, order.directory, base) for base in order.base_offsets]
        self._place = order.directory  # where we are reading, for the message when it is damaged

    def run(self) -> Cleaned:
        self._remove_leftovers()
        self._make_durable()
        try:
            key_map, cleaned_until = self._read_dirty()
            aborted = self._aborted_from(self._segments[0].base_offset)
            sieve = Sieve(self._order, key_map, cleaned_until, CleanedTransactions(aborted))
            swaps = [self._rewrite(group, sieve) for group in self._groups(cleaned_until)]
        except BadBatch as error:
            raise StorageError(f"{self._place}: {error.detail}") from error
        self._disk.sync_directory(self._order.directory)
        return Cleaned(tuple(swaps), cleaned_until, len(key_map), sieve.tally)

    def _remove_leftovers(self) -> None:
        """Of a round that was killed. They would not only be in the way: on starting, every swap from a
        .cleaned file's offset on is taken for unfinished and undone."""
        for name in self._disk.list(self._order.directory):
            if name.endswith(CLEANED):
                self._disk.remove(f"{self._order.directory}/{name}")

    def _make_durable(self) -> None:
        """What lets older records go must outlive them: the newer ones, which get new files later than those
        they supersede, and the markers by which they count, which may lie as far as in the active segment."""
        for segment in self._segments_between(self._order.first_dirty, _NO_END):
            segment.file.sync()
        self._disk.sync_directory(self._order.directory)

    # -- the first pass ------------------------------------------------------------------------------------

    def _read_dirty(self) -> tuple[KeyMap, int]:
        """The newest offset of each key from `first_dirty` on, and where the map was full."""
        order = self._order
        records_max = order.first_uncleanable - order.first_dirty
        slots = slots_for(records_max, order.key_map.size, order.key_map.load_factor)
        key_map = KeyMap(slots, order.key_map.load_factor, order.salt)
        transactions = CleanedTransactions(self._aborted_from(order.first_dirty))
        for segment in self._segments_between(order.first_dirty, order.first_uncleanable):
            for header, batch in self._batches(segment, segment.locate(order.first_dirty)):
                if transactions.may_discard(header, batch) or header.attributes & CONTROL:
                    continue
                keyed = (
                    (offset, key)
                    for offset, key, _ in read_keys(batch)
                    if key is not None and offset >= order.first_dirty
                )
                full_at = key_map.put(keyed)
                if full_at is not None:
                    return key_map, full_at
        return key_map, order.first_uncleanable

    def _aborted_from(self, offset: int) -> Iterator[AbortedTransaction]:
        """Those decided at or behind `offset`. The marker may lie in a segment that is not cleaned."""
        for segment in self._segments:
            yield from segment.txn_index.ending_from(offset)

    # -- the second pass -----------------------------------------------------------------------------------

    def _groups(self, end: int) -> Iterator[list[Segment]]:
        by_base = {each.base_offset: each for each in self._segments_between(0, end)}
        files = [
            SegmentFiles(base, segment.size, self._size(segment, INDEX), self._size(segment, TIME_INDEX))
            for base, segment in by_base.items()
        ]
        for group in grouped(files, self._order.first_uncleanable, self._order.settings):
            yield [by_base[each.base_offset] for each in group]

    def _rewrite(self, group: Sequence[Segment], sieve: Sieve) -> Swap:
        """Everything of the group that stays, in a new segment with its indexes, synced."""
        order = self._order
        settings = replace(order.settings, preallocate=False)
        new = Segment.create(self._files, order.directory, group[0].base_offset, settings, CLEANED)
        for segment in group:
            for header, batch in self._batches(segment, 0):
                kept = sieve.sift(header, batch)
                if kept is not None:
                    new.append(kept, header.last_offset, read_header(kept).max_timestamp)
                    self._pay(len(kept))
        for aborted in sieve.take_indexed():
            new.txn_index.add(aborted)
        for file in new.finish():
            file.sync()
        return Swap(new.base_offset, tuple(each.base_offset for each in group))

    # -- both ----------------------------------------------------------------------------------------------

    def _segments_between(self, start: int, end: int) -> Iterator[Segment]:
        """Those that hold offsets from `start` up to `end`."""
        next_bases = [*self._order.base_offsets[1:], _NO_END]
        for segment, next_base in zip(self._segments, next_bases, strict=True):
            if segment.base_offset < end and next_base > start:
                yield segment

    def _batches(self, segment: Segment, begin: int | None) -> Iterator[tuple[BatchHeader, memoryview]]:
        """Every batch from position `begin` to the end, and not one fewer. What is rewritten gets a new
        checksum, so the old one is checked, and the offset, which none covers, held against its neighbours:
        damage must not be sealed as sound."""
        end = segment.size if begin is None else begin
        offset = segment.base_offset
        following = next((base for base in self._order.base_offsets if base > offset), _NO_END)
        for position, header, batch in segment.contents(end):
            self._place = f"{segment.path(LOG)}: byte {position}"
            check_checksum(batch, header)
            if not offset <= header.base_offset <= header.last_offset < following:
                raise StorageError(f"{self._place}: base offset {header.base_offset} is out of place")
            self._pay(header.size)
            yield header, batch
            end, offset = position + header.size, header.next_offset
        if end != segment.size:
            raise StorageError(f"{segment.path(LOG)}: no batch at byte {end} of {segment.size}")

    def _size(self, segment: Segment, kind: str) -> int:
        return self._disk.size(segment.path(kind))
