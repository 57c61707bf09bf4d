"""What a compaction's own process runs; apart, so that the process imports no more than this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from odradek.log.cleaner import Pay, clean
from odradek.log.cleaning import Cleaned, Order
from odradek.log.disk import Disk
from odradek.model.errors import StorageError
from odradek.runtime.pace import Pace


class Damage(NamedTuple):
    """Why a log could not be cleaned."""

    why: str


def clean_apart(orders: Sequence[Order], disk: Disk, bytes_per_second: float) -> list[Cleaned | Damage]:
    """One log after the other; what is wrong with one is no other's affair."""
    pay = Pace(bytes_per_second)
    return [_cleaned(order, disk, pay) for order in orders]


def _cleaned(order: Order, disk: Disk, pay: Pay) -> Cleaned | Damage:
    try:
        return clean(order, disk, pay)
    except (StorageError, FileNotFoundError) as damage:
        return Damage(str(damage))
