"""Configurations as clients are told them: an entry a setting, with its value, who set it, and what else was
found where it was looked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.model.config import client_metrics
from odradek.model.config.broker_config import BrokerConfig, Texts
from odradek.model.config.origin import Source, Synonym
from odradek.model.config.registry import BROKER_SETTINGS, TOPIC_SETTINGS, broker_setting
from odradek.model.config.setting import Setting, Update
from odradek.model.config.topic_config import TopicConfig

UNKNOWN_KIND = 0

# Sources beside those of `model/config/origin.py`, as on the wire.
BROKER_LOGGER = 6
CLIENT_METRICS = 7


class Entry(NamedTuple):
    name: str
    text: str | None  # None where nothing is set, and for a secret
    source: int  # as on the wire
    is_read_only: bool = False
    is_sensitive: bool = False
    synonyms: tuple[Synonym, ...] = ()
    kind: int = UNKNOWN_KIND  # as on the wire
    meaning: str | None = None  # none is known; empty: there is nothing to say


def topic_entries(config: TopicConfig) -> Iterator[Entry]:
    for name, setting in TOPIC_SETTINGS.items():
        yield _entry(setting, name, config.text(name), config.synonyms(name))


def broker_entries(config: BrokerConfig, set_here: Texts, set_everywhere: Texts) -> Iterator[Entry]:
    """All that one broker obeys, whoever set it, and what was set while it runs and nobody knows."""
    for key in {**BROKER_SETTINGS, **config.set_keys(), **config.unknown, **set_here, **set_everywhere}:
        setting = broker_setting(key)
        if setting is not None:
            read_only = setting.update is Update.READ_ONLY or key != setting.name
            yield _entry(setting, key, config.text(key), config.synonyms(key), read_only=read_only)
            continue
        layers = (
            (Source.THIS_BROKER, set_here),
            (Source.EVERY_BROKER, set_everywhere),
            (Source.STATIC, config.unknown),
        )
        yield _unknown(key, [source for source, texts in layers if key in texts])


def cluster_entries(config: BrokerConfig, set_everywhere: Texts) -> Iterator[Entry]:
    """What was set for every broker while they run, and no more."""
    for key in set_everywhere:
        setting = broker_setting(key)
        if setting is None:
            yield _unknown(key, [Source.EVERY_BROKER])
            continue
        synonyms = [each for each in config.synonyms(key) if each.source is Source.EVERY_BROKER]
        read_only = setting.update is Update.READ_ONLY or key != setting.name
        if synonyms:
            yield _entry(setting, key, synonyms[0].text, synonyms, read_only=read_only)


def logger_entries(levels: Texts) -> Iterator[Entry]:
    for name, level in levels.items():
        yield Entry(name, level, BROKER_LOGGER, meaning="")


def client_metrics_entries(texts: Texts) -> Iterator[Entry]:
    for name, setting in client_metrics.SETTINGS.items():
        if name in texts:
            yield Entry(name, texts[name], CLIENT_METRICS, kind=setting.kind.value, meaning=setting.meaning)
        else:
            yield _entry(setting, name, setting.default_text(), [])


def _unknown(key: str, sources: list[Source]) -> Entry:
    """Nobody knows what it means. It may be a plug-in's secret."""
    synonyms = tuple(Synonym(key, None, source) for source in sources)
    return Entry(key, None, sources[0].value, is_read_only=True, is_sensitive=True, synonyms=synonyms)


def _entry(
    setting: Setting, name: str, text: str | None, synonyms: list[Synonym], *, read_only: bool = False
) -> Entry:
    return Entry(
        name,
        None if setting.is_sensitive else text,
        synonyms[0].source.value if synonyms else Source.DEFAULT.value,
        read_only,
        setting.is_sensitive,
        tuple(synonyms),
        setting.kind.value,
        setting.meaning,
    )
