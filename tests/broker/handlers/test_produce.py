"""What Produce promises."""

from __future__ import annotations

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from odradek.wire.messages.produce import (
    PartitionData,
    PartitionResponse,
    ProduceRequest,
    ProduceResponse,
    TopicData,
)
from odradek.wire.records import BatchBuilder, Producer


def batch(*values: bytes, producer: Producer | None = None) -> bytes:
    builder = BatchBuilder(producer=producer) if producer else BatchBuilder()
    for value in values:
        builder.append(1_700_000_000_000, None, value)
    return bytes(builder.build())


def request(topic: str, records: bytes | None, *, acks: int = -1, partition: int = 0) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=(
            TopicData(name=topic, partition_data=(PartitionData(index=partition, records=records),)),
        ),
    )


def answer(client: Conversation, asked: ProduceRequest, version: int = 11) -> PartitionResponse:
    response = client.ask(asked, version)
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0]


@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("version", range(3, 13))
def test_offsets_follow_one_another(client: Conversation, topic: str, acks: int, version: int) -> None:
    assert answer(client, request(topic, batch(b"a", b"b"), acks=acks), version).base_offset == 0
    assert answer(client, request(topic, batch(b"c"), acks=acks), version).base_offset == 2


def test_a_topic_may_be_told_by_its_id(client: Conversation, topic: str) -> None:
    known = client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=topic),)), 12)
    assert isinstance(known, MetadataResponse)
    asked = ProduceRequest(
        acks=1,
        timeout_ms=1000,
        topic_data=(
            TopicData(
                topic_id=known.topics[0].topic_id,
                partition_data=(PartitionData(index=0, records=batch(b"a")),),
            ),
        ),
    )
    response = client.ask(asked, 13)
    assert isinstance(response, ProduceResponse)
    assert response.responses[0].topic_id == known.topics[0].topic_id
    assert response.responses[0].partition_responses[0].error_code == 0


def test_an_unknown_id_is_no_topic(client: Conversation) -> None:
    asked = ProduceRequest(
        acks=1,
        timeout_ms=1000,
        topic_data=(
            TopicData(topic_id=b"\1" * 16, partition_data=(PartitionData(index=0, records=batch(b"a")),)),
        ),
    )
    assert answer(client, asked, 13).error_code == ErrorCode.UNKNOWN_TOPIC_ID.code


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"acks": 2}, ErrorCode.INVALID_REQUIRED_ACKS),
        ({"partition": 7}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_what_cannot_be_is_refused(
    client: Conversation, topic: str, change: dict[str, int], error: ErrorCode
) -> None:
    assert answer(client, request(topic, batch(b"a"), **change)).error_code == error.code


def test_a_damaged_batch_is_refused_and_leaves_nothing(client: Conversation, topic: str) -> None:
    damaged = bytearray(batch(b"a"))
    damaged[-1] ^= 1
    refused = answer(client, request(topic, bytes(damaged)))
    assert (refused.error_code, refused.base_offset) == (ErrorCode.CORRUPT_MESSAGE.code, -1)
    assert answer(client, request(topic, batch(b"a"))).base_offset == 0


def test_a_batch_sent_twice_gets_the_answer_of_the_first(client: Conversation, topic: str) -> None:
    once = batch(b"a", b"b", producer=Producer(7, 0, 0))
    assert answer(client, request(topic, once)).base_offset == 0
    assert answer(client, request(topic, batch(b"c"))).base_offset == 2
    assert answer(client, request(topic, once)).base_offset == 0
    gap = batch(b"d", producer=Producer(7, 0, 5))
    assert answer(client, request(topic, gap)).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.code


def test_without_acknowledgements_the_next_answer_is_the_next_requests(
    client: Conversation, topic: str
) -> None:
    client.send(request(topic, batch(b"a"), acks=0), 11)
    assert answer(client, request(topic, batch(b"b"))).base_offset == 1


def test_without_acknowledgements_a_refusal_closes(client: Conversation, topic: str) -> None:
    client.send(request(topic, batch(b"a"), acks=0, partition=9), 11)
    with pytest.raises(EOFError):
        client.receive_frame()


def test_a_topic_that_flushes_every_record_answers_once_it_is_durable(client: Conversation) -> None:
    with Broker({"log.flush.interval.messages": "1"}) as broker, Conversation(broker.bootstrap) as other:
        other.ask(MetadataRequest(topics=(MetadataRequestTopic(name="t"),)), 12)
        for expected in range(5):
            assert answer(other, request("t", batch(b"a"))).base_offset == expected
            assert broker.node.replicas.hosted("t", 0).log.recovery_point == expected + 1
