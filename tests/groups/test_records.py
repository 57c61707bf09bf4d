"""What groups store is what Kafka stores: its partition of __consumer_offsets is read, and written alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.groups.group import Group
from odradek.groups.offsets import Place
from odradek.groups.records import (
    UnknownRecord,
    group_tombstone,
    offset_record,
    offset_tombstone,
    read_group,
    read_key,
    read_offset,
)
from odradek.groups.settings import GroupSettings
from odradek.groups.shard import GroupShard
from odradek.model.outcome import StoredRecord
from odradek.wire.batch import CONTROL, TRANSACTIONAL, split
from odradek.wire.markers import MarkerType, decode_marker
from odradek.wire.messages.stored import GroupMetadataKey, OffsetCommitKey
from odradek.wire.records import read_records

GOLDEN = Path(__file__).parents[1] / "golden" / "offsets_topic"
SEGMENT = (GOLDEN / "00000000000000000000.log").read_bytes()
ANSWERS = (GOLDEN / "answers.txt").read_text()


def stored() -> Iterator[tuple[StoredRecord, int | None]]:
    """Every record of Kafka's, and the producer whose transaction it is part of."""
    for at, header in split(SEGMENT):
        for record in read_records(SEGMENT, at):
            assert record.key is not None
            if not header.attributes & CONTROL:
                is_pending = header.attributes & TRANSACTIONAL
                yield StoredRecord(record.key, record.value), header.producer_id if is_pending else None


@pytest.fixture(scope="module")
def shard() -> GroupShard:
    shard = GroupShard(GroupSettings())
    for at, header in split(SEGMENT):
        for record in read_records(SEGMENT, at):
            assert record.key is not None
            marker = decode_marker(record.key, record.value) if header.attributes & CONTROL else None
            if marker is not None:
                shard.replay_marker(header.producer_id, committed=marker.type is MarkerType.COMMIT)
            else:
                is_pending = header.attributes & TRANSACTIONAL
                shard.replay(StoredRecord(record.key, record.value), header.producer_id if is_pending else -1)
    return shard


def test_what_is_read_is_written_the_same() -> None:
    kinds = set()
    for record, _ in stored():
        key = read_key(record.key)
        kinds.add((type(key), record.value is None))
        match key:
            case OffsetCommitKey() if record.value is not None:
                assert offset_record(key, read_offset(record.value)) == record
            case OffsetCommitKey():
                assert offset_tombstone(key) == record
            case GroupMetadataKey(group=group_id) if record.value is not None:
                group = Group(group_id, GroupSettings())
                group.restore(read_group(record.value))
                group.store({member.id: member.assignment for member in group.members})
                assert group.take_outcome().records == (record,)
            case GroupMetadataKey(group=group_id):
                assert group_tombstone(group_id) == record
    assert kinds == {
        (cls, is_gone) for cls in (OffsetCommitKey, GroupMetadataKey) for is_gone in (True, False)
    }


@pytest.mark.parametrize("group_id", ["forgets", "plain", "expires", "committed", "aborted", "ongoing"])
def test_offsets_are_what_kafka_says_they_are(shard: GroupShard, group_id: str) -> None:
    place = Place(group_id, "t", 0)
    value = shard.offsets.get(place)
    told = next(
        line for line in ANSWERS.splitlines() if line.startswith("OffsetFetch") and repr(group_id) in line
    )
    assert f"committed_offset={-1 if value is None else value.offset}," in told
    assert f"metadata={'' if value is None else value.metadata!r}" in told
    assert shard.offsets.is_pending(place) == ("error_code=88" in told)


def test_groups_are_what_kafka_says_they_are(shard: GroupShard) -> None:
    found = {group.id: (group.state.value, group.protocol_type or "") for group in shard}
    assert sorted(found) == ["committed", "expires", "left", "ongoing", "plain", "static"]
    for group_id, (state, kind) in found.items():
        assert f"group_id={group_id!r}, group_state={state!r}, protocol_type={kind!r}" in ANSWERS
    group = shard.find("static")
    assert group is not None
    (member,) = group.members
    assert f"member_id={member.id!r}, group_instance_id='a', client_id='ann'" in ANSWERS
    assert (member.metadata("range"), member.assignment) == (b"meta", b"assigned")
    assert (member.session_timeout_ms, member.rebalance_timeout_ms) == (20_000, 30_000)


def test_keys_of_newer_brokers_are_told_from_ours() -> None:
    with pytest.raises(UnknownRecord):
        read_key(b"\0\3\0\1g")
    with pytest.raises(UnknownRecord):
        read_offset(b"\0\x63")
    shard = GroupShard(GroupSettings())
    shard.replay(StoredRecord(b"\0\3\0\1g", b"\0\0"), -1)
    shard.replay(StoredRecord(group_tombstone("g").key, b"\0\x63"), -1)
    assert (list(shard), shard.records_skipped) == ([], 2)
