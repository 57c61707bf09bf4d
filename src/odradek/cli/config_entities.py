"""What has settings, as `kafka-configs` is told it: entity types and names, in pairs or in short forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from odradek.cli.failures import Misused

TYPES = ("topics", "clients", "users", "brokers", "ips", "broker-loggers", "client-metrics")
_SHORT = {
    "--topic": "topics",
    "--client": "clients",
    "--user": "users",
    "--broker": "brokers",
    "--broker-logger": "broker-loggers",
    "--ip": "ips",
    "--client-metrics": "client-metrics",
}
_SHORT_DEFAULTS = {
    "--client-defaults": "clients",
    "--user-defaults": "users",
    "--broker-defaults": "brokers",
    "--ip-defaults": "ips",
}


class Entity(NamedTuple):
    type: str
    name: str | None  # None: all there are; "": the default


def entities(arguments: Sequence[str]) -> tuple[Entity, ...]:
    """In the order of the command line, which says what belongs together.

    --entity-type users --entity-default --entity-type clients --entity-name c1
    """
    types: list[str] = []
    names: list[str | None] = []
    short: dict[str, str] = {}
    for flag, value in _flags(arguments):
        if flag == "--entity-type":
            types.append(value)
        elif flag == "--entity-name":
            names.append(value)
        elif flag == "--entity-default":
            names.append("")
        elif flag in _SHORT:
            short[flag] = value
        elif flag in _SHORT_DEFAULTS:
            short[flag] = ""
    if short and (types or names):
        raise Misused(
            "--entity-{type,name,default} should not be used in conjunction with specific entity flags"
        )
    unnamed = [None] * (len(types) - len(names))
    pairs = zip(types, [*names, *unnamed], strict=False)
    # The short forms have an order of their own, whatever the order of the command line.
    of_short = (
        Entity(type, short[flag]) for flag, type in {**_SHORT, **_SHORT_DEFAULTS}.items() if flag in short
    )
    found = (*(Entity(*each) for each in pairs), *of_short)
    _check(found)
    return found


def _flags(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each flag, with what stands behind it."""
    for at, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if flag.startswith("--"):
            yield flag, value if equals else "".join(arguments[at + 1 : at + 2])


def _check(found: Sequence[Entity]) -> None:
    types = [each.type for each in found]
    for each in types:
        if each not in TYPES:
            raise Misused(
                f"Invalid entity type {each}, the entity type must be one of {', '.join(TYPES)} "
                "with a --bootstrap-server or --bootstrap-controller argument"
            )
    if not types:
        raise Misused("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {"users", "clients"}:
        raise Misused("Only 'users' and 'clients' entity types may be specified together")
    for entity in found:
        if entity.type in ("brokers", "broker-loggers") and entity.name and not _is_id(entity.name):
            raise Misused(
                f"The entity name for {entity.type} must be a valid integer broker id, "
                f"but it is: {entity.name}"
            )


def _is_id(name: str) -> bool:
    return name.removeprefix("-").isdecimal()
