"""What Fetch promises."""

from __future__ import annotations

import time

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.fetch import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData
from odradek.wire.records import BatchBuilder, read_records


def produce(client: Conversation, topic: str, *values: bytes) -> None:
    builder = BatchBuilder()
    for value in values:
        builder.append(1_700_000_000_000, None, value)
    data = (PartitionData(index=0, records=bytes(builder.build())),)
    client.ask(
        ProduceRequest(acks=1, timeout_ms=1000, topic_data=(TopicData(name=topic, partition_data=data),)), 9
    )


def partition(offset: int = 0, size: int = 1 << 20, index: int = 0, epoch: int = -1) -> FetchPartition:
    return FetchPartition(
        partition=index, fetch_offset=offset, partition_max_bytes=size, current_leader_epoch=epoch
    )


def request(topic: str, *partitions: FetchPartition, wait_ms: int = 0, min_bytes: int = 1) -> FetchRequest:
    topics = (FetchTopic(topic=topic, partitions=partitions),) if partitions else ()
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=min_bytes, topics=topics)


def ask(client: Conversation, asked: FetchRequest, version: int = 12) -> FetchResponse:
    response = client.ask(asked, version)
    assert isinstance(response, FetchResponse)
    return response


def first(response: FetchResponse) -> FetchedPartition:
    return response.responses[0].partitions[0]


def values(fetched: FetchedPartition) -> list[bytes | None]:
    assert isinstance(fetched.records, memoryview)
    records = bytearray(fetched.records)
    return [record.value for record in read_records(records, size_max=1 << 20)] if records else []


@pytest.mark.parametrize("version", range(4, 13))
def test_what_was_produced_is_read(client: Conversation, topic: str, version: int) -> None:
    produce(client, topic, b"a", b"b")
    fetched = first(ask(client, request(topic, partition()), version))
    assert values(fetched) == [b"a", b"b"]
    assert (fetched.high_watermark, fetched.error_code) == (2, 0)


def test_an_empty_log_is_no_error(client: Conversation, topic: str) -> None:
    fetched = first(ask(client, request(topic, partition())))
    assert (fetched.error_code, values(fetched)) == (0, [])


@pytest.mark.parametrize("offset", [-1, 1])
def test_an_offset_that_is_not_there(client: Conversation, topic: str, offset: int) -> None:
    fetched = first(ask(client, request(topic, partition(offset))))
    assert fetched.error_code == ErrorCode.OFFSET_OUT_OF_RANGE.code


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (partition(index=5), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (partition(epoch=9), ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_what_cannot_be_read(
    client: Conversation, topic: str, asked: FetchPartition, error: ErrorCode
) -> None:
    assert first(ask(client, request(topic, asked))).error_code == error.code


def test_one_batch_is_read_whatever_the_limit(client: Conversation, topic: str) -> None:
    produce(client, topic, b"a" * 1000)
    produce(client, topic, b"b" * 1000)
    assert values(first(ask(client, request(topic, partition(size=10))))) == [b"a" * 1000]


def test_a_poll_wakes_when_something_comes(shared_broker: Broker, client: Conversation, topic: str) -> None:
    api = client.send(request(topic, partition(), wait_ms=9000), 12)
    began = time.monotonic()
    with Conversation(shared_broker.bootstrap) as other:
        produce(other, topic, b"late")
    response = client.answer(api, 12)
    assert isinstance(response, FetchResponse)
    assert values(first(response)) == [b"late"]
    assert time.monotonic() - began < 5


def test_a_poll_ends_at_its_deadline(client: Conversation, topic: str) -> None:
    assert values(first(ask(client, request(topic, partition(), wait_ms=20)))) == []


def test_a_poll_waits_for_as_much_as_it_wants(
    shared_broker: Broker, client: Conversation, topic: str
) -> None:
    api = client.send(request(topic, partition(), wait_ms=9000, min_bytes=700), 12)
    with Conversation(shared_broker.bootstrap) as other:
        produce(other, topic, b"a" * 300)
        produce(other, topic, b"b" * 300)
    response = client.answer(api, 12)
    assert isinstance(response, FetchResponse)
    assert len(first(response).records or b"") > 700  # type: ignore[arg-type]


# -- sessions ----------------------------------------------------------------------------------------------


def in_session(
    id: int, epoch: int, topic: str, *partitions: FetchPartition, forget: int | None = None
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        session_id=id,
        session_epoch=epoch,
        topics=(FetchTopic(topic=topic, partitions=partitions),) if partitions else (),
        forgotten_topics_data=(
            () if forget is None else (ForgottenTopic(topic=topic, partitions=(forget,)),)
        ),
    )


def test_a_session_tells_only_what_is_news(client: Conversation, topic: str) -> None:
    opened = ask(client, in_session(0, 0, topic, partition()))
    assert opened.session_id != 0
    assert ask(client, in_session(opened.session_id, 1, topic)).responses == ()
    produce(client, topic, b"a")
    assert values(first(ask(client, in_session(opened.session_id, 2, topic)))) == [b"a"]
    assert ask(client, in_session(opened.session_id, 3, topic, partition(1))).responses == ()


def test_an_error_is_news_every_time(client: Conversation, topic: str) -> None:
    opened = ask(client, in_session(0, 0, topic, partition(9)))
    for epoch in (1, 2):
        told = ask(client, in_session(opened.session_id, epoch, topic))
        assert first(told).error_code == ErrorCode.OFFSET_OUT_OF_RANGE.code


def test_a_session_out_of_step_is_refused(client: Conversation, topic: str) -> None:
    opened = ask(client, in_session(0, 0, topic, partition()))
    refused = ask(client, in_session(opened.session_id, 5, topic))
    assert refused.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH.code
    unknown = ask(client, in_session(opened.session_id + 1, 1, topic))
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code


def test_a_session_without_partitions_is_over(client: Conversation, topic: str) -> None:
    opened = ask(client, in_session(0, 0, topic, partition()))
    assert ask(client, in_session(opened.session_id, 1, topic, forget=0)).session_id == 0
    gone = ask(client, in_session(opened.session_id, 2, topic))
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND.code
