"""Consumer groups under the names that dashboards know: Kafka's counts of groups, kafka_exporter's lag.

Each group is told by the broker that coordinates it. Beside the lag in records stands the lag in seconds,
which says the same of a topic with a record a day and of one with a million a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from odradek.observe.exposition import Family, Sample, gauge, labels
from odradek.observe.sources import GroupFacts

_STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
_KAFKA = "kafka_coordinator_group_groupmetadatamanager"
_EXPORTER = "kafka_consumergroup"


def families(groups: Sequence[GroupFacts]) -> Iterator[Family]:
    yield from _counts(groups)
    members = [(labels(consumergroup=group.id), group.members) for group in groups]
    yield gauge(f"{_EXPORTER}_members", "Members of the group.", members)
    places = [
        (labels(consumergroup=group.id, topic=each.topic, partition=each.number), each)
        for group in groups
        for each in group.progress
    ]
    offsets = [(its, each.offset) for its, each in places]
    yield gauge(f"{_EXPORTER}_current_offset", "The offset that the group has committed.", offsets)
    lags: list[Sample] = [(its, each.lag) for its, each in places if each.lag is not None]
    yield gauge(f"{_EXPORTER}_lag", "Records that the group has not consumed yet.", lags)
    seconds = [(its, each.lag_s) for its, each in places if each.lag_s is not None]
    yield gauge(
        f"{_EXPORTER}_lag_seconds", "The age of the oldest record that it has not consumed yet.", seconds
    )
    yield from _sums(groups)


def _counts(groups: Sequence[GroupFacts]) -> Iterator[Family]:
    states = Counter(group.state for group in groups)
    yield gauge(f"{_KAFKA}_numgroups", "Groups coordinated here.", len(groups))
    for state in _STATES:
        yield gauge(f"{_KAFKA}_numgroups{state.lower()}", f"Those in state {state}.", states[state])
    offsets = sum(len(group.progress) for group in groups)
    yield gauge(f"{_KAFKA}_numoffsets", "Committed offsets kept here.", offsets)


def _sums(groups: Sequence[GroupFacts]) -> Iterator[Family]:
    offsets: Counter[tuple[str, str]] = Counter()
    lags: Counter[tuple[str, str]] = Counter()
    for group in groups:
        for each in group.progress:
            offsets[group.id, each.topic] += each.offset
            if each.lag is not None:
                lags[group.id, each.topic] += each.lag
    for name, meaning, sums in (
        ("current_offset_sum", "The committed offsets of all partitions together.", offsets),
        ("lag_sum", "Records of the topic that the group has not consumed yet.", lags),
    ):
        samples = [(labels(consumergroup=id, topic=topic), total) for (id, topic), total in sums.items()]
        yield gauge(f"{_EXPORTER}_{name}", meaning, samples)
