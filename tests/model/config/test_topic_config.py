"""A topic's own settings, and the broker's where it has none."""

from __future__ import annotations

import pytest

from odradek.model.config.broker_config import BrokerConfig
from odradek.model.config.origin import Source, Synonym
from odradek.model.config.registry import TOPIC_SETTINGS
from odradek.model.config.setting import ConfigError
from odradek.model.config.topic_config import TopicConfig


def test_with_nothing_set_every_default_is_kafkas() -> None:
    config = TopicConfig(BrokerConfig.of({}), {})
    assert {name: config.value(name) for name in TOPIC_SETTINGS} == {
        name: setting.default for name, setting in TOPIC_SETTINGS.items()
    }


@pytest.mark.parametrize(
    ("broker", "retention_ms"),
    [
        ({}, 7 * 24 * 3_600_000),
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_the_finest_unit_that_is_set_holds(broker: dict[str, str], retention_ms: int) -> None:
    config = BrokerConfig.of(broker)
    assert TopicConfig(config, {}).integer("retention.ms") == retention_ms
    assert TopicConfig(config, {"retention.ms": "9"}).integer("retention.ms") == 9


def test_the_older_timestamp_bound_speaks_where_the_newer_are_silent() -> None:
    broker = BrokerConfig.of({"log.message.timestamp.difference.max.ms": "5"})
    config = TopicConfig(broker, {"message.timestamp.after.max.ms": "7"})
    assert config.integer("message.timestamp.before.max.ms") == 5
    assert config.integer("message.timestamp.after.max.ms") == 7


def test_synonyms_are_those_that_kafka_lists() -> None:
    """Recorded from 3.9.2 with the same settings."""
    plain = BrokerConfig.of({})
    own = {"retention.ms": "1000", "flush.ms": "77"}
    assert TopicConfig(plain, own).synonyms("flush.ms") == [Synonym("flush.ms", "77", Source.TOPIC)]
    assert TopicConfig(plain, own).synonyms("segment.ms") == []
    assert TopicConfig(plain, own).synonyms("preallocate") == [
        Synonym("log.preallocate", "false", Source.DEFAULT)
    ]
    broker = plain.with_dynamic(
        this_broker={"log.retention.ms": "5000"}, every_broker={"log.retention.ms": "6000"}
    )
    assert TopicConfig(broker, own).synonyms("retention.ms") == [
        Synonym("retention.ms", "1000", Source.TOPIC),
        Synonym("log.retention.ms", "5000", Source.THIS_BROKER),
        Synonym("log.retention.ms", "6000", Source.EVERY_BROKER),
        Synonym("log.retention.hours", "168", Source.DEFAULT),
    ]


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ({"no.such": "1"}, "Unknown topic config name: no.such"),
        (
            {"retention.ms": "-5"},
            "Invalid value -5 for configuration retention.ms: Value must be at least -1",
        ),
        (
            {"min.compaction.lag.ms": "100", "max.compaction.lag.ms": "50"},
            "conflict topic config setting min.compaction.lag.ms (100) > max.compaction.lag.ms (50)",
        ),
    ],
)
def test_what_no_topic_can_have_is_refused_in_kafkas_words(own: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        TopicConfig.check(BrokerConfig.of({}), own)
    assert str(refusal.value) == complaint


def test_what_was_stored_and_cannot_be_read_is_ignored_and_told() -> None:
    config = TopicConfig(BrokerConfig.of({}), {"retention.ms": "x", "share.only": "1", "flush.ms": "2"})
    assert config.integer("retention.ms") == 604_800_000
    assert config.integer("flush.ms") == 2
    assert len(config.ignored) == 2
