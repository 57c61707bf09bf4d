"""The order in which Java's hash maps give their keys back, because Kafka's tools print in it."""

from __future__ import annotations

from collections.abc import Collection


def by_name(names: Collection[str]) -> list[str]:
    """As Kafka's client gives what it was asked for by names: a copy of them, put into a map for as many."""
    return in_map(in_map(sorted(names), room=int(len(names) / 0.75 + 1)), room=len(names))


def in_map(names: Collection[str], room: int = 16) -> list[str]:
    """As a HashMap made for `room` entries gives them, after they were put in in this order."""
    size = 1 << max(room - 1, 0).bit_length()
    while len(names) > size * 3 // 4:
        size *= 2
    return sorted(names, key=lambda name: _spread(name) & (size - 1))


def _spread(name: str) -> int:
    hashed = 0
    units = name.encode("utf-16-be")
    for at in range(0, len(units), 2):
        hashed = (31 * hashed + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return hashed ^ hashed >> 16
