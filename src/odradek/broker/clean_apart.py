"""What a compaction's own process runs; apart, so that the process imports no more than this."""

from __future__ import annotations

from odradek.log.cleaner import clean
from odradek.log.cleaning import Cleaned, Order
from odradek.log.disk import Disk
from odradek.runtime.pace import Pace


def clean_apart(order: Order, disk: Disk, bytes_per_second: float) -> Cleaned:
    return clean(order, disk, Pace(bytes_per_second))
