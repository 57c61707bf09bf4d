"""The newest offset of each key, in 24 bytes a key and in no more memory than was asked for.

An open-addressing table in three flat arrays: a Python dict would hold a quarter as many keys in the room,
and every round of compaction rewrites the log, so keys a round are what counts.

A key is known by its 127-bit fingerprint alone. Two keys that shared one would cost somebody a record, so it
is BLAKE2b under a salt that is fresh for each round: by chance, five million keys collide once in 10^25
rounds, and on purpose not at all, whereas two keys with the same MD5 (what Kafka uses) can be had for the
asking by whoever may write to the topic.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b

SLOT_SIZE = 24
NO_OFFSET = -1

_halves = struct.Struct("<QQ").unpack
_FREE = 0
_TAKEN = 1  # a bit of every fingerprint, so that none is a free slot's


class KeyMap:
    """Holds `capacity` keys. Its methods take many at a time: what a call costs is worth more than a key."""

    def __init__(self, slots: int, load_factor: float, salt: bytes) -> None:
        self.capacity = int(slots * load_factor)
        assert 0 < self.capacity < slots, f"{slots} slots at a load of {load_factor} are no table"
        self._slots = slots
        self._high = array("Q", [_FREE]) * slots
        self._low = array("Q", [_FREE]) * slots
        self._offsets = array("q", [NO_OFFSET]) * slots
        self._salted = blake2b(digest_size=16, key=salt)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, keys: Iterable[tuple[int, bytes]]) -> int | None:
        """Remember (offset, key) as the key's newest; offsets ascend. None, or the first offset whose key is
        new and has no room."""
        highs, lows, offsets = self._high, self._low, self._offsets
        for offset, slot, high, low in self._places(keys):
            if highs[slot] == _FREE:
                if self._count == self.capacity:
                    return offset
                highs[slot], lows[slot] = high, low
                self._count += 1
            offsets[slot] = offset
        return None

    def newest(self, keys: Iterable[bytes]) -> list[int]:
        """The newest offset of each key, -1 for one that was never put."""
        offsets = self._offsets
        return [offsets[slot] for _, slot, _, _ in self._places(enumerate(keys))]

    def _places(self, keys: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, int, int, int]]:
        """Of each key its offset, the slot that it has or would take, and its fingerprint's halves."""
        salted, slots, highs, lows = self._salted.copy, self._slots, self._high, self._low
        for offset, key in keys:
            hasher = salted()
            hasher.update(key)
            high, low = _halves(hasher.digest())
            high |= _TAKEN
            slot = low % slots
            while (found := highs[slot]) != _FREE and (found != high or lows[slot] != low):
                slot = slot + 1 if slot + 1 < slots else 0
            yield offset, slot, high, low


def slots_for(records_max: int, buffer_size: int, load_factor: float) -> int:
    """How many slots a round wants: all that fit into the buffer, unless its records need fewer."""
    return min(buffer_size // SLOT_SIZE, int(records_max / load_factor) + 2)
