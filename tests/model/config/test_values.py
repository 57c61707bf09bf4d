"""Text becomes a value, a value becomes text, and what is no value is refused in Kafka's words."""

from __future__ import annotations

import pytest

from odradek.model.config.registry import BROKER_SETTINGS, OWN_SETTINGS, TOPIC_SETTINGS
from odradek.model.config.setting import ConfigError
from odradek.model.config.values import DOUBLE_MAX, Kind, Password, Value, read, write


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind.BOOLEAN, " True ", True),
        (Kind.INT, "-2147483648", -(1 << 31)),
        (Kind.LONG, "+9223372036854775807", (1 << 63) - 1),
        (Kind.DOUBLE, "1.7976931348623157E308", DOUBLE_MAX),
        (Kind.LIST, "a, b,c", ("a", "b", "c")),
        (Kind.LIST, "", ()),
        (Kind.STRING, " x y ", "x y"),
        (Kind.PASSWORD, "hush", Password("hush")),
    ],
)
def test_text_is_read_as_kafka_reads_it(kind: Kind, text: str, value: Value) -> None:
    assert read(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "complaint"),
    [
        (Kind.BOOLEAN, "yes", "Expected value to be either true or false"),
        (Kind.INT, "2147483648", "Not a number of type INT"),
        (Kind.SHORT, "32768", "Not a number of type SHORT"),
        (Kind.LONG, "9" * 5000, "Not a number of type LONG"),
        (Kind.INT, "1_000", "Not a number of type INT"),
        (Kind.INT, "٣", "Not a number of type INT"),
        (Kind.DOUBLE, "1_0.5", "Not a number of type DOUBLE"),
    ],
)
def test_what_is_no_value_is_refused(kind: Kind, text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read(kind, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (7, "7"),
        (0.5, "0.5"),
        (DOUBLE_MAX, "1.7976931348623157E308"),
        (1e7, "1.0E7"),
        (0.0001, "1.0E-4"),
        (123456789.5, "1.234567895E8"),
        (("a", "b"), "a,b"),
        (Password("hush"), None),
        (None, None),
    ],
)
def test_a_value_is_written_as_kafka_prints_it(value: Value, text: str | None) -> None:
    assert write(value) == text


def test_a_secret_is_never_shown() -> None:
    assert "hush" not in f"{Password('hush')!r} {Password('hush')}"


# What a 3.9.2 broker answered to the same values.
@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("retention.ms", "abc", "Not a number of type LONG"),
        ("retention.ms", "-5", "Value must be at least -1"),
        ("cleanup.policy", "foo", "String must be one of: compact, delete"),
        (
            "compression.type",
            "x",
            "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
        ),
        ("segment.bytes", "1", "Value must be at least 14"),
        ("min.cleanable.dirty.ratio", "2", "Value must be no more than 1"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("message.format.version", "x", "Version x is not a valid version"),
        ("message.timestamp.type", "createtime", "String must be one of: CreateTime, LogAppendTime"),
        ("segment.bytes", "99999999999", "Not a number of type INT"),
    ],
)
def test_a_topic_setting_is_refused_in_kafkas_words(name: str, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        TOPIC_SETTINGS[name].parse(text)
    assert str(refusal.value) == f"Invalid value {text} for configuration {name}: {complaint}"


def test_values_at_the_bounds_are_taken() -> None:
    assert BROKER_SETTINGS["remote.log.manager.copier.thread.pool.size"].parse("-1") == -1
    assert TOPIC_SETTINGS["compression.zstd.level"].parse("-131072") == -131072
    assert TOPIC_SETTINGS["cleanup.policy"].parse("") == ()
    assert TOPIC_SETTINGS["leader.replication.throttled.replicas"].parse("0:1,12:3") == ("0:1", "12:3")
    assert TOPIC_SETTINGS["leader.replication.throttled.replicas"].parse("*") == ("*",)
    for version in ("3.9", "3.9-IV0", "3.9.1", "0.10.2-IV0"):
        assert BROKER_SETTINGS["inter.broker.protocol.version"].parse(version) == version


def test_a_refused_setting_takes_what_does_no_harm() -> None:
    assert BROKER_SETTINGS["process.roles"].parse("") == ()
    assert BROKER_SETTINGS["remote.log.storage.system.enable"].parse("false") is False
    with pytest.raises(ConfigError, match=r"process\.roles: there is no KRaft"):
        BROKER_SETTINGS["process.roles"].parse("broker,controller")


def test_a_bad_secret_is_not_repeated() -> None:
    error = BROKER_SETTINGS["ssl.key.password"].error("hush", "no")
    assert "hush" not in str(error)


@pytest.mark.parametrize("text", ["127.0.0.1:9404", ":0", "[::1]:65535", "metrics.here:80"])
def test_an_address_to_listen_on_is_taken(text: str) -> None:
    assert OWN_SETTINGS["odradek.metrics.listen"].parse(text) == text


@pytest.mark.parametrize("text", ["9404", "here:", "here:http", "here:65536", "here:-1", "here:٤"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="Value must be HOST:PORT"):
        OWN_SETTINGS["odradek.metrics.listen"].parse(text)


@pytest.mark.parametrize("text", ["DEBUG", "WARN,odradek.request=DEBUG,odradek.net=ERROR"])
def test_levels_of_loggers_are_taken(text: str) -> None:
    assert OWN_SETTINGS["odradek.log.levels"].parse(text) == tuple(text.split(","))


@pytest.mark.parametrize(
    "text", ["", "LOUD", "INFO,DEBUG", "odradek=INFO", "INFO,=DEBUG", "INFO,odradek.net="]
)
def test_what_is_no_level_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="must be one of DEBUG, INFO, WARN, ERROR, followed by"):
        OWN_SETTINGS["odradek.log.levels"].parse(text)
