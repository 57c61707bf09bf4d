from __future__ import annotations

from odradek.observe.exposition import text
from odradek.observe.groups import families
from odradek.observe.sources import GroupFacts, ProgressFacts

READERS = GroupFacts(
    "readers",
    "Stable",
    2,
    [ProgressFacts("orders", 0, 10, 5, 2.5), ProgressFacts("orders", 1, 20, 0, 0.0)],
)
ELSEWHERE = GroupFacts("else", "Empty", 0, [ProgressFacts("orders", 0, 3, None, None)])


def told(*groups: GroupFacts) -> list[str]:
    return [line for line in "".join(text(families(groups))).splitlines() if not line.startswith("#")]


def test_a_group_is_told_by_partition_and_by_topic() -> None:
    lines = [line for line in told(READERS) if line.startswith("kafka_consumergroup_")]
    at = 'consumergroup="readers",topic="orders"'
    assert lines == [
        'kafka_consumergroup_members{consumergroup="readers"} 2',
        f'kafka_consumergroup_current_offset{{{at},partition="0"}} 10',
        f'kafka_consumergroup_current_offset{{{at},partition="1"}} 20',
        f'kafka_consumergroup_lag{{{at},partition="0"}} 5',
        f'kafka_consumergroup_lag{{{at},partition="1"}} 0',
        f'kafka_consumergroup_lag_seconds{{{at},partition="0"}} 2.5',
        f'kafka_consumergroup_lag_seconds{{{at},partition="1"}} 0.0',
        f"kafka_consumergroup_current_offset_sum{{{at}}} 30",
        f"kafka_consumergroup_lag_sum{{{at}}} 5",
    ]


def test_where_another_broker_leads_only_the_offset_is_told() -> None:
    lines = [line for line in told(ELSEWHERE) if 'partition="0"' in line]
    assert lines == [
        'kafka_consumergroup_current_offset{consumergroup="else",topic="orders",partition="0"} 3'
    ]
    assert not [line for line in told(ELSEWHERE) if "lag_sum" in line]


def test_groups_are_counted_by_state() -> None:
    lines = told(READERS, ELSEWHERE)
    prefix = "kafka_coordinator_group_groupmetadatamanager"
    assert f"{prefix}_numgroups 2" in lines
    assert f"{prefix}_numgroupsstable 1" in lines
    assert f"{prefix}_numgroupsempty 1" in lines
    assert f"{prefix}_numgroupsdead 0" in lines
    assert f"{prefix}_numoffsets 3" in lines
