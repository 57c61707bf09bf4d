"""Where replicas lie, who leads them, and what the cluster may use."""

from __future__ import annotations

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.producing import batch, producing
from tests.compatibility.scenes.topics import CRASH, SCALA, creating, topic

from odradek.wire.messages.features import FeatureUpdate, UpdateFeaturesRequest
from odradek.wire.messages.reassign import (
    AlterPartitionReassignmentsRequest,
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ElectionTopic,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    ListReassignmentsTopic,
    ReassignablePartition,
    ReassignableTopic,
)

Parts = tuple[int, ...]


# -- log directories ---------------------------------------------------------------------------------------


def looking(*topics: tuple[str, Parts], version: int = 4) -> Ask:
    described = tuple(DescribableLogDirTopic(topic=name, partitions=numbers) for name, numbers in topics)
    return Ask(DescribeLogDirsRequest(topics=described), version)


def log_directories() -> Script:
    yield Ask(DescribeLogDirsRequest(topics=None), 4)
    yield creating(topic("made", 2))
    yield producing("made", batch(b"a", b"b"))
    for version in versions("DescribeLogDirs"):
        yield looking(("made", (0, 1)), version=version)
        yield Ask(DescribeLogDirsRequest(topics=None), version)
    yield looking(("made", (0, 7)), ("never-made", (0,)))
    yield looking(("made", (0,)), ("made", (1,)))
    yield looking(("made", ()))
    yield looking()


def moving(path: str, *topics: tuple[str, Parts], version: int = 2) -> Ask:
    moved = tuple(AlterReplicaLogDirTopic(name=name, partitions=numbers) for name, numbers in topics)
    return Ask(AlterReplicaLogDirsRequest(dirs=(AlterReplicaLogDir(path=path, topics=moved),)), version)


def moves_between_log_directories() -> Script:
    yield creating(topic("made", 2))
    known = yield looking(("made", (0,)))
    assert isinstance(known, DescribeLogDirsResponse)
    path = known.results[0].log_dir
    for version in versions("AlterReplicaLogDirs"):
        yield moving(path, ("made", (0, 1)), version=version)
        yield moving("/nowhere", ("made", (0,)), version=version)
    yield moving(path, ("made", (0, 9)), ("never-made", (0,)))
    yield moving("/nowhere", ("made", (0, 9)), ("never-made", (0,)))
    yield moving("not/absolute", ("made", (0,)))
    yield moving("", ("made", (0,)))
    yield moving(path)
    yield Ask(AlterReplicaLogDirsRequest(dirs=()), 2)


# -- elections ---------------------------------------------------------------------------------------------


def electing(
    topics: tuple[tuple[str, Parts], ...] | None, kind: int = 0, version: int = 2, timeout_ms: int = 5000
) -> Ask:
    asked = (
        None if topics is None else tuple(ElectionTopic(topic=name, partitions=each) for name, each in topics)
    )
    return Ask(
        ElectLeadersRequest(election_type=kind, topic_partitions=asked, timeout_ms=timeout_ms), version
    )


def elections() -> Script:
    yield creating(topic("made", 2))
    for version in versions("ElectLeaders"):
        yield electing((("made", (0, 1)),), version=version)
        yield electing((("made", (0, 7)), ("never-made", (0,))), version=version)
        yield electing(None, version=version)
    for kind in (0, 1):
        yield electing((("made", (0, 7)), ("never-made", (0,)), ("with blank", (0,))), kind)
        yield electing(None, kind)
    yield electing((("made", (0, 0)),))
    yield electing((("made", (0,)), ("made", (1,))))
    yield electing((("made", ()),))
    yield electing(())
    yield electing((("made", (0,)),), timeout_ms=0)
    fields = ("error_code", "replica_election_results.partition_result.error_code")
    message = "replica_election_results.partition_result.error_message"
    for kind in (2, -1):
        yield electing((("made", (0,)),), kind).but(CRASH, *fields, message)


# -- reassignments -----------------------------------------------------------------------------------------


def reassigning(*topics: tuple[str, tuple[tuple[int, Parts | None], ...]], timeout_ms: int = 5000) -> Ask:
    asked = tuple(
        ReassignableTopic(
            name=name,
            partitions=tuple(
                ReassignablePartition(partition_index=number, replicas=replicas)
                for number, replicas in partitions
            ),
        )
        for name, partitions in topics
    )
    return Ask(AlterPartitionReassignmentsRequest(timeout_ms=timeout_ms, topics=asked), 0)


def listing(topics: tuple[tuple[str, Parts], ...] | None) -> Ask:
    asked = (
        None
        if topics is None
        else tuple(ListReassignmentsTopic(name=name, partition_indexes=each) for name, each in topics)
    )
    return Ask(ListPartitionReassignmentsRequest(timeout_ms=5000, topics=asked), 0)


def reassignments() -> Script:
    yield creating(topic("made", 2))
    yield reassigning(("made", ((0, (0,)),)))
    yield reassigning(("made", ((0, None),)))
    yield reassigning(("made", ((0, ()),)))
    for replicas in ((7,), (0, 7), (0, 0), (-1,), (0, -1)):
        yield reassigning(("made", ((0, replicas),))).but(SCALA, "responses.partitions.error_message")
    yield reassigning(("never-made", ((0, (0,)),)))
    yield reassigning(("never-made", ((0, None),)))
    yield reassigning(("made", ((9, (0,)),)))
    yield reassigning(("made", ((0, (0,)), (1, None), (5, None), (6, (0,)))), ("never-made", ((0, None),)))
    yield reassigning(("made", ((0, (0,)),)), ("made", ((1, (0,)),)))
    yield reassigning(("made", ((0, (0,)),)), timeout_ms=0)
    yield reassigning(("made", ()))
    yield reassigning()
    for topics in (None, (), (("made", (0, 1, 9)), ("never-made", (0,))), (("made", ()),)):
        yield listing(topics)


# -- features ----------------------------------------------------------------------------------------------


def feature_updates() -> Script:
    for version in versions("UpdateFeatures"):
        for name, level, downgrade, kind in (
            ("made.up", 1, False, 1),
            ("made.up", 0, True, 2),
            ("made.up", 0, True, 3),
            ("made.up", 0, False, 1),
            ("made.up", -1, False, 1),
            ("", 1, False, 1),
            ("metadata.version", 7, False, 1),
            ("made.up", 1, False, 9),
            ("made.up", 0, False, 0),
        ):
            update = FeatureUpdate(
                feature=name, max_version_level=level, allow_downgrade=downgrade, upgrade_type=kind
            )
            yield Ask(UpdateFeaturesRequest(feature_updates=(update,), timeout_ms=5000), version)
        yield Ask(UpdateFeaturesRequest(feature_updates=(), timeout_ms=5000), version)
    tried = FeatureUpdate(feature="made.up", max_version_level=1)
    yield Ask(UpdateFeaturesRequest(feature_updates=(tried,), validate_only=True), 1)


SCENES = (
    Scene(log_directories),
    Scene(moves_between_log_directories),
    Scene(elections),
    Scene(reassignments),
    Scene(feature_updates),
)
