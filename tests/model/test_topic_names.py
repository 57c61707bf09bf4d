"""Names of topics."""

from __future__ import annotations

import pytest

from odradek.model.topic_names import collide, complaint


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "__consumer_offsets", "...", "x" * 249])
def test_a_legal_name(name: str) -> None:
    assert complaint(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "é", "a\n", "x" * 250])
def test_an_illegal_name(name: str) -> None:
    assert complaint(name)


def test_a_dot_and_an_underscore_are_the_same_to_metrics() -> None:
    assert collide("a.b", "a_b")
    assert not collide("a.b", "a-b")
