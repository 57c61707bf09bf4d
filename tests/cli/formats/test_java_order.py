"""Orders that Kafka 3.9's tools were seen to print in."""

from __future__ import annotations

import pytest

from odradek.cli.formats.java_order import by_name, hash_of_text, in_map

SEEN = [
    ("orders", "fresh", "strict", "wide", "dotted.fresh"),
    ("orders", "bad", "wide", "fresh", "strict", "dotted.fresh"),
]


@pytest.mark.parametrize("seen", SEEN)
def test_topics_are_described_in_the_order_of_two_maps(seen: tuple[str, ...]) -> None:
    assert tuple(by_name(seen)) == seen


def test_names_outside_the_basic_plane_count_as_java_counts_them() -> None:
    assert in_map(["\N{GRINNING FACE}", "a"], hash_of_text, room=2) == ["\N{GRINNING FACE}", "a"]
