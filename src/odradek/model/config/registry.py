"""All settings by name: the broker's and the topic's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from odradek.model.config import (
    broker_log,
    general,
    groups,
    kraft,
    network,
    replication,
    security,
    tiered,
    tls,
    topic,
    transactions,
    zookeeper,
)
from odradek.model.config.setting import Setting

Settings: TypeAlias = Mapping[str, Setting]

_OF_BROKERS = (
    *(general, network, broker_log, replication, groups, transactions),
    *(tls, security, zookeeper, kraft, tiered),
)

BROKER_SETTINGS: Settings = {row.name: row for theme in _OF_BROKERS for row in theme.SETTINGS}
TOPIC_SETTINGS: Settings = {row.name: row for row in topic.SETTINGS}
assert len(BROKER_SETTINGS) == sum(len(theme.SETTINGS) for theme in _OF_BROKERS), "a key is declared twice"
