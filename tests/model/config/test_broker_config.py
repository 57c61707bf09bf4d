"""What was set, by whom, and what therefore holds."""

from __future__ import annotations

import pytest

from odradek.model.config.broker_config import BrokerConfig
from odradek.model.config.origin import Source, Synonym
from odradek.model.config.setting import ConfigError


def dynamic(config: BrokerConfig, this: dict[str, str], every: dict[str, str]) -> BrokerConfig:
    return config.with_dynamic(this_broker=this, every_broker=every)


def test_what_is_not_set_has_its_default() -> None:
    config = BrokerConfig.of({})
    assert config.integer("num.partitions") == 1
    assert config.optional_integer("log.retention.ms") is None
    assert config.words("process.roles") == ()
    assert config.broker_id == -1
    assert config.data_dirs == ("/tmp/kafka-logs",)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as refusal:
        BrokerConfig.of({"num.partitions": "0", "preallocate": "x", "log.segment.bytes": "many"})
    assert str(refusal.value).splitlines() == [
        "Invalid value 0 for configuration num.partitions: Value must be at least 1",
        "Invalid value many for configuration log.segment.bytes: Not a number of type INT",
    ]


def test_the_strongest_layer_holds() -> None:
    config = BrokerConfig.of({"log.retention.ms": "1", "message.max.bytes": "7"})
    config = dynamic(config, {"log.retention.ms": "3"}, {"log.retention.ms": "2", "message.max.bytes": "8"})
    assert config.integer("log.retention.ms") == 3
    assert config.integer("message.max.bytes") == 8
    assert dynamic(config, {}, {}).integer("log.retention.ms") == 1


def test_synonyms_are_those_that_kafka_lists() -> None:
    """Recorded from 3.9.2 with the same settings."""
    config = dynamic(
        BrokerConfig.of({"broker.id": "0"}),
        {"log.retention.ms": "5000"},
        {"log.retention.ms": "6000", "log.cleaner.threads": "2", "log.flush.interval.ms": "99"},
    )
    assert config.synonyms("log.retention.ms") == [
        Synonym("log.retention.ms", "5000", Source.THIS_BROKER),
        Synonym("log.retention.ms", "6000", Source.EVERY_BROKER),
        Synonym("log.retention.hours", "168", Source.DEFAULT),
    ]
    assert config.synonyms("log.flush.interval.ms") == [
        Synonym("log.flush.interval.ms", "99", Source.EVERY_BROKER),
        Synonym("log.flush.scheduler.interval.ms", "9223372036854775807", Source.DEFAULT),
    ]
    assert config.synonyms("log.cleaner.threads") == [
        Synonym("log.cleaner.threads", "2", Source.EVERY_BROKER),
        Synonym("log.cleaner.threads", "1", Source.DEFAULT),
    ]
    assert config.synonyms("log.retention.hours") == [
        Synonym("log.retention.hours", "168", Source.DEFAULT),
    ]
    assert config.synonyms("log.retention.minutes") == []
    assert BrokerConfig.of({}).synonyms("log.retention.ms") == []
    assert [each.source for each in config.synonyms("node.id")] == [Source.STATIC, Source.DEFAULT]


def test_broker_id_and_node_id_are_one() -> None:
    assert BrokerConfig.of({"broker.id": "7"}).integer("node.id") == 7
    assert BrokerConfig.of({"node.id": "7"}).broker_id == 7
    with pytest.raises(ConfigError, match=r"node\.id=1 and broker\.id=2"):
        BrokerConfig.of({"node.id": "1", "broker.id": "2"})


def test_a_listener_has_settings_of_its_own() -> None:
    config = BrokerConfig.of(
        {
            "listener.name.internal.ssl.keystore.location": "/internal.pem",
            "ssl.keystore.location": "/all.pem",
            "ssl.client.auth": "required",
            "listener.name.internal.scram-sha-256.sasl.jaas.config": "hush",
        }
    )
    internal, other = config.for_listener("INTERNAL"), config.for_listener("OTHER")
    assert internal.string("ssl.keystore.location") == "/internal.pem"
    assert other.string("ssl.keystore.location") == "/all.pem"
    assert internal.string("ssl.client.auth") == other.string("ssl.client.auth") == "required"
    assert internal.secret("scram-sha-256.sasl.jaas.config") == "hush"
    assert config.text("listener.name.internal.scram-sha-256.sasl.jaas.config") is None
    assert not config.unknown


def test_the_operator_is_told_of_settings_that_do_nothing() -> None:
    config = BrokerConfig.of({"num.io.threads": "16", "num.network.threads": "3", "my.own": "1"})
    notices = list(config.notices())
    assert [each.split()[0] for each in notices] == ["my.own", "num.io.threads"]
    assert config.unknown == {"my.own": "1"}


