"""What happens to a frame, whatever is in it."""

from __future__ import annotations

import struct

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.apis import API_BY_KEY
from odradek.wire.frame import read_response
from odradek.wire.messages.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
)

API_VERSIONS = API_BY_KEY[18]


def header(key: int, version: int, correlation_id: int = 7) -> bytes:
    return struct.pack(">hhih", key, version, correlation_id, -1)


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def asked() -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="test", client_software_version="1.0")


@pytest.mark.parametrize("version", range(6))
def test_what_is_served_is_told_in_every_version(client: Conversation, version: int) -> None:
    answer = client.ask(asked(), version)
    assert isinstance(answer, ApiVersionsResponse)
    ranges = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert ranges[18] == (0, 5)
    assert ranges[0] == (0, 13)  # 0-2 are told and refused, for librdkafka's sake


def test_a_version_of_the_future_is_answered_in_the_oldest(client: Conversation) -> None:
    client.send_bytes(framed(header(18, 99) + b"\0"))
    answer = read_response(API_VERSIONS, 0, memoryview(client.receive_frame()))
    assert isinstance(answer, ApiVersionsResponse)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION.code
    assert [each.api_key for each in answer.api_keys] == [18]


@pytest.mark.parametrize(
    "frame",
    [
        header(0, 2),  # advertised, and not served
        header(3, 99),
        header(999, 0),
        header(3, 12),  # a body that is not there
        b"",
        b"\0",
    ],
    ids=["old", "new", "unknown api", "truncated", "empty", "short"],
)
def test_no_conversation_is_closed(client: Conversation, frame: bytes) -> None:
    client.send_bytes(framed(frame))
    with pytest.raises(EOFError):
        client.receive_frame()


def test_a_broken_conversation_leaves_others_alone(shared_broker: Broker, client: Conversation) -> None:
    with Conversation(shared_broker.bootstrap) as other:
        other.send_bytes(framed(header(3, 12)))
        with pytest.raises(EOFError):
            other.receive_frame()
    assert isinstance(client.ask(MetadataRequest(topics=()), 12), MetadataResponse)


def test_requests_are_answered_in_their_order(client: Conversation) -> None:
    sent = [client.send(MetadataRequest(topics=()), 9) for _ in range(50)]
    for api in sent:
        assert isinstance(client.answer(api, 9), MetadataResponse)


def test_a_client_that_means_another_cluster_is_told(client: Conversation) -> None:
    meant = ApiVersionsRequest(client_software_name="a", client_software_version="1", cluster_id="elsewhere")
    answer = client.ask(meant, 5)
    assert isinstance(answer, ApiVersionsResponse)
    assert answer.error_code == ErrorCode.REBOOTSTRAP_REQUIRED.code


def test_the_cluster_is_described_by_its_brokers(client: Conversation) -> None:
    answer = client.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), 2)
    assert isinstance(answer, DescribeClusterResponse)
    assert [broker.broker_id for broker in answer.brokers] == [0]
    assert answer.controller_id == 0
    refused = client.ask(
        DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2), 1
    )
    assert isinstance(refused, DescribeClusterResponse)
    assert refused.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE.code
