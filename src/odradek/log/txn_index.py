"""The aborted transactions of one segment, for consumers that read committed data only."""

from __future__ import annotations

from typing import NamedTuple


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int  # the marker's
    last_stable_offset: int  # where the stable part of the log ended once this was decided
