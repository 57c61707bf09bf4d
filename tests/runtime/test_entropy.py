from __future__ import annotations

import pytest

from odradek.runtime.entropy import Entropy, SystemEntropy
from odradek.testing.sim_entropy import SeededEntropy


@pytest.fixture(params=[SystemEntropy(), SeededEntropy(7)], ids=["system", "seeded"])
def entropy(request: pytest.FixtureRequest) -> Entropy:
    drawn: Entropy = request.param
    return drawn


def test_bytes_have_the_size_asked_for_and_differ(entropy: Entropy) -> None:
    first, second = entropy.random_bytes(16), entropy.random_bytes(16)
    assert len(first) == len(second) == 16
    assert first != second


def test_every_number_below_a_bound_is_drawn_and_no_other(entropy: Entropy) -> None:
    assert {entropy.below(4) for _ in range(400)} == {0, 1, 2, 3}


def test_a_fraction_stays_below_one(entropy: Entropy) -> None:
    assert all(0 <= entropy.fraction() < 1 for _ in range(200))


def test_jitter_stays_within_its_spread(entropy: Entropy) -> None:
    drawn = [entropy.jitter(100, 0.2) for _ in range(200)]
    assert 80 <= min(drawn) < 100 < max(drawn) <= 120


def test_the_same_seed_draws_the_same() -> None:
    assert SeededEntropy(3).random_bytes(32) == SeededEntropy(3).random_bytes(32)
