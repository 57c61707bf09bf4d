"""The same cluster under the names of kafka_exporter, which other dashboards query.

That exporter asks from outside; here every partition is told by the broker that leads it, and what belongs to
the whole cluster, leaderless partitions included, by the controller. So each series is told once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from odradek.model.ids import NO_BROKER
from odradek.model.image import ClusterImage, PartitionImage
from odradek.observe.exposition import Family, Number, gauge, labels
from odradek.observe.sources import PartitionFacts, Sources

Led: TypeAlias = Sequence[tuple[str, PartitionFacts]]  # each with its labels


def families(sources: Sources, hosted: Led) -> Iterator[Family]:
    led = [(its, facts) for its, facts in hosted if facts.leads]
    controller = sources.controller()
    if controller is not None:
        yield from _cluster(controller.image)
    offsets: tuple[tuple[str, str, Callable[[PartitionFacts], Number]], ...] = (
        (
            "current_offset",
            "The offset behind the last that consumers see.",
            lambda facts: facts.high_watermark,
        ),
        ("oldest_offset", "The first offset.", lambda facts: facts.log_start),
    )
    for name, meaning, value in offsets:
        yield gauge(f"kafka_topic_partition_{name}", meaning, [(its, value(facts)) for its, facts in led])
    image = sources.image()
    states = [
        (its, state)
        for its, facts in led
        if (topic := image.topics.get(facts.topic)) is not None
        and (state := topic.partitions.get(facts.number)) is not None
    ]
    if controller is not None:
        states += _leaderless(controller.image)
    for name, meaning, told in _OF_A_STATE:
        yield gauge(f"kafka_topic_partition_{name}", meaning, [(its, told(state)) for its, state in states])


def _cluster(image: ClusterImage) -> Iterator[Family]:
    yield gauge("kafka_brokers", "Brokers of the cluster.", len(image.brokers))
    addresses = [
        (labels(id=broker.id, address=f"{broker.endpoints[0].host}:{broker.endpoints[0].port}"), 1)
        for broker in image.brokers.values()
        if broker.endpoints
    ]
    yield gauge("kafka_broker_info", "Where each is.", addresses)
    partitions = [(labels(topic=topic.name), len(topic.partitions)) for topic in image.topics.values()]
    yield gauge("kafka_topic_partitions", "Partitions of the topic.", partitions)


def _leaderless(image: ClusterImage) -> list[tuple[str, PartitionImage]]:
    return [
        (labels(topic=topic.name, partition=number), state._replace(leader=NO_BROKER))
        for topic in image.topics.values()
        for number, state in topic.partitions.items()
        if state.leader not in image.brokers
    ]


_OF_A_STATE: tuple[tuple[str, str, Callable[[PartitionImage], Number]], ...] = (
    ("leader", "The broker that leads it; -1: none.", lambda state: state.leader),
    (
        "leader_is_preferred",
        "1 where the first of its replicas leads it.",
        lambda state: int(state.replicas[:1] == (state.leader,)),
    ),
    ("replicas", "Its replicas.", lambda state: len(state.replicas)),
    ("in_sync_replica", "Its replicas in sync.", lambda state: len(state.isr)),
    (
        "under_replicated_partition",
        "1 where not all are in sync.",
        lambda state: int(len(state.isr) < len(state.replicas)),
    ),
)
