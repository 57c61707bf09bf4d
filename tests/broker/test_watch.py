from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek.broker.stage import Stage
from odradek.broker.watch import address_of
from odradek.net.port import Address
from odradek.observe.exposition import CONTENT_TYPE
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData
from odradek.wire.messages.topics import DeleteTopicsRequest, DeleteTopicState


class Watched:
    """A broker, and what is told of it."""

    def __init__(self, broker: Broker, url: str) -> None:
        self.broker = broker
        self.url = url

    def page(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"{self.url}{path}") as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read().decode()

    def metric(self, series: str, /, **labels: str) -> float:
        _, told = self.page("/metrics")
        (value,) = (
            sample.value
            for family in text_string_to_metric_families(told)
            for sample in family.samples
            if sample.name == series and sample.labels == labels
        )
        return value


@pytest.fixture
def watched(caplog: pytest.LogCaptureFixture) -> Iterator[Watched]:
    with (
        caplog.at_level("INFO", "odradek.broker.upkeep"),
        Broker({"odradek.metrics.listen": "127.0.0.1:0", "num.partitions": "1"}) as broker,
    ):
        (url,) = re.findall(r"http://\S+", caplog.text)
        yield Watched(broker, url)


def produce(broker: Broker, topic: str, value: bytes = b"value") -> None:
    with Conversation(broker.bootstrap) as client:
        client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=topic),)), 12)
        data = PartitionData(index=0, records=memoryview(batch_of(value=value)))
        request = ProduceRequest(
            acks=-1, timeout_ms=1000, topic_data=(TopicData(name=topic, partition_data=(data,)),)
        )
        client.ask(request, 9)


def test_what_a_broker_did_is_told(watched: Watched) -> None:
    produce(watched.broker, "orders", b"x" * 1000)
    assert watched.metric("kafka_server_brokertopicmetrics_messagesin_total", topic="orders") == 1
    assert watched.metric("kafka_log_log_logendoffset", topic="orders", partition="0") == 1
    assert watched.metric("kafka_log_log_size", topic="orders", partition="0") > 1000
    assert watched.metric("kafka_topic_partition_current_offset", topic="orders", partition="0") == 1
    assert watched.metric("kafka_network_requestmetrics_requests_total", request="Produce", version="9") == 1
    assert watched.metric("kafka_server_replicamanager_leadercount") == 1
    assert watched.metric("kafka_controller_kafkacontroller_activecontrollercount") == 1
    assert watched.metric("process_resident_memory_bytes") > 1 << 20
    assert watched.metric("kafka_coordinator_group_groupmetadatamanager_numgroups") == 0


def test_rates_come_with_time(watched: Watched) -> None:
    produce(watched.broker, "orders", b"x" * 1000)
    watched.broker.clock.advance(seconds=6)
    rate = watched.metric("kafka_server_BrokerTopicMetrics_FifteenMinuteRate", name="BytesInPerSec")
    assert 100 < rate < 200
    assert 0 <= watched.metric("kafka_network_socketserver_networkprocessoravgidlepercent") <= 1


def test_a_topic_that_is_gone_is_not_told(watched: Watched) -> None:
    produce(watched.broker, "orders")
    with Conversation(watched.broker.bootstrap) as client:
        client.ask(
            DeleteTopicsRequest(
                topics=(DeleteTopicState(name="orders", topic_id=bytes(16)),), timeout_ms=5000
            ),
            6,
        )
    assert 'topic="orders"' not in watched.page("/metrics")[1]
    assert watched.metric("kafka_server_brokertopicmetrics_messagesin_total") == 1


def test_who_serves_is_healthy_and_ready(watched: Watched) -> None:
    assert watched.page("/healthz") == (200, "ok\n")
    assert watched.page("/readyz") == (200, "ok\n")
    assert watched.page("/other") == (404, "there is /metrics, /healthz, /readyz\n")


def test_the_content_type_is_prometheus(watched: Watched) -> None:
    with urllib.request.urlopen(f"{watched.url}/metrics") as answer:
        assert answer.headers["Content-Type"] == CONTENT_TYPE


@pytest.mark.parametrize("stage", [Stage.STARTING, Stage.RECOVERING, Stage.STOPPING])
def test_who_does_not_serve_yet_or_any_more_is_healthy_and_not_ready(watched: Watched, stage: Stage) -> None:
    watched.broker.node.stage = stage
    assert watched.page("/healthz") == (200, "ok\n")
    assert watched.page("/readyz") == (503, f"it is {stage.value}\n")


def test_who_lost_every_disk_is_not_healthy(watched: Watched) -> None:
    for directory in watched.broker.node.directories:
        directory.fail("it was pulled out")
    assert watched.page("/healthz") == (503, "every data directory is offline\n")
    assert watched.page("/readyz")[0] == 503


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9404", Address("127.0.0.1", 9404)),
        ("[::1]:0", Address("::1", 0)),
        (":80", Address("", 80)),
    ],
)
def test_where_to_listen(text: str, address: Address) -> None:
    assert address_of(text) == address