@pytest.mark.parametrize(
    ("texts", "key"),
    [
        ({"listeners": "PLAINTEXT://:9092,PLAINTEXT://:9093"}, "listeners"),
        ({"listeners": "PLAINTEXT://:9092,SSL://:9092"}, "listeners"),
        ({"listeners": "PLAINTEXT://here"}, "listeners"),
        ({"listeners": "INSIDE://:9092"}, "listener.security.protocol.map"),
        ({"listeners": ""}, "listeners"),
        ({"listeners": "SASL_PLAINTEXT://:9092,PLAINTEXT://:9093"}, "listeners"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"}, "advertised.listeners"),
        ({"advertised.listeners": "SSL://a:9092"}, "advertised.listeners"),
        ({"inter.broker.listener.name": "SSL"}, "inter.broker.listener.name"),
        ({"control.plane.listener.name": "SSL"}, "control.plane.listener.name"),
        ({"listener.security.protocol.map": "A:B"}, "listener.security.protocol.map"),
        ({"broker.id": "1001"}, "reserved.broker.max.id"),
        ({"broker.id": "-2"}, "broker.id"),
        ({"broker.id.generation.enable": "false"}, "broker.id"),
        ({"log.dirs": " , "}, "log.dirs"),
        ({"log.retention.ms": "0"}, "log.retention.ms"),
        ({"log.roll.ms": "0"}, "log.roll.ms"),
        ({"log.cleaner.threads": "200"}, "log.cleaner.dedupe.buffer.size"),
        ({"max.connections.per.ip": "0"}, "max.connections.per.ip.overrides"),
        ({"max.connections.per.ip.overrides": "abc"}, "max.connections.per.ip.overrides"),
        ({"group.min.session.timeout.ms": "9999999"}, "group.min.session.timeout.ms"),
        ({"group.consumer.session.timeout.ms": "1"}, "group.consumer.session.timeout.ms"),
        ({"replica.fetch.wait.max.ms": "40000"}, "replica.fetch.wait.max.ms"),
        ({"zookeeper.connect": "localhost:2181"}, "zookeeper.connect"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_its_key(texts: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        BrokerConfig.of(texts)
    assert key in str(refusal.value)


def test_listeners_are_read() -> None:
    config = BrokerConfig.of(
        {
            "listeners": "INSIDE://[::1]:9092, OUTSIDE://:9093",
            "advertised.listeners": "INSIDE://inside:1,OUTSIDE://outside.example:2",
            "listener.security.protocol.map": "inside:PLAINTEXT,outside:ssl",
            "inter.broker.listener.name": "inside",
        }
    )
    told = config.listening
    assert [str(each) for each in told.listeners] == ["INSIDE://[::1]:9092", "OUTSIDE://:9093"]
    assert [str(each) for each in told.advertised] == ["INSIDE://inside:1", "OUTSIDE://outside.example:2"]
    assert told.between_brokers == "INSIDE"
    assert [each.protocol.encrypts for each in told.listeners] == [False, True]


def test_an_ipv4_and_an_ipv6_address_may_share_a_port() -> None:
    BrokerConfig.of({"listeners": "PLAINTEXT://127.0.0.1:9092,SSL://[::1]:9092"})


# What a 3.9.2 broker answered.
@pytest.mark.parametrize(
    ("texts", "per_broker", "complaint"),
    [
        ({"broker.id": "5"}, True, "Cannot update these configs dynamically: Set(broker.id)"),
        (
            {"listeners": "PLAINTEXT://:1"},
            False,
            "Cannot update these configs at default cluster level, "
            "broker id must be specified: Set(listeners)",
        ),
        (
            {"log.cleaner.threads": "many"},
            True,
            "Invalid value many for configuration log.cleaner.threads: Not a number of type INT",
        ),
        (
            {"message.max.bytes": ""},
            True,
            "Invalid value  for configuration message.max.bytes: Not a number of type INT",
        ),
    ],
)
def test_a_running_broker_refuses_in_kafkas_words(
    texts: dict[str, str], per_broker: bool, complaint: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        BrokerConfig.of({}).check_dynamic(texts, per_broker=per_broker)
    assert str(refusal.value) == complaint


def test_a_running_broker_takes_what_kafkas_takes() -> None:
    config = BrokerConfig.of({})
    config.check_dynamic({"no.such.key": "5", "log.retention.ms": "5000"}, per_broker=True)
    config.check_dynamic({"listener.name.plaintext.ssl.keystore.location": "/x"}, per_broker=True)
    config.check_dynamic({"log.cleanup.policy": "delete,compact"}, per_broker=False)
    for texts in ({"log.retention.ms": "0"}, {"ssl.keystore.location": "/x"}):
        with pytest.raises(ConfigError):
            config.check_dynamic(texts, per_broker=True)


def test_what_somebody_stored_and_nobody_can_read_is_ignored_and_told() -> None:
    config = dynamic(BrokerConfig.of({}), {"log.cleaner.threads": "many", "listeners": "garbage"}, {})
    assert config.integer("log.cleaner.threads") == 1
    assert [str(each) for each in config.listening.listeners] == ["PLAINTEXT://:9092"]
    assert len(config.ignored) == 2
