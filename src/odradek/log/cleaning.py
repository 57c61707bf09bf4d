"""One round of compaction as the log's owner sees it: the order it gives, and what it does with the outcome.

The work between (`cleaner.py`) may be done by another process, and meanwhile the log goes on: it grows, its
oldest segments expire. What the round rewrote and is still there as it was is replaced; the rest is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from odradek.log.settings import LogSettings

CLEANED = ".cleaned"


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
