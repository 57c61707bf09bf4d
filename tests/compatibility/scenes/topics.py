"""Topics are created, deleted and grown; and not."""

from __future__ import annotations

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions

from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from odradek.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
    ReplicaAssignment,
)

SCALA = "Kafka prints a collection of its language"
CRASH = "Kafka meets an exception that it did not expect"
TIMEOUT_MS = 10_000


def topic(
    name: str,
    partitions: int = 1,
    copies: int = 1,
    held: tuple[tuple[int, tuple[int, ...]], ...] = (),
    **config: str | None,
) -> CreatableTopic:
    """Settings are named with underscores for their dots."""
    return CreatableTopic(
        name=name,
        num_partitions=-1 if held else partitions,
        replication_factor=-1 if held else copies,
        assignments=tuple(ReplicaAssignment(partition_index=number, broker_ids=ids) for number, ids in held),
        configs=tuple(
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in config.items()
        ),
    )


def creating(
    *topics: CreatableTopic, version: int = 7, timeout_ms: int = TIMEOUT_MS, tried: bool = False
) -> Ask:
    request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=tried)
    return Ask(request, version)


def creation() -> Script:
    for version in versions("CreateTopics"):
        yield creating(topic(f"made-{version}", 2), version=version)
        yield creating(topic(f"made-{version}"), version=version)
        yield creating(topic(f"short-{version}", held=((1, (0,)), (0, (0,)))), version=version)
        yield creating(topic(f"default-{version}", -1, -1), version=version)
        yield creating(topic(f"odd-{version}", 0), topic(f"fine-{version}"), version=version)
    yield creating(topic("configured", cleanup_policy="compact, delete", retention_ms="100"))
    yield creating(topic("tried", retention_ms="100"), tried=True)
    yield creating(topic("tried", 0), tried=True)
    yield creating(topic("made-7"), tried=True)
    yield creating()
    yield creating(topic("at-once"), timeout_ms=0)
    yield creating(topic("before-now"), timeout_ms=-1)
    yield creating(topic("tried-at-once"), timeout_ms=0, tried=True)
    yield creating(topic("refused-at-once", 0), timeout_ms=0)


def creation_of_bad_names() -> Script:
    for name in ("", ".", "..", "x" * 249, "x" * 250, "with blank", "snö", "a/b", "a,b", "...", "-", "_"):
        yield creating(topic(name))
    yield creating(topic("twice"), topic("twice"), topic("once"))
    yield creating(topic("a.b"), topic("a_b"))
    yield creating(topic("a_b"))
    yield creating(topic("__cluster_metadata"))
    yield creating(topic("__consumer_offsets", cleanup_policy="compact"))
    yield creating(topic("__transaction_state"), tried=True)


def creation_with_bad_sizes() -> Script:
    for partitions, copies in ((0, 1), (-2, 1), (1, 0), (1, 2), (1, -2), (0, 0), (-(2**31), 1), (1, 32767)):
        yield creating(topic("odd", partitions, copies))
        yield creating(topic("odd", partitions, copies), tried=True)
    yield creating(topic("", 0))


def creation_with_assignments() -> Script:
    both = topic("both", held=((0, (0,)),))
    for partitions, copies in ((1, 1), (1, -1), (-1, 1)):
        yield creating(
            CreatableTopic(
                name="both",
                num_partitions=partitions,
                replication_factor=copies,
                assignments=both.assignments,
                configs=(),
            )
        )
    yield creating(topic("later", held=((1, (0,)),)))
    yield creating(topic("gap", held=((0, (0,)), (2, (0,)))))
    yield creating(topic("negative", held=((-1, (0,)),))).but(
        CRASH, "topics.error_code", "topics.error_message"
    )
    yield creating(topic("double", held=((0, (0, 0)),))).but(SCALA, "topics.error_message")
    yield creating(topic("uneven", held=((0, (0,)), (1, (0, 1)))))
    yield creating(topic("partly-empty", held=((0, (0,)), (1, ()))))
    yield creating(topic("elsewhere", held=((0, (7,)),)), timeout_ms=500)
    yield creating(topic("again", held=((0, (0,)), (0, (0,)))))
    refused = ("topics.error_code", "topics.error_message", "topics.topic_id")
    yield creating(topic("empty", held=((0, ()),)), timeout_ms=500).but(
        "a partition that nobody holds is no use to anybody", *refused
    )
    yield creating(topic("nobody", held=((0, (-1,)),)), timeout_ms=500).but(
        "no broker has a negative id", *refused
    )


