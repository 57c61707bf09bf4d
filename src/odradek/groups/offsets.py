"""Committed offsets: how far each group has come, what a transaction has yet to decide, and what is too old.

There may be millions, so each is kept as the bytes it is stored as and read when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.groups.records import read_offset
from odradek.wire.messages.stored import OffsetCommitKey, OffsetCommitValue


class Place(NamedTuple):
    """What an offset is committed for."""

    group: str
    topic: str
    partition: int


class _Pending(NamedTuple):
    order: int  # of two undecided commits for one place, the later one counts
    value: bytes


@dataclass(slots=True)
class Offsets:
    _committed: dict[str, dict[str, dict[int, bytes]]] = field(default_factory=dict)
    _pending: dict[str, dict[Place, dict[int, _Pending]]] = field(
        default_factory=dict
    )  # by group, by producer
    _places: dict[int, set[Place]] = field(default_factory=dict)  # where a producer has something pending
    _order: int = 0

    # -- asking ------------------------------------------------------------------------------------------

    def get(self, place: Place) -> OffsetCommitValue | None:
        value = self._committed.get(place.group, {}).get(place.topic, {}).get(place.partition)
        return None if value is None else read_offset(value)

    def is_pending(self, place: Place) -> bool:
        return place in self._pending.get(place.group, {})

    def groups(self) -> Iterator[str]:
        """Those that have anything."""
        yield from self._committed
        yield from (group for group in self._pending if group not in self._committed)

    def has(self, group: str) -> bool:
        """Anything of this group, committed or pending."""
        return group in self._committed or group in self._pending

    def topics(self, group: str) -> Iterator[tuple[str, Iterable[int]]]:
        """Each topic that this group has committed offsets for, and for which of its partitions."""
        yield from self._committed.get(group, {}).items()

    def of(self, group: str) -> Iterator[tuple[Place, OffsetCommitValue]]:
        for topic, partitions in self._committed.get(group, {}).items():
            for partition, value in partitions.items():
                yield Place(group, topic, partition), read_offset(value)

    def places(self, group: str) -> list[Place]:
        """Where this group has something, committed or pending."""
        committed = [
            Place(group, topic, partition)
            for topic, partitions in self._committed.get(group, {}).items()
            for partition in partitions
        ]
        return list(dict.fromkeys([*committed, *self._pending.get(group, ())]))

    def has_others(self, group: str, places: Iterable[Place]) -> bool:
        """Has this group anything else?"""
        return not set(self.places(group)) <= set(places)

    # -- replay ------------------------------------------------------------------------------------------

    def commit(self, key: OffsetCommitKey, value: bytes | None) -> None:
        """This counts; without a value nothing does. What was pending there is overtaken."""
        place = Place(key.group, key.topic, key.partition)
        for producer_id in list(self._pending_at(place)):
            self._settle(place, producer_id)
        if value is not None:
            self._set(place, value)
        else:
            self._forget(place)

    def pend(self, producer_id: int, key: OffsetCommitKey, value: bytes) -> None:
        """This will count if the producer's transaction is committed."""
        place = Place(key.group, key.topic, key.partition)
        self._order += 1
        pending = self._pending.setdefault(place.group, {}).setdefault(place, {})
        pending[producer_id] = _Pending(self._order, value)
        self._places.setdefault(producer_id, set()).add(place)

    def decide(self, producer_id: int, *, committed: bool) -> None:
        """What this producer's transaction left pending counts from now on, or never will."""
        for place in list(self._places.get(producer_id, ())):
            decided = self._settle(place, producer_id)
            if committed:
                older = [
                    each for each, pending in self._pending_at(place).items() if pending.order < decided.order
                ]
                for each in older:
                    self._settle(place, each)
                self._set(place, decided.value)

    def _settle(self, place: Place, producer_id: int) -> _Pending:
        """This producer has nothing pending there any more."""
        pending = self._pending_at(place)
        settled = pending.pop(producer_id)
        if not pending:
            of_group = self._pending[place.group]
            del of_group[place]
            if not of_group:
                del self._pending[place.group]
        places = self._places[producer_id]
        places.remove(place)
        if not places:
            del self._places[producer_id]
        return settled

    def _pending_at(self, place: Place) -> dict[int, _Pending]:
        return self._pending.get(place.group, {}).get(place, {})

    def _set(self, place: Place, value: bytes) -> None:
        topics = self._committed.get(place.group)
        if topics is None:
            topics = self._committed[place.group] = {}
        partitions = topics.get(place.topic)
        if partitions is None:
            partitions = topics[place.topic] = {}
        partitions[place.partition] = value

    def _forget(self, place: Place) -> None:
        topics = self._committed.get(place.group, {})
        partitions = topics.get(place.topic, {})
        partitions.pop(place.partition, None)
        if not partitions:
            topics.pop(place.topic, None)
            if not topics:
                self._committed.pop(place.group, None)
