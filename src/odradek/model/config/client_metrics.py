"""What a subscription to client metrics says: which metrics, how often, of which clients (KIP-714)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from odradek.model.config.setting import MEDIUM, PER_TOPIC, SERVED, ConfigError, Setting
from odradek.model.config.values import ANYTHING, INT, LIST, Between

INTERVAL_MS, METRICS, MATCH = "interval.ms", "metrics", "match"
INTERVAL_MS_DEFAULT = 300_000

SETTINGS = {
    row.name: row
    for row in (
        Setting(INTERVAL_MS, INT, INTERVAL_MS_DEFAULT, Between(100, 3_600_000), MEDIUM, PER_TOPIC, SERVED,
                "How often a client pushes its metrics."),
        Setting(MATCH, LIST, (), ANYTHING, MEDIUM, PER_TOPIC, SERVED,
                "Which clients are meant: `client_software_name=a.*,client_id=b`, all of which must match."),
        Setting(METRICS, LIST, (), ANYTHING, MEDIUM, PER_TOPIC, SERVED,
                "Prefixes of the names of the metrics that are wanted; a star wants all of them."),
    )
}  # fmt: skip

# What of a client can be matched.
INSTANCE_ID = "client_instance_id"
CLIENT_ID = "client_id"
SOFTWARE_NAME = "client_software_name"
SOFTWARE_VERSION = "client_software_version"
SOURCE_ADDRESS = "client_source_address"
SOURCE_PORT = "client_source_port"
MATCHABLE = (INSTANCE_ID, CLIENT_ID, SOFTWARE_NAME, SOFTWARE_VERSION, SOURCE_ADDRESS, SOURCE_PORT)


class Subscription(NamedTuple):
    """One subscription, as far as something of it was set."""

    interval_ms: int
    metrics: tuple[str, ...]
    match: tuple[tuple[str, re.Pattern[str]], ...]

    @staticmethod
    def of(texts: Mapping[str, str]) -> Subscription:
        """`ConfigError` says what cannot be read."""
        values = {name: row.default for name, row in SETTINGS.items()}
        for name, text in texts.items():
            if name not in SETTINGS:
                raise ConfigError(f"Unknown client metrics configuration: {name}")
            values[name] = SETTINGS[name].parse(text)
        interval_ms, metrics, match = values[INTERVAL_MS], values[METRICS], values[MATCH]
        assert isinstance(interval_ms, int)
        assert isinstance(metrics, tuple)
        assert isinstance(match, tuple)
        return Subscription(interval_ms, metrics, tuple(_pattern(each) for each in match))

    def matches(self, client: Mapping[str, str]) -> bool:
        return all(pattern.fullmatch(client.get(what, "")) for what, pattern in self.match)


def _pattern(text: str) -> tuple[str, re.Pattern[str]]:
    what, equals, pattern = (part.strip() for part in text.partition("="))
    if not equals or what not in MATCHABLE:
        raise ConfigError(f"Illegal client matching pattern: {text}")
    try:
        return what, re.compile(pattern)
    except re.error:
        raise ConfigError(f"Illegal client matching pattern: {text}") from None
