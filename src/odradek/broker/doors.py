"""The listeners of a broker: opened as its settings say, and again when they say otherwise while it runs.

New settings hold for new connections; nobody who is connected is thrown out. What is advertised follows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.listeners import connection_limits, listener_settings, tls_settings
from odradek.model.config.setting import ConfigError

if TYPE_CHECKING:
    from odradek.model.config.broker_config import BrokerConfig
    from odradek.model.listeners import Endpoint
    from odradek.net.port import Address
    from odradek.net.server import Server
    from odradek.net.tls import TlsSettings

_logger = logging.getLogger("odradek.broker.doors")


class _Door(NamedTuple):
    """What there is of a listener, to be compared with what there should be."""

    endpoints: tuple[Endpoint, ...]  # one a family of addresses
    tls: TlsSettings | None


class Doors:
    def __init__(self, server: Server, on_advertised: Callable[[list[Endpoint]], None]) -> None:
        self._server = server
        self._on_advertised = on_advertised
        self._open: dict[str, _Door] = {}
        self._addresses: dict[str, Address] = {}
        self.advertised: list[Endpoint] = []

    @property
    def addresses(self) -> list[Address]:
        return list(self._addresses.values())

    def open(self, config: BrokerConfig) -> None:
        for name, door in _wanted(config).items():
            self._listen(config, name, door)
        self.advertised = _advertised(config, self._addresses)

    def reconfigure(self, config: BrokerConfig) -> None:
        try:
            self._server.reconfigure(connection_limits(config))
        except ConfigError as bad:
            _logger.warning("%s; what held before holds on", bad)
        wanted = _wanted(config)
        for name in self._open.keys() - wanted.keys():
            self._close(name)
        for name, door in wanted.items():
            if self._open.get(name) != door:
                self._close(name)
                self._listen_if_possible(config, name, door)
            else:
                limits = listener_settings(config, door.endpoints[0]).limits
                self._server.limit(name, limits)
        advertised = _advertised(config, self._addresses)
        if advertised != self.advertised:
            self.advertised = advertised
            self._on_advertised(advertised)

    # -- inside ------------------------------------------------------------------------------------------

    def _listen_if_possible(self, config: BrokerConfig, name: str, door: _Door) -> None:
        try:
            self._listen(config, name, door)
        except (OSError, ConfigError) as failure:
            _logger.error("nobody can come by the listener %s: %s", name, failure)

    def _listen(self, config: BrokerConfig, name: str, door: _Door) -> None:
        for endpoint in door.endpoints:
            self._addresses[name] = self._server.listen(listener_settings(config, endpoint))
        self._open[name] = door

    def _close(self, name: str) -> None:
        if self._open.pop(name, None) is not None:
            self._server.stop_listening(name)
            del self._addresses[name]


def _wanted(config: BrokerConfig) -> dict[str, _Door]:
    by_name: dict[str, tuple[Endpoint, ...]] = {}
    for endpoint in config.listening.listeners:
        by_name[endpoint.listener] = (*by_name.get(endpoint.listener, ()), endpoint)
    return {
        name: _Door(
            endpoints, tls_settings(config.for_listener(name)) if endpoints[0].protocol.encrypts else None
        )
        for name, endpoints in by_name.items()
    }


def _advertised(config: BrokerConfig, bound: Mapping[str, Address]) -> list[Endpoint]:
    """Ports that were picked by the system are known now; a listener on every address goes by the machine's
    loopback name unless something else is advertised. What is not open is not advertised."""
    return [
        endpoint._replace(
            host=endpoint.host or "localhost", port=endpoint.port or bound[endpoint.listener].port
        )
        for endpoint in config.listening.advertised
        if endpoint.listener in bound
    ]
