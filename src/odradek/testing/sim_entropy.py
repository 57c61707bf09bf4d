"""Randomness that a seed repeats."""

from __future__ import annotations

from random import Random


class SeededEntropy:
    """Twin of `runtime/entropy.py`: the same seed draws the same."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def random_bytes(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def fraction(self) -> float:
        return self._random.random()

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def jitter(self, middle: float, spread: float) -> float:
        return middle * (1 + spread * (2 * self.fraction() - 1))
