"""`odradek verifiable-consumer`: kafka-verifiable-consumer.

A member of a group that says in JSON what it was assigned, what it received and what it committed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.cli.events import Events
from odradek.cli.failures import Misused
from odradek.cli.flags import count, switch, text, verb, words
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, TopicPartition

    from odradek.cli.output import Row

_ENDLESS = -1
_ERROR = "verifiable-consumer: error: "


@dataclass(frozen=True, kw_only=True)
class VerifiableConsumerFlags:
    bootstrap_server: str | None = text("Brokers to connect to first.", shown="HOST:PORT,...")
    broker_list: str | None = text("The old name of --bootstrap-server.", shown="HOST:PORT,...")
    topic: str | None = text("The topic.", shown="NAME")
    group_id: str | None = text("The group.", shown="ID")
    group_instance_id: str | None = text("The name of this member, for it to stay one.", shown="ID")
    group_protocol: str = words("classic or consumer.", default="classic", shown="NAME")
    group_remote_assignor: str | None = text("Who assigns in the protocol consumer.", shown="NAME")
    max_messages: int = count("How many records; -1 for no end.", default=_ENDLESS)
    session_timeout: int = count("Out of the group after so long a silence.", default=30_000, shown="MS")
    verbose: bool = switch("Tell of every record.")
    enable_autocommit: bool = switch("Commit every now and then, not after every poll.")
    reset_policy: str = words("earliest, latest or none.", default="earliest", shown="POLICY")
    assignment_strategy: str = words(
        "Who assigns in the protocol classic.",
        default="org.apache.kafka.clients.consumer.RangeAssignor",
        shown="CLASS",
    )
    consumer_config: str | None = text("Properties of the consumer.", "--consumer.config", shown="FILE")


def run(flags: VerifiableConsumerFlags) -> None:
    from odradek.cli import librdkafka
    from odradek.runtime.clock import SystemClock
    from odradek.runtime.signals import noticing_signals

    servers = flags.bootstrap_server or flags.broker_list
    for name, value in (("topic", flags.topic), ("group-id", flags.group_id), ("bootstrap-server", servers)):
        if value is None:
            raise Misused(f"{_ERROR}argument --{name} is required")
    consumer = librdkafka.consumer(_properties(flags, servers or ""))
    member = _Member(flags, consumer, Events(SystemClock()))
    try:
        with noticing_signals() as stopped:
            member.consume(stopped)
    finally:
        consumer.close()
        member.events.tell("shutdown_complete")


class _Member:
    def __init__(self, flags: VerifiableConsumerFlags, consumer: Consumer, events: Events) -> None:
        self.events = events
        self._flags = flags
        self._consumer = consumer
        self._consumed = 0

    def consume(self, stopped: Callable[[], object]) -> None:
        from odradek.cli.consuming import arriving

        self.events.tell("startup_complete")
        self._consumer.subscribe(
            [self._flags.topic or ""],
            on_assign=lambda _, partitions: self._moved("partitions_assigned", partitions),
            on_revoke=lambda _, partitions: self._moved("partitions_revoked", partitions),
            on_lost=lambda _, partitions: self._moved("partitions_revoked", partitions),
        )
        for batch in arriving(self._consumer, clock=self.events.clock, stopped=stopped):
            self._received(batch)
            if 0 <= self._flags.max_messages <= self._consumed:
                return

    def _received(self, batch: Sequence[Message]) -> None:
        """All of a poll is counted; of more than are wanted, the rest is neither told of nor committed."""
        wanted = len(batch)
        if self._flags.max_messages != _ENDLESS:
            wanted = min(wanted, self._flags.max_messages - self._consumed)
        taken: dict[tuple[str, int], list[int]] = {}
        for each in batch[:wanted]:
            taken.setdefault((each.topic() or "", each.partition() or 0), []).append(each.offset() or 0)
            if self._flags.verbose:
                self._tell_of(each)
        self._consumed += wanted
        partitions: list[Row] = [
            {
                "topic": topic,
                "partition": partition,
                "count": len(offsets),
                "minOffset": min(offsets),
                "maxOffset": max(offsets),
            }
            for (topic, partition), offsets in taken.items()
        ]
        self.events.tell("records_consumed", count=len(batch), partitions=partitions)
        if not self._flags.enable_autocommit:
            self._commit({place: max(offsets) + 1 for place, offsets in taken.items()})

    def _tell_of(self, record: Message) -> None:
        key, value = (
            None if each is None else each.decode(errors="replace") for each in (record.key(), record.value())
        )
        self.events.tell(
            "record_data",
            key=key,
            value=value,
            topic=record.topic(),
            partition=record.partition(),
            offset=record.offset(),
        )

    def _commit(self, ends: dict[tuple[str, int], int]) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        offsets: list[Row] = [
            {"topic": topic, "partition": partition, "offset": end}
            for (topic, partition), end in ends.items()
        ]
        try:
            self._consumer.commit(
                offsets=[TopicPartition(*place, end) for place, end in ends.items()], asynchronous=False
            )
        except KafkaException as failure:
            (error,) = failure.args
            self.events.tell("offsets_committed", offsets=offsets, success=False, error=error.str())
        else:
            self.events.tell("offsets_committed", offsets=offsets, success=True)

    def _moved(self, event: str, partitions: Sequence[TopicPartition]) -> None:
        told: list[Row] = [{"topic": each.topic, "partition": each.partition} for each in partitions]
        self.events.tell(event, partitions=told)


def _properties(flags: VerifiableConsumerFlags, servers: str) -> dict[str, str]:
    is_classic = flags.group_protocol.lower() == "classic"
    asked = {
        "group.instance.id": flags.group_instance_id,
        "group.remote.assignor": None if is_classic else flags.group_remote_assignor,
        "session.timeout.ms": str(flags.session_timeout) if is_classic else None,
        "partition.assignment.strategy": flags.assignment_strategy if is_classic else None,
    }
    return {
        **(properties_in(flags.consumer_config) if flags.consumer_config else {}),
        "bootstrap.servers": servers,
        "group.id": flags.group_id or "",
        "group.protocol": flags.group_protocol.lower(),
        "enable.auto.commit": "true" if flags.enable_autocommit else "false",
        "auto.offset.reset": {"none": "error"}.get(flags.reset_policy, flags.reset_policy),
        **{key: value for key, value in asked.items() if value is not None},
    }


verifiable_consumer = verb(
    "verifiable-consumer",
    VerifiableConsumerFlags,
    run,
    help="Consume in a group, and say in JSON what is assigned, received and committed.",
    complaint=_ERROR,
)
