"""All settings by name: Kafka's of a broker and of a topic, and our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from odradek.model.config import (
    broker_log,
    general,
    groups,
    kraft,
    network,
    own,
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
OWN_SETTINGS: Settings = {row.name: row for row in own.SETTINGS}
KNOWN_SETTINGS: Settings = {**BROKER_SETTINGS, **OWN_SETTINGS}  # all that a broker can be started with
assert len(BROKER_SETTINGS) == sum(len(theme.SETTINGS) for theme in _OF_BROKERS), "a key is declared twice"

_OF_A_LISTENER = "listener.name."


def broker_setting(key: str) -> Setting | None:
    """The broker's setting that a key names: plainly, for one listener, or for a mechanism of one listener.

    listener.name.internal.ssl.keystore.location, listener.name.internal.scram-sha-256.sasl.jaas.config
    """
    plain = KNOWN_SETTINGS.get(key)
    if plain is not None or not key.startswith(_OF_A_LISTENER):
        return plain
    _listener, _, rest = key.removeprefix(_OF_A_LISTENER).partition(".")
    _mechanism, _, last = rest.partition(".")
    return BROKER_SETTINGS.get(rest) or (BROKER_SETTINGS.get(last) if last.startswith("sasl.") else None)


def listener_prefix(listener: str) -> str:
    return f"{_OF_A_LISTENER}{listener.lower()}."
