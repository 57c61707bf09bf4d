"""librdkafka pushes the metrics that a subscription asks it for, and a scrape shows them."""

from __future__ import annotations

import logging
import time

import pytest
from confluent_kafka import Producer

from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

CLIENT_METRICS, SET = 16, 0
PUSHED_WITHIN_S = 10
WANTED = "org.apache.kafka.producer.connection"


def test_a_producer_pushes_what_it_is_asked_for() -> None:
    with Broker() as broker:
        settings = {"metrics": WANTED, "interval.ms": "200", "match": "client_id=app"}
        subscribe(broker, settings)
        quiet = {"bootstrap.servers": broker.bootstrap, "client.id": "other", "log_level": 0}
        producers = [
            Producer({**quiet, "client.id": name}, logger=logging.getLogger(name))
            for name in ("app", "other")
        ]
        deadline = time.monotonic() + PUSHED_WITHIN_S
        while not (names := seen(broker)):
            assert time.monotonic() < deadline, "nothing was pushed"
            for each in producers:
                each.produce("t", b"value")
                each.flush(0.1)
        prefix = f"kafka_client_{WANTED.replace('.', '_')}"
        assert all(name.startswith(prefix) for name in names)
        assert len(broker.node.services.client_metrics) == 1
        del producers


def subscribe(broker: Broker, settings: dict[str, str]) -> None:
    configs = tuple(
        IncrementalAlterableConfig(name=key, config_operation=SET, value=value)
        for key, value in settings.items()
    )
    resource = IncrementalAlterConfigsResource(
        resource_type=CLIENT_METRICS, resource_name="some", configs=configs
    )
    with Conversation(broker.bootstrap) as client:
        client.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), 1)


def seen(broker: Broker) -> set[str]:
    services = broker.node.services
    return {family.name for family in services.client_metrics.families(services.clock.monotonic())}
