"""Settings of topics, brokers and loggers are described and altered; and not."""

from __future__ import annotations

from collections.abc import Callable

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.topics import CRASH, SCALA, creating, topic

from odradek.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
KRAFT = "only a KRaft cluster of Kafka's has these"
RESULT = ("results.error_code", "results.error_message")
RESPONSE = ("responses.error_code", "responses.error_message")


def describing(
    kind: int,
    name: str,
    *keys: str,
    version: int = 4,
    synonyms: bool = True,
    documentation: bool = False,
    settled: Callable[[object], bool] = lambda _: True,
) -> Ask:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys or None
    )
    return Ask(
        DescribeConfigsRequest(
            resources=(resource,), include_synonyms=synonyms, include_documentation=documentation
        ),
        version,
        settled,
    )


def value_is(key: str, value: str | None) -> Callable[[object], bool]:
    """A broker hears of a change a little later."""

    def settled(answer: object) -> bool:
        assert isinstance(answer, DescribeConfigsResponse)
        (found,) = answer.results
        return any(each.name == key and each.value == value for each in found.configs)

    return settled


def altering(
    kind: int, name: str, *pairs: tuple[str, str | None], version: int = 2, tried: bool = False
) -> Ask:
    configs = tuple(AlterableConfig(name=key, value=value) for key, value in pairs)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return Ask(AlterConfigsRequest(resources=(resource,), validate_only=tried), version)


def changing(
    kind: int, name: str, *changes: tuple[str, int, str | None], version: int = 1, tried: bool = False
) -> Ask:
    configs = tuple(
        IncrementalAlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    )
    resource = IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return Ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=tried), version)


# -- topics ------------------------------------------------------------------------------------------------


def configs_of_topics() -> Script:
    yield creating(topic("plain"), topic("own", retention_ms="1000", cleanup_policy="compact, delete"))
    for version in versions("DescribeConfigs"):
        yield describing(TOPIC, "own", "retention.ms", "segment.bytes", version=version, documentation=True)
        yield describing(TOPIC, "plain", version=version)
        yield describing(TOPIC, "own", version=version, synonyms=False)
    yield describing(TOPIC, "own", "nope", "retention.ms", "retention.ms", "flush.ms")
    yield describing(TOPIC, "never-made")
    yield describing(TOPIC, "")
    yield describing(TOPIC, "with blank")
    empty = DescribeConfigsResource(resource_type=TOPIC, resource_name="own", configuration_keys=())
    yield Ask(DescribeConfigsRequest(resources=(empty, empty)), 4)
    yield Ask(DescribeConfigsRequest(resources=()), 4)


def topics_of_a_broker_with_settings() -> Script:
    """What a topic has from its broker's settings, whatever unit they are in."""
    yield creating(topic("plain"))
    yield describing(TOPIC, "plain")


def alteration_of_topics() -> Script:
    yield creating(topic("plain"))
    for version in versions("AlterConfigs"):
        yield altering(TOPIC, "plain", ("retention.ms", f"{version + 5}"), version=version)
        yield altering(TOPIC, "plain", ("nope", "5"), version=version)
    yield altering(TOPIC, "plain", ("retention.ms", "7"), ("cleanup.policy", "compact"))
    yield describing(TOPIC, "plain", "retention.ms", "cleanup.policy")
    yield altering(TOPIC, "plain", ("retention.ms", "8"))
    yield describing(TOPIC, "plain", "retention.ms", "cleanup.policy")
    yield altering(TOPIC, "plain", ("retention.ms", "9"), tried=True)
    yield altering(TOPIC, "plain", ("retention.ms", "soon"), tried=True)
    yield describing(TOPIC, "plain", "retention.ms")
    yield altering(TOPIC, "plain", ("retention.ms", "soon"))
    yield altering(TOPIC, "plain", ("retention.ms", "-9"))
    yield altering(TOPIC, "plain", ("retention.ms", None))
    yield altering(TOPIC, "plain", ("retention.ms", None), ("segment.ms", None), ("nope", "1"))
    yield altering(TOPIC, "plain", ("retention.ms", "1"), ("retention.ms", "2"))
    yield altering(TOPIC, "plain", ("", "1"))
    yield altering(TOPIC, "plain", ("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5"))
    yield altering(TOPIC, "never-made", ("retention.ms", "1"))
    yield altering(TOPIC, "")
    yield altering(TOPIC, "plain")
    yield describing(TOPIC, "plain", "retention.ms", "cleanup.policy")


