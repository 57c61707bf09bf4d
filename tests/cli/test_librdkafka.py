"""Java's properties in librdkafka's words."""

from __future__ import annotations

import pytest

from odradek.cli.failures import Impossible
from odradek.cli.librdkafka import consumer, pairs, producer, translated


@pytest.mark.parametrize(
    ("java", "ours"),
    [
        ({"acks": "all", "linger.ms": "5"}, {"acks": "all", "linger.ms": "5"}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": 32768}),
        ({"max.request.size": "7"}, {"message.max.bytes": "7"}),
        ({"key.serializer": "org.apache.kafka.common.serialization.StringSerializer"}, {}),
        ({"max.block.ms": "1", "max.poll.records": "1", "ssl.protocol": "TLS"}, {}),
        (
            {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor,roundrobin"},
            {"partition.assignment.strategy": "range,roundrobin"},
        ),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/k"},
            {"ssl.key.location": "/k", "ssl.certificate.location": "/k"},
        ),
        ({"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/k"}, {"ssl.keystore.location": "/k"}),
        ({"ssl.truststore.location": "/t"}, {"ssl.ca.location": "/t"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        (
            {"sasl.mechanism": "PLAIN", "sasl.jaas.config": 'org.X required username="u" password="p=";'},
            {"sasl.mechanisms": "PLAIN", "sasl.username": "u", "sasl.password": "p="},
        ),
    ],
)
def test_properties_are_translated(java: dict[str, str], ours: dict[str, str]) -> None:
    assert translated(java) == ours


def test_properties_on_the_command_line() -> None:
    assert pairs(["a=b=c", "d", "e="]) == {"a": "b=c", "d": "", "e": ""}


def test_what_librdkafka_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(Impossible, match="nonsense"):
        producer({"bootstrap.servers": "127.0.0.1:1", "nonsense": "1"})
    with pytest.raises(Impossible, match="nonsense"):
        consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "nonsense": "1"})
