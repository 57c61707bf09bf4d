"""Pauses grow, up to a bound, and are not all the same."""

from __future__ import annotations

from itertools import islice

import pytest

from odradek.client.attempts import pauses_s
from odradek.testing.sim_entropy import SeededEntropy


@pytest.mark.parametrize("seed", range(20))
def test_pauses_grow_up_to_a_bound(seed: int) -> None:
    found = list(islice(pauses_s(100, 1000, SeededEntropy(seed)), 12))
    middles = [0.1, 0.2, 0.4, 0.8, *[1.0] * 8]
    for pause, middle in zip(found, middles, strict=True):
        assert 0.8 * middle <= pause <= 1.2 * middle
    assert len(set(found)) == len(found)
