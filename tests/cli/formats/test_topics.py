"""What the recorded clusters had nothing of: replicas that move, replicas that are lost."""

from __future__ import annotations

import pytest

from odradek.cli.formats.topics import (
    TopicReport,
    as_json,
    at_min_isr,
    description,
    partition_line,
    topic_line,
    unavailable,
    under_min_isr,
    under_replicated,
)
from odradek.wire.messages.configs import DescribedConfig
from odradek.wire.messages.metadata import MetadataPartition, MetadataTopic
from odradek.wire.messages.reassign import OngoingPartitionReassignment


def report(
    replicas: tuple[int, ...] = (0, 1), isr: tuple[int, ...] = (0, 1), leader: int = 0, minimum: str = "1"
) -> TopicReport:
    partition = MetadataPartition(
        error_code=0, partition_index=0, leader_id=leader, replica_nodes=replicas, isr_nodes=isr
    )
    topic = MetadataTopic(error_code=0, name="t", topic_id=bytes(16), partitions=(partition,))
    setting = DescribedConfig(
        name="min.insync.replicas", value=minimum, read_only=False, config_source=1, is_sensitive=False
    )
    return TopicReport(topic, (setting,))


def moving(report: TopicReport, adding: tuple[int, ...], removing: tuple[int, ...]) -> TopicReport:
    move = OngoingPartitionReassignment(
        partition_index=0, replicas=(), adding_replicas=adding, removing_replicas=removing
    )
    return report._replace(moving={0: move})


def line(report: TopicReport) -> str:
    return partition_line(report, report.partitions[0])


def test_replicas_on_the_move_are_shown_and_not_counted() -> None:
    found = moving(report(replicas=(0, 1, 2)), adding=(2,), removing=(0,))
    assert "\tIsr: 0,1\tAdding Replicas: 2\tRemoving Replicas: 0\tElr: N/A" in line(found)
    assert "\tReplicationFactor: 2\t" in topic_line(found)
    assert not under_replicated(found, found.partitions[0])


def test_nobody_leads() -> None:
    found = report(leader=-1, isr=())
    assert "\tLeader: none\t" in line(found)
    assert as_json(found)["partitions"] == [
        {"partition": 0, "leader": None, "leader_epoch": -1, "replicas": [0, 1], "isr": []}
    ]


@pytest.mark.parametrize("in_sync", range(4))
@pytest.mark.parametrize("minimum", [1, 2, 3])
def test_filters_compare_what_is_in_sync(in_sync: int, minimum: int) -> None:
    found = report(replicas=(0, 1, 2), isr=tuple(range(in_sync)), minimum=str(minimum))
    partition = found.partitions[0]
    assert under_replicated(found, partition) == (in_sync < 3)
    assert under_min_isr(found, partition) == (in_sync < minimum)
    assert at_min_isr(found, partition) == (in_sync == minimum)


@pytest.mark.parametrize(("leader", "lacks"), [(0, False), (1, True), (-1, True)])
def test_a_leader_has_to_be_alive(leader: int, lacks: bool) -> None:
    found = report(leader=leader)
    assert unavailable({0, 2})(found, found.partitions[0]) == lacks


def test_a_filter_leaves_the_topic_s_own_line_out() -> None:
    found = report()
    assert len(list(description(found))) == 2
    assert list(description(found, lambda _, __: True)) == [line(found)]
    assert list(description(found, lambda _, __: False)) == []
