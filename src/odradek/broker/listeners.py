"""What the settings say about sockets, in the words of `net/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.model.config.setting import ConfigError
from odradek.net.connection import ConnectionSettings
from odradek.net.limits import ConnectionLimits, ListenerLimits
from odradek.net.port import Address, ListenerSettings, SocketSettings
from odradek.net.server import ServerSettings

if TYPE_CHECKING:
    from odradek.model.config.broker_config import BrokerConfig, ListenerConfig
    from odradek.model.listeners import Endpoint
    from odradek.net.tls import ServerTls, TlsSettings


def server_settings(config: BrokerConfig) -> ServerSettings:
    return ServerSettings(
        limits=connection_limits(config),
        idle_ms_max=config.integer("connections.max.idle.ms"),
        connection=ConnectionSettings(frame_size_max=config.integer("socket.request.max.bytes")),
    )


def connection_limits(config: BrokerConfig) -> ConnectionLimits:
    return ConnectionLimits(
        connections_max=config.integer("max.connections"),
        per_address_max=config.integer("max.connections.per.ip"),
        per_address_overrides=dict(_overrides(config)),
        creation_rate_max=config.integer("max.connection.creation.rate"),
    )


def listener_settings(config: BrokerConfig, endpoint: Endpoint) -> ListenerSettings:
    own = config.for_listener(endpoint.listener)
    return ListenerSettings(
        name=endpoint.listener,
        address=Address(endpoint.host, endpoint.port),
        tls=_tls(tls_settings(own)) if endpoint.protocol.encrypts else None,
        backlog=config.integer("socket.listen.backlog.size"),
        sockets=SocketSettings(
            send_buffer_size=config.integer("socket.send.buffer.bytes"),
            receive_buffer_size=config.integer("socket.receive.buffer.bytes"),
        ),
        limits=ListenerLimits(
            connections_max=own.integer("max.connections"),
            creation_rate_max=own.integer("max.connection.creation.rate"),
            is_for_brokers=endpoint.listener == config.listening.between_brokers
            and len(config.listening.listeners) > 1,
        ),
    )


def _overrides(config: BrokerConfig) -> Iterator[tuple[str, int]]:
    """`host:count` pairs; an IPv6 address has colons of its own."""
    for pair in filter(None, config.string("max.connections.per.ip.overrides").split(",")):
        host, _, count = pair.strip().rpartition(":")
        if not (host and count.isdecimal()):
            raise ConfigError(f"max.connections.per.ip.overrides: {pair!r} is not host:count")
        yield host.strip("[]"), int(count)


def tls_settings(config: ListenerConfig) -> TlsSettings:
    from odradek.net.tls import ClientAuth, Keystore, TlsSettings, Truststore

    return TlsSettings(
        keystore=Keystore(
            kind=config.string("ssl.keystore.type"),
            location=config.optional_string("ssl.keystore.location"),
            password=config.secret("ssl.keystore.password"),
            chain=config.secret("ssl.keystore.certificate.chain"),
            key=config.secret("ssl.keystore.key"),
            key_password=config.secret("ssl.key.password"),
        ),
        truststore=Truststore(
            kind=config.string("ssl.truststore.type"),
            location=config.optional_string("ssl.truststore.location"),
            password=config.secret("ssl.truststore.password"),
            certificates=config.secret("ssl.truststore.certificates"),
        ),
        client_auth=ClientAuth(config.string("ssl.client.auth").lower()),
        protocols=config.words("ssl.enabled.protocols"),
        ciphers=config.words("ssl.cipher.suites"),
    )


def _tls(settings: TlsSettings) -> ServerTls:
    from odradek.net.tls import ServerTls

    return ServerTls(settings)
