"""What configurations promise beyond their answers, which tests/compatibility/ compares with Kafka's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

TOPIC, BROKER, LOGGER, CLIENT_METRICS = 2, 4, 8, 16
SET, DELETE = 0, 1


@pytest.fixture
def broker() -> Iterator[Broker]:
    """Its own, because its settings change."""
    with Broker() as broker:
        yield broker


def change(client: Conversation, kind: int, name: str, **settings: str | None) -> ErrorCode:
    """Named with underscores for their dots; None takes one away."""
    configs = tuple(
        IncrementalAlterableConfig(
            name=key.replace("_", "."), config_operation=DELETE if text is None else SET, value=text
        )
        for key, text in settings.items()
    )
    resource = IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    answer = client.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), 1)
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return ErrorCode.of(answer.responses[0].error_code)


def described(client: Conversation, kind: int, name: str) -> dict[str, str | None]:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    answer = client.ask(DescribeConfigsRequest(resources=(resource,)), 4)
    assert isinstance(answer, DescribeConfigsResponse)
    assert answer.results[0].error_code == 0
    return {each.name: each.value for each in answer.results[0].configs}


def resources(client: Conversation, *kinds: int, version: int = 1) -> set[tuple[int, str]]:
    answer = client.ask(ListConfigResourcesRequest(resource_types=kinds), version)
    assert isinstance(answer, ListConfigResourcesResponse)
    assert answer.error_code == 0
    return {(each.resource_type, each.resource_name) for each in answer.config_resources}


def test_a_topics_settings_hold_when_the_answer_comes(
    shared_broker: Broker, client: Conversation, topic: str
) -> None:
    log = shared_broker.node.replicas.hosted(topic, 0).log
    change(client, TOPIC, topic, retention_ms="1234", min_insync_replicas="2")
    assert log.settings.retention_ms == 1234
    assert shared_broker.node.replicas.hosted(topic, 0).isr_min == 2
    change(client, TOPIC, topic, retention_ms=None)
    assert log.settings.retention_ms == 7 * 24 * 3600 * 1000


def test_what_is_set_for_every_broker_reaches_topics_that_say_nothing(broker: Broker) -> None:
    with Conversation(broker.bootstrap) as client:
        names = tuple(MetadataRequestTopic(name=name) for name in ("plain", "own"))
        client.ask(MetadataRequest(topics=names), 12)
        change(client, TOPIC, "own", segment_bytes="5000")
        change(client, BROKER, "", log_segment_bytes="7000")
        change(client, BROKER, "0", log_retention_ms="9000")
        logs = {name: broker.node.replicas.hosted(name, 0).log.settings for name in ("plain", "own")}
        assert {name: settings.segment_bytes for name, settings in logs.items()} == {
            "plain": 7000,
            "own": 5000,
        }
        assert logs["plain"].retention_ms == 9000
        change(client, BROKER, "", log_segment_bytes=None)
        assert broker.node.replicas.hosted("plain", 0).log.settings.segment_bytes == 1 << 30


def test_what_was_set_while_it_ran_holds_after_a_restart(broker: Broker) -> None:
    with Conversation(broker.bootstrap) as client:
        change(client, BROKER, "0", log_segment_bytes="7000")
    broker.restart()
    with Conversation(broker.bootstrap) as client:
        assert described(client, BROKER, "0")["log.segment.bytes"] == "7000"


def test_secrets_are_not_told(client: Conversation) -> None:
    told = described(client, BROKER, "0")
    secrets = [key for key in told if key.endswith("password") or key == "password.encoder.secret"]
    assert secrets
    assert {told[key] for key in secrets} == {None}


def test_a_resource_that_is_named_twice_is_refused(client: Conversation, topic: str) -> None:
    """Kafka does not even answer."""
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=())
    answer = client.ask(AlterConfigsRequest(resources=(resource, resource), validate_only=False), 2)
    assert isinstance(answer, AlterConfigsResponse)
    assert [each.error_code for each in answer.responses] == [ErrorCode.INVALID_REQUEST.code] * 2


def test_our_loggers_are_seen_and_set(client: Conversation) -> None:
    change(client, LOGGER, "0", odradek_broker_configs="DEBUG")
    assert described(client, LOGGER, "0")["odradek.broker.configs"] == "DEBUG"
    change(client, LOGGER, "0", odradek_broker_configs=None)
    assert described(client, LOGGER, "0")["odradek.broker.configs"] != "DEBUG"


def test_subscriptions_to_client_metrics_come_and_go(broker: Broker) -> None:
    with Conversation(broker.bootstrap) as client:
        assert change(client, CLIENT_METRICS, "all", metrics="*", interval_ms="1000") is ErrorCode.NONE
        assert described(client, CLIENT_METRICS, "all") == {
            "interval.ms": "1000",
            "metrics": "*",
            "match": "",
        }
        assert change(client, CLIENT_METRICS, "all", interval_ms="1") is ErrorCode.INVALID_CONFIG
        assert change(client, CLIENT_METRICS, "", interval_ms="1000") is ErrorCode.INVALID_REQUEST
        assert resources(client, version=0) == {(CLIENT_METRICS, "all")}
        change(client, CLIENT_METRICS, "all", metrics=None, interval_ms=None)
        assert resources(client, version=0) == set()


def test_what_can_be_configured_is_listed_by_type(broker: Broker) -> None:
    with Conversation(broker.bootstrap) as client:
        client.ask(MetadataRequest(topics=(MetadataRequestTopic(name="t"),)), 12)
        change(client, CLIENT_METRICS, "all", metrics="*")
        everything = {(TOPIC, "t"), (BROKER, "0"), (LOGGER, "0"), (CLIENT_METRICS, "all")}
        assert resources(client) == everything
        assert resources(client, TOPIC) == {(TOPIC, "t")}
        assert resources(client, BROKER, LOGGER, BROKER) == {(BROKER, "0"), (LOGGER, "0")}
        answer = client.ask(ListConfigResourcesRequest(resource_types=(TOPIC, 99)), 1)
        assert isinstance(answer, ListConfigResourcesResponse)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION.code