def change_of_topics() -> Script:
    yield creating(topic("plain"))
    for version in versions("IncrementalAlterConfigs"):
        yield changing(TOPIC, "plain", ("retention.ms", SET, f"{version + 5}"), version=version)
        yield changing(TOPIC, "plain", ("nope", SET, "5"), version=version)
    yield changing(TOPIC, "plain", ("segment.ms", SET, "99"), ("retention.ms", DELETE, None))
    yield describing(TOPIC, "plain", "retention.ms", "segment.ms")
    yield changing(TOPIC, "plain", ("segment.ms", SET, "100"), tried=True)
    yield changing(TOPIC, "plain", ("segment.ms", SET, "late"), tried=True)
    yield describing(TOPIC, "plain", "segment.ms")
    yield changing(TOPIC, "plain", ("retention.ms", DELETE, "7"))
    yield changing(TOPIC, "plain", ("nope", DELETE, None))
    yield changing(TOPIC, "plain", ("retention.ms", APPEND, "7"))
    yield changing(TOPIC, "plain", ("retention.ms", SUBTRACT, "7"))
    yield changing(TOPIC, "plain", ("retention.ms", SET, None))
    yield changing(TOPIC, "plain", ("nope", SET, None))
    yield changing(TOPIC, "plain", ("cleanup.policy", APPEND, None))
    yield changing(TOPIC, "plain", ("retention.ms", SET, "1"), ("retention.ms", DELETE, None))
    yield changing(TOPIC, "plain", ("retention.ms", SET, "1"), ("segment.ms", SET, None))
    yield changing(TOPIC, "plain", ("", SET, "1"))
    yield changing(TOPIC, "plain", ("nope", APPEND, "1")).but(CRASH, *RESPONSE)
    yield changing(TOPIC, "plain", ("retention.ms", 9, "1")).but(CRASH, *RESPONSE)
    yield changing(TOPIC, "never-made", ("retention.ms", SET, "1"))
    yield changing(TOPIC, "")
    yield changing(TOPIC, "plain")


def change_of_lists() -> Script:
    yield creating(topic("plain"))
    policy, replicas = "cleanup.policy", "leader.replication.throttled.replicas"
    for key, operation, value in (
        (policy, APPEND, "compact"),
        (policy, APPEND, "compact,delete"),
        (policy, SUBTRACT, "delete"),
        (policy, SUBTRACT, "delete,burn"),
        (policy, SUBTRACT, "compact"),
        (policy, APPEND, "delete"),
        (policy, APPEND, "burn"),
        (replicas, APPEND, "0:1"),
        (replicas, APPEND, "0:1,0:2, 0:3"),
        (replicas, SUBTRACT, "0:1, 0:2"),
        (replicas, APPEND, "everything"),
        (replicas, SET, "*"),
        (replicas, APPEND, "0:1"),
        (replicas, SUBTRACT, "*"),
    ):
        yield changing(TOPIC, "plain", (key, operation, value))
        yield describing(TOPIC, "plain", key)


# -- brokers -----------------------------------------------------------------------------------------------


def configs_of_brokers() -> Script:
    for version in versions("DescribeConfigs"):
        yield describing(
            BROKER, "0", "log.retention.ms", "num.io.threads", version=version, documentation=True
        )
    yield describing(
        BROKER,
        "0",
        *("log.dir", "log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        *(
            "log.roll.ms",
            "log.roll.hours",
            "log.flush.interval.ms",
            "log.cleanup.policy",
            "log.segment.bytes",
        ),
        *("broker.id", "node.id", "advertised.listeners", "ssl.keystore.password", "password.encoder.secret"),
        *("inter.broker.protocol.version", "max.connections", "min.insync.replicas", "super.users"),
        *("log.cleaner.threads", "log.message.timestamp.type", "offsets.retention.minutes", "nope"),
    )
    yield describing(BROKER, "0", "a.plugin.s.setting", "num.network.threads", "sasl.jaas.config")
    yield describing(BROKER, "")
    yield describing(BROKER, "7")
    yield describing(BROKER, "first")
    for kind in (0, 3, GROUP, 99):
        yield describing(kind, "x").but("we name the type", "results.error_message")
    yield describing(CLIENT_METRICS, "")
    yield describing(CLIENT_METRICS, "x").but(KRAFT, *RESULT, "results.configs")


