"""What GetTelemetrySubscriptions and PushTelemetry promise over the wire."""

from __future__ import annotations

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from odradek.wire.messages.metadata import ApiVersionsRequest
from odradek.wire.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
    PushTelemetryRequest,
    PushTelemetryResponse,
)

NOBODY = bytes(16)
CLIENT_METRICS = 16


def asked(client: Conversation, instance: bytes = NOBODY) -> GetTelemetrySubscriptionsResponse:
    answer = client.ask(GetTelemetrySubscriptionsRequest(client_instance_id=instance), 0)
    assert isinstance(answer, GetTelemetrySubscriptionsResponse)
    return answer


def pushed(client: Conversation, instance: bytes, number: int) -> ErrorCode:
    request = PushTelemetryRequest(
        client_instance_id=instance,
        subscription_id=number,
        terminating=False,
        compression_type=0,
        metrics=b"",
    )
    answer = client.ask(request, 0)
    assert isinstance(answer, PushTelemetryResponse)
    return ErrorCode.of(answer.error_code)


def test_a_client_without_an_id_is_given_one_of_its_own(client: Conversation) -> None:
    one, other = asked(client), asked(client)
    assert len({one.client_instance_id, other.client_instance_id, NOBODY}) == 3
    assert one.requested_metrics == ()
    assert set(one.accepted_compression_types) == {1, 2, 3, 4}


def test_a_client_pushes_as_it_was_asked_to(client: Conversation) -> None:
    wanted = asked(client)
    assert pushed(client, wanted.client_instance_id, wanted.subscription_id) is ErrorCode.NONE
    assert pushed(client, b"\1" * 16, 0) is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert pushed(client, NOBODY, 0) is ErrorCode.INVALID_REQUEST
    again = asked(client, wanted.client_instance_id)
    assert again.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED.code


def test_a_client_is_known_by_what_it_said_that_it_is() -> None:
    with Broker() as broker, Conversation(broker.bootstrap) as client:
        match = IncrementalAlterableConfig(
            name="match", config_operation=0, value="client_software_name=scene,client_id=test"
        )
        metrics = IncrementalAlterableConfig(name="metrics", config_operation=0, value="org.a")
        resource = IncrementalAlterConfigsResource(
            resource_type=CLIENT_METRICS, resource_name="some", configs=(match, metrics)
        )
        client.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), 1)
        assert asked(client).requested_metrics == ()
        client.ask(ApiVersionsRequest(client_software_name="scene", client_software_version="1"), 3)
        assert asked(client).requested_metrics == ("org.a",)
