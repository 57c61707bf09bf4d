"""What CreateTopics, DeleteTopics and CreatePartitions promise beyond their answers, which
tests/compatibility/ compares with Kafka's."""

from __future__ import annotations

import time

from odradek.broker.topics import PARTITIONS_A_REQUEST_MAX
from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from odradek.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

TIMEOUT_MS = 10_000


def wanted(name: str, partitions: int = 1, **config: str) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=(),
        configs=tuple(
            CreatableTopicConfig(name=key.replace("_", "."), value=text) for key, text in config.items()
        ),
    )


def creating(*topics: CreatableTopic) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)


def deleting(*names: str) -> DeleteTopicsRequest:
    states = tuple(DeleteTopicState(name=name, topic_id=bytes(16)) for name in names)
    return DeleteTopicsRequest(topics=states, timeout_ms=TIMEOUT_MS)


def leaders(client: Conversation, name: str) -> dict[int, int]:
    known = client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=name),)), 4)
    assert isinstance(known, MetadataResponse)
    return {each.partition_index: each.leader_id for each in known.topics[0].partitions}


def test_what_is_answered_to_be_made_is_led(client: Conversation) -> None:
    client.ask(creating(wanted("led", 5)), 7)
    assert leaders(client, "led") == dict.fromkeys(range(5), 0)
    growing = CreatePartitionsTopic(name="led", count=7, assignments=None)
    request = CreatePartitionsRequest(topics=(growing,), timeout_ms=TIMEOUT_MS, validate_only=False)
    client.ask(request, 3)
    assert leaders(client, "led") == dict.fromkeys(range(7), 0)


def test_a_topic_has_its_configuration_from_the_start(shared_broker: Broker, client: Conversation) -> None:
    client.ask(creating(wanted("small", segment_bytes="1234")), 7)
    hosted = shared_broker.node.replicas.hosted("small", 0)
    assert hosted.log.settings.segment_bytes == 1234


def test_a_topic_made_anew_has_nothing_of_the_one_before(shared_broker: Broker, client: Conversation) -> None:
    client.ask(creating(wanted("again", 3, segment_bytes="1234")), 7)
    client.ask(deleting("again"), 6)
    deadline = time.monotonic() + 5
    while True:  # what is written of the old one may still be going
        made = client.ask(creating(wanted("again")), 7)
        assert isinstance(made, CreateTopicsResponse)
        if made.topics[0].error_code != ErrorCode.TOPIC_ALREADY_EXISTS.code:
            break
        assert time.monotonic() < deadline
    assert made.topics[0].error_code == 0
    assert leaders(client, "again") == {0: 0}
    assert shared_broker.node.replicas.hosted("again", 0).log.settings.segment_bytes == 1 << 30
    resource = DescribeConfigsResource(
        resource_type=2, resource_name="again", configuration_keys=("segment.bytes",)
    )
    described = client.ask(DescribeConfigsRequest(resources=(resource,)), 4)
    assert isinstance(described, DescribeConfigsResponse)
    assert described.results[0].configs[0].value == str(1 << 30)


def test_two_who_grow_a_topic_at_once_do_not_share_partitions(shared_broker: Broker) -> None:
    with Conversation(shared_broker.bootstrap) as one, Conversation(shared_broker.bootstrap) as other:
        one.ask(creating(wanted("contested", 1)), 7)
        asked = []
        for client, count in ((one, 3), (other, 3)):
            growing = CreatePartitionsTopic(name="contested", count=count, assignments=None)
            request = CreatePartitionsRequest(topics=(growing,), timeout_ms=TIMEOUT_MS, validate_only=False)
            asked.append((client, client.send(request, 3)))
        answers = [client.answer(api, 3) for client, api in asked]
        codes = []
        for answer in answers:
            assert isinstance(answer, CreatePartitionsResponse)
            codes.append(answer.results[0].error_code)
        assert sorted(codes) == [0, ErrorCode.INVALID_PARTITIONS.code]
        assert set(leaders(one, "contested")) == {0, 1, 2}


def test_a_thousand_topics_are_made_and_deleted_at_a_stroke(shared_broker: Broker) -> None:
    names = [f"of-a-thousand-{number}" for number in range(1000)]
    with Conversation(shared_broker.bootstrap) as client, Conversation(shared_broker.bootstrap) as other:
        api = client.send(creating(*map(wanted, names)), 7)
        assert other.ask(MetadataRequest(topics=()), 4)  # others are served meanwhile
        made = client.answer(api, 7)
        assert isinstance(made, CreateTopicsResponse)
        assert {each.error_code for each in made.topics} == {0}
        gone = client.ask(deleting(*names), 6)
        assert isinstance(gone, DeleteTopicsResponse)
        assert {each.error_code for each in gone.responses} == {0}


def test_one_request_makes_so_many_partitions_and_no_more(client: Conversation, topic: str) -> None:
    """More would keep everybody waiting, two thousand million for ever."""
    for partitions in (PARTITIONS_A_REQUEST_MAX, 2**31 - 1):
        answer = client.ask(creating(wanted("too-many", partitions), wanted("one-more")), 7)
        assert isinstance(answer, CreateTopicsResponse)
        assert {each.error_code for each in answer.topics} == {ErrorCode.POLICY_VIOLATION.code}
    growing = CreatePartitionsTopic(name=topic, count=2**31 - 1, assignments=None)
    request = CreatePartitionsRequest(topics=(growing,), timeout_ms=TIMEOUT_MS, validate_only=False)
    grown = client.ask(request, 3)
    assert isinstance(grown, CreatePartitionsResponse)
    assert grown.results[0].error_code == ErrorCode.POLICY_VIOLATION.code