def every_config_of_a_broker() -> Script:
    yield describing(BROKER, "0")


def change_of_brokers() -> Script:
    key = "log.retention.ms"
    yield changing(BROKER, "0", (key, SET, "5000"))
    yield describing(BROKER, "0", key, "log.retention.hours", settled=value_is(key, "5000"))
    yield changing(BROKER, "", (key, SET, "6000"), ("log.segment.bytes", SET, "1000000"))
    yield describing(BROKER, "0", key, "log.segment.bytes", settled=value_is("log.segment.bytes", "1000000"))
    yield describing(BROKER, "")
    yield creating(topic("plain"))
    yield describing(TOPIC, "plain", "retention.ms", "segment.bytes")
    yield changing(BROKER, "0", (key, DELETE, None))
    yield describing(BROKER, "0", key, settled=value_is(key, "6000"))
    yield altering(BROKER, "", ("log.retention.ms", "7000"))
    yield describing(BROKER, "0", key, "log.segment.bytes", settled=value_is(key, "7000"))
    yield altering(BROKER, "0", (key, "8000"), ("min.insync.replicas", "2"))
    yield describing(BROKER, "0", key, "min.insync.replicas", settled=value_is(key, "8000"))
    yield altering(BROKER, "0")
    yield describing(BROKER, "0", key, "min.insync.replicas", settled=value_is(key, "7000"))
    yield altering(BROKER, "")
    yield describing(BROKER, "0", key, settled=value_is(key, None))
    yield describing(BROKER, "")


def change_of_broker_lists() -> Script:
    key = "log.cleanup.policy"
    yield changing(BROKER, "0", (key, APPEND, "compact"))
    yield describing(BROKER, "0", key, settled=value_is(key, "delete,compact"))
    yield changing(BROKER, "0", (key, SUBTRACT, "delete"))
    yield describing(BROKER, "0", key, settled=value_is(key, "compact"))
    yield changing(BROKER, "0", ("num.io.threads", APPEND, "9"))
    yield changing(BROKER, "0", (key, APPEND, "burn"))


def change_of_what_nobody_knows() -> Script:
    """It is kept, and its value told to nobody."""
    yield changing(BROKER, "0", ("nope", SET, "1"))
    yield describing(BROKER, "0", "nope", settled=value_is("nope", None))
    yield changing(BROKER, "", ("nope", SET, "2"), ("background.threads", SET, "3"))
    yield describing(BROKER, "0", "nope", "background.threads", settled=value_is("background.threads", "3"))
    yield describing(BROKER, "")


def change_of_listeners() -> Script:
    key = "listener.name.plaintext.max.connections"
    yield changing(BROKER, "0", ("max.connections", SET, "77"), (key, SET, "55"))
    yield describing(BROKER, "0", "max.connections", key, settled=value_is(key, "55"))
    yield changing(BROKER, "", (key, SET, "66"))
    yield changing(BROKER, "", ("listener.name.plaintext.ssl.keystore.type", SET, "PEM"))
    yield changing(BROKER, "0", ("listener.name.plaintext.ssl.keystore.password", SET, "x"))
    for name in ("", "0"):
        yield changing(BROKER, name, ("ssl.keystore.type", SET, "PEM")).but(SCALA, "responses.error_message")
    yield changing(BROKER, "", ("listeners", SET, "PLAINTEXT://:1"))
    yield changing(BROKER, "", ("advertised.listeners", SET, "PLAINTEXT://h:1"))


