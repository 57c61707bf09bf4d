"""New partitions are spread as Kafka spreads them.

`replica-placement-3.9.tsv` is what Kafka's `AdminUtils.assignReplicasToBrokers` answered for brokers 1, 3, 5,
... in these racks, nine partitions, with its fixed start index (which it takes for the shift as well).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from odradek.controller.placement import Start, next_start, place
from odradek.model.errors import ApiError
from odradek.model.ids import BrokerId


def brokers(racks: str) -> dict[BrokerId, str | None]:
    return {
        BrokerId(2 * at + 1): None if rack == "null" else rack
        for at, rack in enumerate(racks.strip("[]").split(","))
    }


def recorded() -> list[list[str]]:
    golden = Path(__file__).parents[1] / "golden" / "replica-placement-3.9.tsv"
    with golden.open(newline="") as file:
        return list(csv.reader(file, delimiter="\t"))[1:]


def test_partitions_are_placed_as_kafka_places_them() -> None:
    rows = recorded()
    assert len(rows) == 92
    for racks, factor, start, first, answer in rows:
        expected = {
            int(number): tuple(int(each) for each in replicas.split(","))
            for number, replicas in re.findall(r"(\d+)=\[([\d,]+)\]", answer)
        }
        numbers = range(int(first), int(first) + 9)
        placed = place(brokers(racks), numbers, int(factor), Start(int(start), int(start)))
        assert placed == expected, (racks, factor, start, first)


@pytest.mark.parametrize(("size", "racks"), list(product(range(1, 7), (None, 1, 2, 3))))
def test_replicas_differ_and_racks_are_shared_out(size: int, racks: int | None) -> None:
    line: dict[BrokerId, str | None] = {
        BrokerId(at): None if racks is None else f"r{at % racks}" for at in range(size)
    }
    for factor in range(1, size + 1):
        placed = place(line, range(size * 4), factor, Start(1, 2))
        for replicas in placed.values():
            assert len(set(replicas)) == factor
            used = {line[each] for each in replicas}
            assert racks is None or len(used) == min(factor, len(set(line.values())))
        leaders = Counter(replicas[0] for replicas in placed.values())
        assert set(leaders.values()) == {4}


def test_more_partitions_go_on_where_the_first_ended() -> None:
    line: dict[BrokerId, str | None] = {BrokerId(at): None for at in range(5)}
    start = Start(2, 2)
    whole = place(line, range(9), 3, start)
    again = next_start(list(line), whole[0][0])
    assert again == start
    assert place(line, range(4, 9), 3, again).keys() == {4, 5, 6, 7, 8}


@pytest.mark.parametrize(
    ("racks", "factor"), [({1: None}, 0), ({1: None}, 2), ({}, 1), ({1: "a", 2: None}, 1)]
)
def test_what_cannot_be_placed_is_refused(racks: dict[BrokerId, str | None], factor: int) -> None:
    with pytest.raises(ApiError, match="INVALID_REPLICATION_FACTOR"):
        place(racks, range(1), factor, Start(0, 0))
