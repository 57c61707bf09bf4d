"""The newest offset of each key, in 24 bytes a key and in no more memory than was asked for.

An open-addressing table in three flat arrays: a Python dict would hold a sixth as many keys in the same room,
and every round of compaction rewrites the log, so keys a round are what counts.

A key is known by its 128-bit fingerprint alone. Two keys that shared one would cost somebody a record, so it
is BLAKE2b under a salt that is fresh for each round: by chance, five million keys collide once in 10^25
rounds, and on purpose not at all, whereas two keys with the same MD5 (what Kafka uses) can be had for the
asking by whoever may write to the topic.
"""

from __future__ import annotations

import struct
from array import array
from hashlib import blake2b

from odradek.wire.batch import Buffer

SLOT_SIZE = 24
NO_OFFSET = -1

_halves = struct.Struct("<QQ").unpack
_FREE = 0


class KeyMap:
    """Holds `capacity` keys; `put` returns False when one more does not fit."""

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

    def put(self, key: Buffer, offset: int) -> bool:
        """Remember `offset` as the key's newest. Offsets come in ascending order."""
        high, low = self._fingerprint(key)
        slot = self._find(high, low)
        if self._high[slot] == _FREE:
            if self._count == self.capacity:
                return False
            self._high[slot], self._low[slot] = high, low
            self._count += 1
        self._offsets[slot] = offset
        return True

    def newest(self, key: Buffer) -> int:
        """The key's newest offset, or -1 if it was never put."""
        return self._offsets[self._find(*self._fingerprint(key))]

    def _fingerprint(self, key: Buffer) -> tuple[int, int]:
        hasher = self._salted.copy()
        hasher.update(key)
        high, low = _halves(hasher.digest())
        return high or 1, low  # 0 is a free slot's

    def _find(self, high: int, low: int) -> int:
        """The slot that holds this fingerprint, or the free one it would take."""
        highs, lows = self._high, self._low
        slot: int = low % self._slots
        while (found := highs[slot]) != _FREE and (found != high or lows[slot] != low):
            slot += 1
            if slot == self._slots:
                slot = 0
        return slot


def slots_for(records_max: int, buffer_size: int, load_factor: float) -> int:
    """How many slots a round wants: all that fit into the buffer, unless its records need fewer."""
    return min(buffer_size // SLOT_SIZE, int(records_max / load_factor) + 2)