def refused_change_of_brokers() -> Script:
    for name in ("0", ""):
        yield changing(BROKER, name, ("broker.id", SET, "7"))
        yield changing(BROKER, name, ("zookeeper.connect", SET, "x"), ("num.io.threads", SET, "9"))
        yield changing(BROKER, name, ("log.retention.hours", SET, "2"))
        yield changing(BROKER, name, ("log.retention.ms", SET, "soon"))
        yield changing(BROKER, name, ("log.retention.ms", SET, None))
        yield changing(BROKER, name, ("log.segment.bytes", SET, "1"))
        yield changing(BROKER, name, ("log.message.timestamp.type", SET, "Never"))
        yield changing(BROKER, name, ("log.retention.ms", SET, "1"), ("log.retention.ms", DELETE, None))
        yield changing(BROKER, name, ("num.io.threads", SET, "9"), tried=True).but(
            "Kafka at most doubles its threads at once; here are none", *RESPONSE
        )
        yield altering(BROKER, name, ("log.retention.ms", "soon"))
        yield altering(BROKER, name, ("broker.id", "1"))
        yield changing(BROKER, name)
    for kind in (0, 3, GROUP, 99):
        yield changing(kind, "x")
        yield altering(kind, "x")
    for name in ("7", "first"):
        yield changing(BROKER, name)
        yield altering(BROKER, name)
    yield changing(CLIENT_METRICS, "x", ("interval.ms", SET, "1000")).but(KRAFT, *RESPONSE)
    yield altering(CLIENT_METRICS, "x", ("interval.ms", "1000")).but(KRAFT, *RESPONSE)
    yield altering(LOGGER, "0", ("root", "INFO"))


def change_of_loggers() -> Script:
    """Only the root has the same name everywhere."""
    yield changing(LOGGER, "0", ("root", SET, "ERROR"))
    yield describing(LOGGER, "0", "root")
    for version in versions("DescribeConfigs"):
        yield describing(LOGGER, "0", "root", version=version, documentation=True)
    yield changing(LOGGER, "0", ("root", SET, "WARN"), tried=True)
    yield describing(LOGGER, "0", "root")
    yield changing(LOGGER, "0", ("root", SET, "WARN"))
    yield describing(LOGGER, "0", "root")
    for level in ("warn", "OFF", "ALL", "NOPE", ""):
        yield changing(LOGGER, "0", ("root", SET, level))
    yield changing(LOGGER, "0", ("root", DELETE, None))
    yield changing(LOGGER, "0", ("root", APPEND, "INFO"))
    yield changing(LOGGER, "0", ("root", SUBTRACT, "INFO"))
    yield changing(LOGGER, "0", ("root", SET, None))
    yield changing(LOGGER, "0", ("root", 9, "INFO")).but(CRASH, *RESPONSE)
    yield changing(LOGGER, "0", ("nope", SET, "INFO"))
    yield changing(LOGGER, "0", ("nope", DELETE, None))
    yield changing(LOGGER, "0", ("root", SET, "INFO"), ("root", DELETE, None))
    yield changing(LOGGER, "0")
    yield changing(LOGGER, "7").but("Kafka names the wrong one of the two", "responses.error_message")
    yield changing(LOGGER, "")
    yield changing(LOGGER, "first")
    yield describing(LOGGER, "")
    yield describing(LOGGER, "7")
    yield describing(LOGGER, "first")


SCENES = (
    Scene(configs_of_topics),
    Scene(
        topics_of_a_broker_with_settings,
        {
            "log.retention.hours": "2",
            "log.roll.hours": "3",
            "log.roll.jitter.ms": "5",
            "log.flush.scheduler.interval.ms": "7000",
            "log.segment.bytes": "1000000",
            "message.max.bytes": "2000000",
            "log.cleanup.policy": "compact,delete",
            "log.message.timestamp.difference.max.ms": "9",
        },
    ),
    Scene(alteration_of_topics),
    Scene(change_of_topics),
    Scene(change_of_lists),
    Scene(configs_of_brokers, {"log.retention.minutes": "50", "a.plugin.s.setting": "x"}),
    Scene(every_config_of_a_broker),
    Scene(change_of_brokers),
    Scene(change_of_broker_lists),
    Scene(change_of_what_nobody_knows),
    Scene(change_of_listeners),
    Scene(refused_change_of_brokers),
    Scene(change_of_loggers),
)
