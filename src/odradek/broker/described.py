"""Configurations as clients are told them: an entry a setting, with its value, who set it, and what else was
found where it was looked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.model.config.broker_config import BrokerConfig
from odradek.model.config.origin import Source, Synonym
from odradek.model.config.registry import BROKER_SETTINGS, TOPIC_SETTINGS, broker_setting
from odradek.model.config.setting import Setting, Update
from odradek.model.config.topic_config import TopicConfig

UNKNOWN_KIND = 0


class Entry(NamedTuple):
    name: str
    text: str | None  # None where nothing is set, and for a secret
    source: int  # as on the wire
    is_read_only: bool = False
    is_sensitive: bool = False
    synonyms: tuple[Synonym, ...] = ()
    kind: int = UNKNOWN_KIND  # as on the wire
    meaning: str | None = None


def topic_entries(config: TopicConfig) -> Iterator[Entry]:
    for name, setting in TOPIC_SETTINGS.items():
        yield _entry(setting, name, config.text(name), config.synonyms(name))


def broker_entries(config: BrokerConfig) -> Iterator[Entry]:
    """All that one broker obeys, whoever set it."""
    for key in {**BROKER_SETTINGS, **config.set_keys(), **config.unknown}:
        setting = broker_setting(key)
        if setting is None:  # nobody knows what it means; it may be a plug-in's secret
            synonym = Synonym(key, None, Source.STATIC)
            yield Entry(key, None, Source.STATIC.value, True, True, (synonym,))
        else:
            read_only = setting.update is Update.READ_ONLY or key != setting.name
            yield _entry(setting, key, config.text(key), config.synonyms(key), read_only=read_only)


def cluster_entries(config: BrokerConfig) -> Iterator[Entry]:
    """What was set for every broker while they run, and no more."""
    for key in config.set_keys():
        synonyms = [each for each in config.synonyms(key) if each.source is Source.EVERY_BROKER]
        setting = broker_setting(key)
        if synonyms and setting is not None:
            yield _entry(setting, key, synonyms[0].text, synonyms)


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
