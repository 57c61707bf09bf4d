"""Records are appended, by producers with an id and without; and not."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.topics import CRASH, creating, topic

from odradek.testing.batches import T0
from odradek.wire.batch import checksum
from odradek.wire.compression import Codec
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData
from odradek.wire.messages.transactions import (
    DescribeProducersRequest,
    DescribeProducersTopic,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.wire.records import BatchBuilder, Producer

REASON = "we give another reason"
LOOKED = "Kafka refuses it before it looks for the log"
LOG_START = "responses.partition_responses.log_start_offset"
MESSAGE = "responses.partition_responses.error_message"
COORDINATOR_LOAD_IN_PROGRESS = 14
RECORD_MESSAGE = "responses.partition_responses.record_errors.batch_index_error_message"


def batch(
    *values: bytes,
    keys: Sequence[bytes | None] = (),
    producer: Producer | None = None,
    codec: Codec = Codec.NONE,
    transactional: bool = False,
    timestamp: int = T0,
) -> bytes:
    builder = BatchBuilder(producer=producer or Producer(), codec=codec, transactional=transactional)
    for number, value in enumerate(values):
        builder.append(timestamp + number, keys[number] if keys else None, value)
    return bytes(builder.build())


def producing(
    name: str, records: bytes | None, *, partition: int = 0, acks: int = -1, version: int = 11
) -> Ask:
    data = TopicData(name=name, partition_data=(PartitionData(index=partition, records=records),))
    return Ask(ProduceRequest(acks=acks, timeout_ms=5000, topic_data=(data,)), version)


def sealed(spoilt: bytearray) -> bytes:
    """With a checksum that is right."""
    struct.pack_into(">I", spoilt, 17, checksum(spoilt))
    return bytes(spoilt)


def appends() -> Script:
    yield creating(topic("made", 2))
    yield creating(topic("stamped", message_timestamp_type="LogAppendTime"))
    for version in versions("Produce"):
        for acks in (1, -1):
            yield producing("made", batch(b"a", b"b"), acks=acks, version=version)
        yield producing("made", batch(b"a"), acks=2, version=version)
        yield producing("made", batch(b"a"), partition=7, version=version)
        yield producing("never-made", batch(b"a"), version=version)
    for codec in Codec:
        yield producing("made", batch(b"a" * 100, b"b" * 100, codec=codec))
        yield producing("stamped", batch(b"a" * 100, codec=codec))
    both = TopicData(
        name="made",
        partition_data=(
            PartitionData(index=0, records=batch(b"a")),
            PartitionData(index=1, records=batch(b"a", b"b")),
        ),
    )
    yield Ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=(both,)), 11)
    yield Ask(ProduceRequest(acks=-1, timeout_ms=0, topic_data=(both,)), 11)
    yield Ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=()), 11)
    yield producing("made", batch(b"a"), partition=-1)
    yield producing("with blank", batch(b"a"))
    yield producing("", batch(b"a"))


def appends_of_what_is_no_batch() -> Script:
    yield creating(topic("made"))
    good = batch(b"abc", b"def")
    yield producing("made", good)
    spoilt = bytearray(good)
    spoilt[-1] ^= 1
    yield producing("made", bytes(spoilt)).but(REASON, MESSAGE)  # the checksum does not fit
    for magic in (1, 0, 3):  # other formats
        spoilt = bytearray(good)
        spoilt[16] = magic
        asked = producing("made", sealed(spoilt)).but(REASON, MESSAGE)
        yield asked.but(LOOKED, LOG_START) if magic < 2 else asked
    for offset_delta, count in ((1, 3), (1, 1), (5, 2), (0, 2), (-1, 0)):
        spoilt = bytearray(good)
        struct.pack_into(">i", spoilt, 23, offset_delta)
        struct.pack_into(">i", spoilt, 57, count)
        yield producing("made", sealed(spoilt)).but(REASON, MESSAGE)
    spoilt = bytearray(good)
    struct.pack_into(">h", spoilt, 21, 0x20)  # a control batch
    yield producing("made", sealed(spoilt)).but(REASON, MESSAGE)
    spoilt = bytearray(good)
    struct.pack_into(">h", spoilt, 21, 0x05)  # a codec that nobody knows
    yield producing("made", sealed(spoilt)).but(REASON, MESSAGE)
    yield producing("made", good[:-1]).but(REASON, MESSAGE).but(LOOKED, LOG_START)
    yield producing("made", good[:40]).but(REASON, MESSAGE).but(LOOKED, LOG_START)
    yield producing("made", good[:5]).but(REASON, MESSAGE).but(LOOKED, LOG_START)
    yield producing("made", good + good).but(REASON, MESSAGE).but(LOOKED, LOG_START)
    yield producing("made", b"").but(REASON, MESSAGE).but(LOOKED, LOG_START)
    yield producing("made", None).but(CRASH, "")
    yield producing("made", good)


def appends_that_a_topic_refuses() -> Script:
    yield creating(
        topic("small", max_message_bytes="200"),
        topic("keyed", cleanup_policy="compact"),
        topic("dated", message_timestamp_before_max_ms="1000"),
        topic("hurried", message_timestamp_after_max_ms="1000"),
        topic("demanding", min_insync_replicas="2"),
        topic("packed", compression_type="gzip"),
    )
    yield producing("small", batch(b"a" * 300)).but(REASON, MESSAGE)
    yield producing("small", batch(b"a" * 10))
    yield producing("small", batch(b"a" * 300, codec=Codec.GZIP))
    yield producing("keyed", batch(b"a")).but(REASON, MESSAGE, RECORD_MESSAGE)
    yield producing("keyed", batch(b"a", b"b", b"c", keys=(b"k", None, None))).but(
        REASON, MESSAGE, RECORD_MESSAGE
    )
    yield producing("keyed", batch(b"a", b"b", keys=(b"k", b"l")))
    yield producing("dated", batch(b"a", b"b")).but(REASON, MESSAGE, RECORD_MESSAGE)
    yield producing("hurried", batch(b"a", timestamp=4_000_000_000_000)).but(REASON, MESSAGE, RECORD_MESSAGE)
    yield producing("demanding", batch(b"a"))
    yield producing("demanding", batch(b"a"), acks=1)
    yield producing("packed", batch(b"a" * 100, b"b" * 100))


def producer_ids() -> Script:
    def asking(version: int = 5, **fields: int | str | None) -> Ask:
        request = InitProducerIdRequest(
            **{"transactional_id": None, "transaction_timeout_ms": 60_000, **fields}  # type: ignore[arg-type]
        )
        return Ask(request, version, has_loaded)

    for version in versions("InitProducerId"):
        yield asking(version)
    yield asking(producer_id=5)
    yield asking(producer_epoch=5)
    yield asking(producer_id=5, producer_epoch=0)
    yield asking(producer_id=-5, producer_epoch=-5)
    yield asking(transactional_id="")
    for timeout_ms in (-1, 0, 2**31 - 1):
        yield asking(transaction_timeout_ms=timeout_ms)


def has_loaded(answer: object) -> bool:
    """The first who ask may have to ask again, until there is a block of ids."""
    assert isinstance(answer, InitProducerIdResponse)
    return answer.error_code != COORDINATOR_LOAD_IN_PROGRESS


def appends_in_sequence() -> Script:
    yield creating(topic("made"))

    def by(epoch: int, sequence: int, count: int = 1, id: int = 77) -> Ask:
        return producing("made", batch(*[b"a"] * count, producer=Producer(id, epoch, sequence)))

    yield by(0, 0, 3)
    yield by(0, 3)
    yield by(0, 0, 3)  # a duplicate
    yield by(0, 3)
    yield by(0, 5).but(REASON, MESSAGE)  # a gap
    yield by(0, 4, 2)
    yield by(0, 4).but(REASON, MESSAGE)  # a part of one that was written
    yield by(1, 5).but(REASON, MESSAGE)  # a new epoch begins at 0
    yield by(1, 0)
    yield by(0, 6).but(REASON, MESSAGE)  # the old epoch is over
    yield by(1, 1)
    for sequence in range(2, 8):
        yield by(1, sequence)
    yield by(1, 1).but(REASON, MESSAGE)  # too old to be known
    yield by(1, 3)
    yield by(5, 2, id=88)  # unknown producers may begin anywhere
    yield by(5, 2**31 - 1, id=99)
    yield by(5, 0, id=99)  # after the last number comes the first
    yield by(-1, 0, id=66)
    yield by(0, -1, id=66).but(REASON, MESSAGE)
    producers = DescribeProducersTopic(name="made", partition_indexes=(0,))
    yield Ask(DescribeProducersRequest(topics=(producers,)), 0)


def descriptions_of_producers() -> Script:
    yield creating(topic("made", 2))
    yield producing("made", batch(b"a", b"b", producer=Producer(77, 3, 5)))
    for asked in (
        (("made", (0, 1)),),
        (("made", (0, 2, -1)), ("never-made", (0,)), ("with blank", (0,)), ("", (0,))),
        (("made", (0, 0)),),
        (("made", ()),),
        (),
    ):
        topics = tuple(DescribeProducersTopic(name=name, partition_indexes=each) for name, each in asked)
        yield Ask(DescribeProducersRequest(topics=topics), 0)


SCENES = (
    Scene(appends),
    Scene(appends_of_what_is_no_batch),
    Scene(appends_that_a_topic_refuses),
    Scene(producer_ids),
    Scene(appends_in_sequence),
    Scene(descriptions_of_producers),
)
