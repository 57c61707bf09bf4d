"""Offsets are found by time and epoch, and the start of a log is moved; and not."""

from __future__ import annotations

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.producing import batch, producing
from tests.compatibility.scenes.topics import CRASH, creating, topic

from odradek.testing.batches import T0
from odradek.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

OLD_STYLE = "topics.partitions.old_style_offsets"
BY_FILES = "version 0 goes by the age of Kafka's files; ours by what lies in them"


def listing(
    *asked: tuple[str, int, int], version: int = 9, isolation: int = 0, epoch: int = -1, count: int = 1
) -> Ask:
    topics = tuple(
        ListOffsetsTopic(
            name=name,
            partitions=(
                ListOffsetsPartition(
                    partition_index=number,
                    timestamp=timestamp,
                    current_leader_epoch=epoch,
                    max_num_offsets=count,
                ),
            ),
        )
        for name, number, timestamp in asked
    )
    return Ask(ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=topics), version)


def offsets_by_time() -> Script:
    yield creating(topic("made", 2))
    yield producing("made", batch(b"a", b"b", b"c"))
    yield producing("made", batch(b"d", timestamp=T0 + 1000))
    yield producing("made", batch(b"e", timestamp=T0 + 500))
    times = (-1, -2, -3, -4, -5, -6, -7, 0, T0, T0 + 1, T0 + 2, T0 + 3, T0 + 600, T0 + 1000, T0 + 1001)
    for version in versions("ListOffsets"):
        for timestamp in times:
            asked = listing(("made", 0, timestamp), version=version, count=5)
            yield asked.but(BY_FILES, OLD_STYLE) if version == 0 and timestamp >= T0 + 1000 else asked
        for timestamp in (-1, -2, -3):
            yield listing(("made", 1, timestamp), version=version)
        yield listing(("made", 0, -1), version=version, isolation=1)
        yield listing(("made", 7, -1), ("never-made", 0, -1), version=version)
    yield listing(("made", 0, -1), ("made", 0, -2))
    yield listing(("with blank", 0, -1), ("", 0, -1), ("made", -1, -1))
    yield listing()
    for epoch in (0, 1, 7):
        yield listing(("made", 0, -1), epoch=epoch)
    yield listing(("made", 0, -1), version=0, count=0)
    yield listing(("made", 0, -1), version=0, count=-1).but(CRASH, OLD_STYLE, "topics.partitions.error_code")


def ends_of_epochs() -> Script:
    yield creating(topic("made"))
    yield producing("made", batch(b"a", b"b", b"c"))
    for version in versions("OffsetForLeaderEpoch"):
        for current, epoch in ((-1, 0), (-1, 5), (-1, -1), (0, 0), (7, 0), (0, -2)):
            part = OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
            named = OffsetForLeaderTopic(topic="made", partitions=(part,))
            yield Ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=(named,)), version)
        for name, number in (("made", 7), ("never-made", 0), ("with blank", 0), ("made", -1)):
            part = OffsetForLeaderPartition(partition=number, leader_epoch=0)
            named = OffsetForLeaderTopic(topic=name, partitions=(part,))
            yield Ask(OffsetForLeaderEpochRequest(replica_id=-2, topics=(named,)), version)
        yield Ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=()), version)


def cutting(*asked: tuple[str, int, int], version: int = 2, timeout_ms: int = 5000) -> Ask:
    topics = tuple(
        DeleteRecordsTopic(
            name=name, partitions=(DeleteRecordsPartition(partition_index=number, offset=offset),)
        )
        for name, number, offset in asked
    )
    return Ask(DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms), version)


def deletion_of_records() -> Script:
    yield creating(topic("made", 2), topic("kept", cleanup_policy="compact"))
    yield producing("made", batch(b"a", b"b", b"c"))
    for version in versions("DeleteRecords"):
        yield cutting(("made", 0, version), version=version)
        yield cutting(("made", 0, 100), ("never-made", 0, 0), ("made", 7, 0), version=version)
        yield listing(("made", 0, -2))
    yield cutting(("made", 0, 1))  # it was moved further before
    yield cutting(("made", 0, -1))
    yield listing(("made", 0, -2), ("made", 1, -2))
    yield cutting(("made", 0, -2))
    yield cutting(("made", 0, 4))
    yield cutting(("made", 1, 0))
    yield cutting(("made", 1, -1))
    yield cutting(("kept", 0, 0))
    yield cutting(("with blank", 0, 0))
    yield cutting(("made", 0, 3), timeout_ms=0)
    yield cutting()


SCENES = (Scene(offsets_by_time), Scene(ends_of_epochs), Scene(deletion_of_records))
