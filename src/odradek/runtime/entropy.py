"""Randomness for ids and jitter, from the operating system; the only place it is drawn.

`testing/sim_entropy.py` has the twin that repeats itself from a seed.
"""

from __future__ import annotations

import os
from typing import Protocol


class Entropy(Protocol):
    def random_bytes(self, size: int) -> bytes: ...

    def fraction(self) -> float:
        """Evenly from [0, 1)."""
        ...

    def below(self, bound: int) -> int:
        """Evenly from 0, 1, ... bound - 1."""
        ...

    def jitter(self, middle: float, spread: float) -> float:
        """Evenly from middle * (1 - spread) to middle * (1 + spread)."""
        ...


class SystemEntropy:
    __slots__ = ()

    def random_bytes(self, size: int) -> bytes:
        return os.urandom(size)

    def fraction(self) -> float:
        return (int.from_bytes(os.urandom(7), "big") >> 3) / (1 << 53)

    def below(self, bound: int) -> int:
        assert bound > 0
        # Eight bytes more than the bound needs make the bias of the remainder immeasurable.
        return int.from_bytes(os.urandom(bound.bit_length() // 8 + 9), "big") % bound

    def jitter(self, middle: float, spread: float) -> float:
        return middle * (1 + spread * (2 * self.fraction() - 1))
