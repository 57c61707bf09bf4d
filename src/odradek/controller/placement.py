"""Which brokers get a new partition's replicas: leaders spread evenly, followers shifted, racks apart.

Pure and repeatable: the caller draws `start` and `shift`, so that topics begin at different brokers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId

Racks: TypeAlias = Mapping[BrokerId, str | None]  # every live broker, with its rack


def place(
    racks: Racks, numbers: Sequence[int], copies: int, *, start: int, shift: int
) -> dict[int, tuple[BrokerId, ...]]:
    """Replicas for the partitions `numbers`, `copies` of each. Racks count when every broker has one."""
    if copies <= 0:
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.")
    if copies > len(racks):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {copies} time(s): The target replication factor of {copies} "
            f"cannot be reached because only {len(racks)} broker(s) are registered.",
        )
    by_rack = _by_rack(racks)
    ring = _alternating(by_rack) if by_rack else sorted(racks)
    rack_of: Racks = racks if by_rack else dict.fromkeys(racks)
    count = len(ring)
    first_number = numbers[0] if numbers else 0
    return {
        number: tuple(
            _replicas(
                ring,
                rack_of,
                copies,
                (number + start) % count,
                shift + number // count - first_number // count,
            )
        )
        for number in numbers
    }


def _replicas(
    ring: Sequence[BrokerId], racks: Racks, copies: int, leader_at: int, shift: int
) -> Iterator[BrokerId]:
    """The leader, then brokers further along the ring: of racks that have none yet, while there are such."""
    leader = ring[leader_at]
    yield leader
    # With the shift, partitions that share a leader do not all share their followers.
    others = [
        ring[(leader_at + 1 + (shift + step) % (len(ring) - 1)) % len(ring)] for step in range(len(ring) - 1)
    ]
    used_racks = {racks[leader]}
    chosen = 1
    while chosen < copies:
        fresh = [each for each in others if racks[each] is None or racks[each] not in used_racks]
        if not fresh:  # every rack has one: begin a second round
            used_racks.clear()
            continue
        used_racks.add(racks[fresh[0]])
        others.remove(fresh[0])
        yield fresh[0]
        chosen += 1


def _by_rack(racks: Racks) -> dict[str, list[BrokerId]]:
    """Brokers by rack; nothing if one has none, because then racks tell nothing."""
    found: dict[str, list[BrokerId]] = {}
    for broker, rack in sorted(racks.items()):
        if rack is None:
            return {}
        found.setdefault(rack, []).append(broker)
    return found


def _alternating(by_rack: Mapping[str, Sequence[BrokerId]]) -> list[BrokerId]:
    """One of each rack in turn, so that neighbours on the ring are racks apart."""
    longest = max(map(len, by_rack.values()))
    return [
        by_rack[rack][turn]
        for turn in range(longest)
        for rack in sorted(by_rack)
        if turn < len(by_rack[rack])
    ]