def creation_with_bad_configs() -> Script:
    yield creating(topic("odd", nope="1"))
    yield creating(topic("odd", retention_ms="much"))
    yield creating(topic("odd", retention_ms="-5"))
    yield creating(topic("odd", retention_ms=None))
    yield creating(topic("odd", retention_ms=None, nope="1", segment_ms=None))
    yield creating(topic("odd", cleanup_policy="burn"))
    yield creating(topic("odd", min_compaction_lag_ms="10", max_compaction_lag_ms="5"))
    yield creating(topic("odd", message_format_version="0.9"))
    yield creating(topic("odd", min_insync_replicas="0"))
    yield creating(topic("odd", segment_bytes="13"))
    yield creating(topic("odd", compression_type="lzma"))
    yield creating(topic("odd", max_message_bytes="99999999999"))
    yield creating(topic("odd", preallocate="yes"))
    yield creating(topic("odd", min_cleanable_dirty_ratio="1.5"))
    twice = CreatableTopic(
        name="twice",
        num_partitions=1,
        replication_factor=1,
        assignments=(),
        configs=(
            CreatableTopicConfig(name="retention.ms", value="1"),
            CreatableTopicConfig(name="retention.ms", value="2"),
        ),
    )
    yield creating(twice)
    yield creating(topic("odd", remote_storage_enable="true")).but(
        "there is no tiered storage here at all", "topics.error_message"
    )


# -- deletion ----------------------------------------------------------------------------------------------


def deleting(*names: str, version: int = 6, timeout_ms: int = TIMEOUT_MS, ids: tuple[bytes, ...] = ()) -> Ask:
    return Ask(
        DeleteTopicsRequest(
            topics=(
                *(DeleteTopicState(name=name, topic_id=bytes(16)) for name in names),
                *(DeleteTopicState(name=None, topic_id=id) for id in ids),
            ),
            topic_names=names,
            timeout_ms=timeout_ms,
        ),
        version,
    )


def id_of(name: str) -> Ask:
    return Ask(MetadataRequest(topics=(MetadataRequestTopic(name=name),)), 12)


def deletion() -> Script:
    for version in versions("DeleteTopics"):
        yield creating(topic(f"made-{version}"))
        yield deleting(f"made-{version}", f"never-made-{version}", version=version)
        yield deleting(version=version)
    yield creating(topic("twice"), topic("at-once"))
    yield deleting("twice", "twice")
    yield deleting("twice")
    yield deleting("", "with blank", "..")
    yield deleting("at-once", timeout_ms=0)


def deletion_by_id() -> Script:
    yield creating(topic("made"), topic("kept"))
    known = yield id_of("made")
    assert isinstance(known, MetadataResponse)
    yield deleting(ids=(b"\1" * 16,))
    yield deleting(ids=(known.topics[0].topic_id,))
    both = DeleteTopicState(name="kept", topic_id=b"\2" * 16)
    yield Ask(DeleteTopicsRequest(topics=(both,), timeout_ms=TIMEOUT_MS), 6).but(
        "we say what is wrong", "responses.error_message"
    )
    yield deleting(ids=(bytes(16),)).but(
        "Kafka hides what is not there as if it were forbidden", "responses.error_code"
    )


def deletion_where_it_is_disabled() -> Script:
    yield creating(topic("made"))
    for version in versions("DeleteTopics"):
        yield deleting("made", "never-made", version=version)


# -- growth ------------------------------------------------------------------------------------------------


def growing(
    name: str,
    count: int,
    held: tuple[tuple[int, ...], ...] | None = None,
    *,
    version: int = 3,
    timeout_ms: int = TIMEOUT_MS,
    tried: bool = False,
) -> Ask:
    assignments = None if held is None else tuple(CreatePartitionsAssignment(broker_ids=ids) for ids in held)
    asked = CreatePartitionsTopic(name=name, count=count, assignments=assignments)
    return Ask(CreatePartitionsRequest(topics=(asked,), timeout_ms=timeout_ms, validate_only=tried), version)


def growth() -> Script:
    yield creating(topic("small", 2))
    for version in versions("CreatePartitions"):
        yield growing("small", 3 + version, version=version)
        yield growing("small", 1, version=version)
        yield growing("never-made", 3, version=version)
    for count in (6, 0, -1, 5):
        yield growing("small", count)
    yield growing("small", 7, ((0,),))
    yield growing("small", 8, ((0,),), tried=True)
    yield growing("small", 8, timeout_ms=0)
    yield growing("small", 8, timeout_ms=0, tried=True)
    yield growing("", 3).but(CRASH, "results.error_code", "results.error_message")
    yield growing("with blank", 3)
    twice = CreatePartitionsTopic(name="small", count=10, assignments=None)
    yield Ask(CreatePartitionsRequest(topics=(twice, twice), timeout_ms=TIMEOUT_MS, validate_only=False), 3)
    yield Ask(CreatePartitionsRequest(topics=(), timeout_ms=TIMEOUT_MS, validate_only=False), 3)


def growth_with_bad_assignments() -> Script:
    yield creating(topic("small"))
    for held in ((), ((0,), (0,)), ((7,),), ((0, 0),), ((),), ((-1,),), ((0, 7),)):
        yield growing("small", 2, held)
    yield growing("small", 3, ((0,), ()))
    yield growing("small", 3, ((0,), (7,)))
    yield growing("small", 2, ((7,),), tried=True)


SCENES = (
    Scene(creation),
    Scene(creation_of_bad_names),
    Scene(creation_with_bad_sizes),
    Scene(creation_with_assignments),
    Scene(creation_with_bad_configs),
    Scene(deletion),
    Scene(deletion_by_id),
    Scene(deletion_where_it_is_disabled, {"delete.topic.enable": "false"}),
    Scene(growth),
    Scene(growth_with_bad_assignments),
)
