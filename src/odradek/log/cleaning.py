"""One round of compaction as the log's owner sees it: the order it gives, and what it does with the outcome.

The work between (`cleaner.py`) may be done by another process, and meanwhile the log goes on: it grows, its
oldest segments expire. What the round rewrote and is still there as it was is replaced; the rest is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from odradek.log.compaction import Cleanable
from odradek.log.disk import Disk
from odradek.log.open_files import OpenFiles
from odradek.log.segment import Segment
from odradek.log.segments import CLEANED
from odradek.log.settings import LogSettings

if TYPE_CHECKING:
    from odradek.log.log import PartitionLog  # a worker process is not to import it


class LastBatch(NamedTuple):
    """Where a producer stands. Its last batch stays, if need be without records: it tells the sequence."""

    last_offset: int  # -1 where only markers of it are known
    epoch: int


class KeyMapSettings(NamedTuple):
    """How many keys a round can tell apart."""

    size: int = 128 * 1024 * 1024  # bytes
    load_factor: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one round is to do, as plain values: it crosses processes."""

    directory: str
    base_offsets: tuple[int, ...]  # of all segments; those from `first_uncleanable` on stay
    cuts: int  # how often the log had been cut when this was ordered
    first_dirty: int
    first_uncleanable: int
    now_ms: int
    settings: LogSettings
    last_batches: Mapping[int, LastBatch]  # by producer id
    key_map: KeyMapSettings
    salt: bytes  # of the key map's fingerprints: fresh for each round, and secret


@dataclass(slots=True)
class Tally:
    """How much a round went through, and how much of it stays."""

    bytes_read: int = 0
    bytes_kept: int = 0
    records_read: int = 0
    records_kept: int = 0


class Swap(NamedTuple):
    """A finished segment, its files named .cleaned, and the segments whose place it takes."""

    base_offset: int
    replaced: tuple[int, ...]


class Cleaned(NamedTuple):
    """What a round came to. The swaps are carried out in this order, or a crash between them undoes some:
    on starting, every swap from a .cleaned file's offset on is taken for unfinished."""

    swaps: tuple[Swap, ...]
    cleaned_until: int  # the checkpoint's new offset
    keys: int
    tally: Tally


def order(log: PartitionLog, found: Cleanable, now_ms: int, salt: bytes, key_map: KeyMapSettings) -> Order:
    """The order for a round of `log`, of which `found` may be cleaned. One log has one round at a time."""
    assert found.first_dirty < found.first_uncleanable, "nothing to clean"
    log.segments[-1].txn_index.write_out()  # whoever cleans in another process reads it from the file
    return Order(
        directory=log.directory,
        base_offsets=tuple(segment.base_offset for segment in log.segments),
        cuts=log.cuts,
        first_dirty=found.first_dirty,
        first_uncleanable=found.first_uncleanable,
        now_ms=now_ms,
        settings=log.settings,
        last_batches={
            each.producer_id: LastBatch(each.last_offset, each.epoch) for each in log.producers.describe()
        },
        key_map=key_map,
        salt=salt,
    )


def finish(log: PartitionLog, disk: Disk, order: Order, cleaned: Cleaned, now_ms: int) -> bool:
    """Put in place what a round made. False if the log was cut meanwhile: then nothing of it counts."""
    there = {segment.base_offset: segment for segment in log.segments} if log.cuts == order.cuts else {}
    fitting = [swap for swap in cleaned.swaps if all(base in there for base in swap.replaced)]
    # What does not fit goes first: were it still there when a swap is interrupted, that would be undone.
    for swap in cleaned.swaps:
        if swap not in fitting:
            Segment.existing(OpenFiles(disk), log.directory, swap.base_offset, CLEANED).remove()
    for swap in fitting:
        log.replace_segments([there[base] for base in swap.replaced], swap.base_offset, now_ms)
    return log.cuts == order.cuts
