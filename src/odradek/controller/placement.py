"""Which brokers hold a new partition: leaders go round, followers are spread, racks are shared out first.

The first replicas go round the brokers one by one. The others follow at a distance that grows by one each
time the first have been once around, so that two brokers do not share all their partitions. Where racks are
known the brokers are lined up rack by rack in turn, and a rack gets a second replica only when every rack has
one.

Where to start and at which distance are the caller's: random in a cluster, fixed in a test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count, zip_longest
from typing import NamedTuple

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId


class Start(NamedTuple):
    broker: int  # index of the broker that leads partition 0
    shift: int  # how far behind a leader its followers begin


def place(
    racks: Mapping[BrokerId, str | None], numbers: range, replication_factor: int, start: Start
) -> dict[int, tuple[BrokerId, ...]]:
    """The replicas of each partition; `ApiError` where brokers are too few or only some have racks."""
    if replication_factor <= 0:
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.")
    if replication_factor > len(racks):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor: {replication_factor} larger than available brokers: {len(racks)}.",
        )
    told = [rack for rack in racks.values() if rack is not None]
    if told and len(told) < len(racks):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Not all brokers have rack information for replica rack aware assignment.",
        )
    line = _rack_by_rack(racks) if told else sorted(racks)
    rack_of = {broker: racks[broker] if told else str(broker) for broker in line}
    apart = len(set(told)) if told else 1
    shift = start.shift
    placed = {}
    for number in numbers:
        if number > 0 and number % len(line) == 0:
            shift += 1
        first = (number + start.broker) % len(line)
        placed[number] = _one_partition(line, rack_of, first, shift * apart, replication_factor)
    return placed


def next_start(brokers: Sequence[BrokerId], leader_of_partition_0: BrokerId) -> Start:
    """Where to go on when a topic gets more partitions: as if they had been placed at once."""
    index = next((at for at, broker in enumerate(sorted(brokers)) if broker >= leader_of_partition_0), 0)
    return Start(index, index)


def _one_partition(
    line: Sequence[BrokerId],
    rack_of: Mapping[BrokerId, str | None],
    first: int,
    shift: int,
    replication_factor: int,
) -> tuple[BrokerId, ...]:
    chosen = [line[first]]
    racks_used = {rack_of[line[first]]}
    rack_count = len(set(rack_of.values()))
    for step in count():
        if len(chosen) == replication_factor:
            return tuple(chosen)
        distance = 1 + (shift + step) % (len(line) - 1)
        broker = line[(first + distance) % len(line)]
        every_rack_has_one = len(racks_used) == rack_count
        if broker not in chosen and (every_rack_has_one or rack_of[broker] not in racks_used):
            chosen.append(broker)
            racks_used.add(rack_of[broker])
    raise AssertionError("there are as many brokers as replicas, so the steps come to all of them")


def _rack_by_rack(racks: Mapping[BrokerId, str | None]) -> list[BrokerId]:
    """The first of each rack, then the second of each, and so on."""
    by_rack: dict[str, list[BrokerId]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker] or "", []).append(broker)
    rounds = zip_longest(*(by_rack[rack] for rack in sorted(by_rack)))
    return [broker for broker in chain.from_iterable(rounds) if broker is not None]
