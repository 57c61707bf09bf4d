"""Taking records from topics for as long as a verb wants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Impossible

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

    from odradek.runtime.clock import Clock

_LOOK_S = 0.2  # how often it is looked whether to stop
_AT_ONCE_MAX = 500  # records taken from the client together
_NOTHING_FOUND_PAUSE_S = 0.5
_REFRESH_S = 300.0  # metadata.max.age.ms


class Idle(Exception):
    """No record came for as long as was said."""


class ByHand:
    """Every partition of some topics, without a group; those that come later too, from their beginning."""

    def __init__(self, consumer: Consumer, names: re.Pattern[str], *, offset: int) -> None:
        self._consumer = consumer
        self._names = names
        self._offset = offset
        self._held: set[tuple[str, int]] = set()
        self._due = 0.0

    def look(self, now: float) -> None:
        if now < self._due:
            return
        new = [each for each in self._found() if each not in self._held]
        if new:
            self._assign(new)
        self._due = now + (_REFRESH_S if self._held else _NOTHING_FOUND_PAUSE_S)

    def _found(self) -> list[tuple[str, int]]:
        from confluent_kafka import KafkaException

        try:
            topics = self._consumer.list_topics(timeout=10).topics
        except KafkaException:
            return []  # nobody answers yet; the client says so itself
        return [
            (name, number)
            for name, topic in sorted(topics.items())
            if self._names.fullmatch(name)
            for number in topic.partitions
        ]

    def _assign(self, new: list[tuple[str, int]]) -> None:
        from confluent_kafka import OFFSET_BEGINNING, TopicPartition

        self._consumer.incremental_assign([TopicPartition(*each, self._offset) for each in new])
        self._held.update(new)
        self._offset = OFFSET_BEGINNING


def arriving(
    consumer: Consumer,
    *,
    clock: Clock,
    stopped: Callable[[], object],
    idle_ms: int | None = None,
    look: Callable[[float], None] | None = None,
) -> Iterator[list[Message]]:
    """What came, some records at a time and at once, until it is to stop. `Idle` when nothing came."""
    heard = clock.monotonic()
    while stopped() is None:
        now = clock.monotonic()
        if look is not None:
            look(now)
        first = consumer.poll(_LOOK_S if idle_ms is None else min(_LOOK_S, idle_ms / 1000))
        if first is not None:
            batch = [each for each in (first, *consumer.consume(_AT_ONCE_MAX, 0)) if _is_record(each)]
            if batch:
                heard = clock.monotonic()
                yield batch
        elif idle_ms is not None and clock.monotonic() - heard > idle_ms / 1000:
            raise Idle


def _is_record(message: Message) -> bool:
    error = message.error()
    if error is None:
        return True
    if error.fatal():
        raise Impossible(error.str(), "org.apache.kafka.common.KafkaException")
    if error.name() != "_PARTITION_EOF":
        click.echo(f"WARN {error.str()}", err=True)
    return False
