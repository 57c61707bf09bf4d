"""Where a broker listens, how it is advertised, and which listeners brokers use among themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from odradek.model.config.setting import ConfigError
from odradek.model.config.typed import TypedValues
from odradek.model.listeners import Endpoint, SecurityProtocol, parse_endpoints, parse_protocol_map

LISTENING_KEYS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_EVERY_ADDRESS = ("0.0.0.0", "::")
_V4 = re.compile(r"\d+\.\d+\.\d+\.\d+")


class Listening(NamedTuple):
    listeners: tuple[Endpoint, ...]
    advertised: tuple[Endpoint, ...]  # an empty host or a port of 0 is filled in once it is known
    between_brokers: str
    for_controller: str | None  # a listener of its own, where there is one


def listening(config: TypedValues) -> Listening:
    """What the settings say, each by itself readable; `ConfigError` names the one that is not."""
    protocols = _read_map(config)
    listeners = _read_endpoints("listeners", config.string("listeners"), protocols)
    advertised = config.optional_string("advertised.listeners")
    return Listening(
        listeners,
        _read_endpoints("advertised.listeners", advertised, protocols) if advertised else listeners,
        _between_brokers(config),
        config.optional_string("control.plane.listener.name"),
    )


def complaints_about_listening(told: Listening) -> Iterator[str]:
    """What does not fit together."""
    names = [each.listener for each in told.listeners]
    if not names:
        yield "listeners: at least one is needed"
    for name, count in Counter(names).items():
        if count > 1:
            yield f"listeners: {name} is there {count} times; each needs a name of its own"
    for one, other in combinations(told.listeners, 2):
        if one.port == other.port != 0 and not _of_two_families(one.host, other.host):
            yield f"listeners: {one} and {other} have the same port"
    for each in told.advertised:
        if each.host in _EVERY_ADDRESS:
            yield f"advertised.listeners: nobody can connect to {each.host}; give an address that leads here"
        if each.listener not in names:
            yield f"advertised.listeners: {each.listener} is not among listeners"
    if told.between_brokers not in [each.listener for each in told.advertised]:
        yield (
            f"inter.broker.listener.name: {told.between_brokers} is not among the advertised listeners "
            f"({', '.join(each.listener for each in told.advertised)})"
        )
    if told.for_controller is not None and told.for_controller.upper() not in names:
        yield f"control.plane.listener.name: {told.for_controller} is not among listeners"
    for each in told.listeners:
        if each.protocol.logs_in:
            yield f"listeners: {each} asks for a login ({each.protocol.name}), which is not served yet"


def _read_map(config: TypedValues) -> dict[str, SecurityProtocol]:
    try:
        return parse_protocol_map(config.string("listener.security.protocol.map"))
    except ValueError as bad:
        raise ConfigError(f"listener.security.protocol.map: {bad}") from None


def _read_endpoints(name: str, text: str, protocols: dict[str, SecurityProtocol]) -> tuple[Endpoint, ...]:
    try:
        return parse_endpoints(text, protocols)
    except ValueError as bad:
        raise ConfigError(f"{name}: {bad}") from None


def _between_brokers(config: TypedValues) -> str:
    named = config.optional_string("inter.broker.listener.name")
    return named.upper() if named else config.string("security.inter.broker.protocol")


def _of_two_families(one: str, other: str) -> bool:
    """An IPv4 and an IPv6 address, which may share a port."""
    return any(_V4.fullmatch(v4) and ":" in v6 for v4, v6 in ((one, other), (other, one)))
