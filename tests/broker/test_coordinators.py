"""Whoever looks for a coordinator finds the one broker that is it, or is told that there is none yet."""

from __future__ import annotations

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from odradek.wire.messages.metadata import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

GROUP, TRANSACTION, SHARE, NOTHING = range(4)
TOPIC = 2  # kind of a resource


def find(client: Conversation, version: int, kind: int = GROUP) -> list[tuple[ErrorCode, int, str, int]]:
    request = FindCoordinatorRequest(key="g", key_type=kind, coordinator_keys=("g", "h"))
    response = client.ask(request, version)
    assert isinstance(response, FindCoordinatorResponse)
    found = response.coordinators if version >= 4 else (response,)
    return [(ErrorCode.of(each.error_code), each.node_id, each.host, each.port) for each in found]


@pytest.mark.parametrize("version", range(7))
def test_the_first_who_asks_waits_until_there_is_one(version: int) -> None:
    with Broker() as broker, Conversation(broker.bootstrap) as client:
        port = int(broker.bootstrap.rpartition(":")[2])
        expected = (ErrorCode.NONE, 0, "127.0.0.1", port)
        assert find(client, version) == [expected] * (2 if version >= 4 else 1)
        if version >= 1:
            assert find(client, version, TRANSACTION)[0] == expected


@pytest.mark.parametrize(("version", "kind"), [(1, NOTHING), (3, SHARE), (4, NOTHING), (6, SHARE)])
def test_nobody_coordinates_what_there_is_not(client: Conversation, version: int, kind: int) -> None:
    assert set(find(client, version, kind)) == {(ErrorCode.INVALID_REQUEST, -1, "", -1)}


def test_too_few_brokers_cannot_keep_what_a_coordinator_knows() -> None:
    with (
        Broker({"offsets.topic.replication.factor": "3"}) as broker,
        Conversation(broker.bootstrap) as client,
    ):
        assert set(find(client, 4)) == {(ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)}


def test_the_topic_is_as_it_is_configured() -> None:
    settings = {"offsets.topic.num.partitions": "7", "offsets.topic.segment.bytes": "1048576"}
    with Broker(settings) as broker, Conversation(broker.bootstrap) as client:
        find(client, 4)
        name = "__consumer_offsets"
        known = client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=name),)), 12)
        assert isinstance(known, MetadataResponse)
        assert (len(known.topics[0].partitions), known.topics[0].is_internal) == (7, True)
        asked = DescribeConfigsResource(
            resource_type=TOPIC,
            resource_name=name,
            configuration_keys=("cleanup.policy", "compression.type", "segment.bytes"),
        )
        told = client.ask(DescribeConfigsRequest(resources=(asked,)), 4)
        assert isinstance(told, DescribeConfigsResponse)
        assert {each.name: each.value for each in told.results[0].configs} == {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": "1048576",
        }
