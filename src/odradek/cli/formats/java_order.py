"""The order in which Java's hash maps give their keys back, because Kafka's tools print in it.

Keys that share a bucket come in the order they were put in, which is not always known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from odradek.model.ids import Partition

Key = TypeVar("Key")


def by_name(names: Collection[str]) -> list[str]:
    """As Kafka's client gives what it was asked for by names: a copy of them, put into a map for as many."""
    copied = in_map(sorted(names), hash_of_text, room=int(len(names) / 0.75 + 1))
    return in_map(copied, hash_of_text, room=len(names))


def in_map(keys: Collection[Key], hashed: Callable[[Key], int], *, room: int = 16) -> list[Key]:
    """As a HashMap made for `room` entries gives them, after they were put in in this order."""
    size = 1 << max(room - 1, 0).bit_length()
    while len(keys) > size * 3 // 4:
        size *= 2
    return sorted(keys, key=lambda key: _spread(hashed(key)) & (size - 1))


def hash_of_text(text: str) -> int:
    hashed = 0
    units = text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        hashed = (31 * hashed + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return hashed


def hash_of_partition(partition: Partition) -> int:
    return (31 * (31 + partition.number) + hash_of_text(partition.topic)) & 0xFFFFFFFF


def _spread(hashed: int) -> int:
    hashed &= 0xFFFFFFFF
    return hashed ^ hashed >> 16
