from __future__ import annotations

from odradek.testing.sim_entropy import SeededEntropy


def test_two_seeds_draw_differently() -> None:
    assert SeededEntropy(1).random_bytes(16) != SeededEntropy(2).random_bytes(16)
