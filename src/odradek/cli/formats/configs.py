"""Settings as `kafka-configs --describe` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from odradek.wire.messages.configs import DescribedConfig

if TYPE_CHECKING:
    from odradek.cli.output import Row

# Where a value comes from, as Kafka's client names the numbers on the wire.
SOURCES = (
    "UNKNOWN",
    "DYNAMIC_TOPIC_CONFIG",
    "DYNAMIC_BROKER_CONFIG",
    "DYNAMIC_DEFAULT_BROKER_CONFIG",
    "STATIC_BROKER_CONFIG",
    "DEFAULT_CONFIG",
    "DYNAMIC_BROKER_LOGGER_CONFIG",
    "DYNAMIC_CLIENT_METRICS_CONFIG",
    "DYNAMIC_GROUP_CONFIG",
)


def heading(kind: str, name: str, *, shows_all: bool) -> str:
    """`kind` is one of the plurals that --entity-type takes; the name "" is the default of all."""
    if not name:
        return f"Default configs for {kind} in the cluster are:"
    return f"{'All' if shows_all else 'Dynamic'} configs for {kind.removesuffix('s')} {name} are:"


def setting_lines(configs: Iterable[DescribedConfig]) -> Iterator[str]:
    for each in sorted(configs, key=lambda config: config.name):
        synonyms = ", ".join(
            f"{_source(other.source)}:{other.name}={_shown(other.value)}" for other in each.synonyms
        )
        sensitive = "true" if each.is_sensitive else "false"
        yield f"  {each.name}={_shown(each.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def setting_rows(kind: str, name: str, configs: Iterable[DescribedConfig]) -> Iterator[Row]:
    for each in sorted(configs, key=lambda config: config.name):
        yield {
            kind.removesuffix("s"): name or "(default)",
            "setting": each.name,
            "value": each.value,
            "from": _source(each.config_source),
        }


def as_json(kind: str, name: str, configs: Iterable[DescribedConfig]) -> Row:
    return {
        "entity_type": kind,
        "entity_name": name or None,
        "configs": [
            {
                "name": each.name,
                "value": each.value,
                "source": _source(each.config_source),
                "read_only": each.read_only,
                "sensitive": each.is_sensitive,
                "synonyms": [
                    {"name": other.name, "value": other.value, "source": _source(other.source)}
                    for other in each.synonyms
                ],
            }
            for each in sorted(configs, key=lambda config: config.name)
        ],
    }


def _source(number: int) -> str:
    return SOURCES[number] if 0 <= number < len(SOURCES) else SOURCES[0]


def _shown(value: str | None) -> str:
    return "null" if value is None else value
