"""What a client is told: where the cluster is, how to get there, how patient to be.

Keys and defaults are Kafka's. Of the several hundred keys that clients know, those about administration are
read; the rest is left alone, because one file often serves many programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from odradek.model.config.setting import ConfigError
from odradek.net.port import Address
from odradek.net.tls import Keystore, TlsSettings, Truststore

_SERVED_PROTOCOLS = ("PLAINTEXT", "SSL")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    bootstrap: tuple[Address, ...]
    client_id: str = "odradek-admin"
    tls: TlsSettings | None = None
    timeout_ms: int = 60_000  # default.api.timeout.ms: all attempts together
    request_timeout_ms: int = 30_000  # request.timeout.ms: one of them
    connect_timeout_ms: int = 10_000  # socket.connection.setup.timeout.ms
    pause_ms: int = 100  # retry.backoff.ms: before the second attempt; then twice as long each time
    pause_ms_max: int = 1_000  # retry.backoff.max.ms
    others: Mapping[str, str] = field(default_factory=dict)  # keys that this client does not read

    @staticmethod
    def of(servers: str, properties: Mapping[str, str] | None = None) -> ClientSettings:
        """`servers` as in `host:port,host:port`; `properties` as in a file for `--command-config`."""
        left = dict(properties or {})
        inside = left.pop("bootstrap.servers", "")
        bootstrap = addresses(servers or inside)
        return ClientSettings(
            bootstrap=bootstrap,
            client_id=left.pop("client.id", "odradek-admin"),
            tls=_tls(left),
            timeout_ms=_number(left, "default.api.timeout.ms", 60_000),
            request_timeout_ms=_number(left, "request.timeout.ms", 30_000),
            connect_timeout_ms=_number(left, "socket.connection.setup.timeout.ms", 10_000),
            pause_ms=_number(left, "retry.backoff.ms", 100),
            pause_ms_max=_number(left, "retry.backoff.max.ms", 1_000),
            others=left,
        )


def addresses(servers: str) -> tuple[Address, ...]:
    """`ConfigError` unless there is at least one, and each has a port."""
    found = tuple(_address(each.strip()) for each in servers.split(",") if each.strip())
    if not found:
        raise ConfigError("No bootstrap urls given in bootstrap.servers")
    return found


def _address(server: str) -> Address:
    """PLAINTEXT://host:port is taken too, as Kafka takes it."""
    host, colon, port = server.rpartition("://")[2].rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"Invalid url in bootstrap.servers: {server} (expected HOST:PORT)")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def _number(properties: dict[str, str], key: str, default: int) -> int:
    text = properties.pop(key, None)
    if text is None:
        return default
    if not text.strip().isdecimal():
        raise ConfigError(f"Invalid value {text} for configuration {key}: not a whole number from 0 on")
    return int(text)


def _tls(properties: dict[str, str]) -> TlsSettings | None:
    protocol = properties.pop("security.protocol", "PLAINTEXT").upper()
    if protocol not in _SERVED_PROTOCOLS:
        raise ConfigError(
            f"Invalid value {protocol} for configuration security.protocol: "
            f"this client speaks {' and '.join(_SERVED_PROTOCOLS)}"
        )
    ssl = {key.removeprefix("ssl."): properties.pop(key) for key in _of_tls(properties)}
    if protocol == "PLAINTEXT":
        return None
    return TlsSettings(
        keystore=Keystore(
            kind=ssl.get("keystore.type", "JKS").upper(),
            location=ssl.get("keystore.location"),
            password=ssl.get("keystore.password"),
            chain=ssl.get("keystore.certificate.chain"),
            key=ssl.get("keystore.key"),
            key_password=ssl.get("key.password"),
        ),
        truststore=Truststore(
            kind=ssl.get("truststore.type", "JKS").upper(),
            location=ssl.get("truststore.location"),
            password=ssl.get("truststore.password"),
            certificates=ssl.get("truststore.certificates"),
        ),
        protocols=_listed(ssl.get("enabled.protocols")) or ("TLSv1.2", "TLSv1.3"),
        ciphers=_listed(ssl.get("cipher.suites")),
        checks_host_name=ssl.get("endpoint.identification.algorithm", "https").strip() != "",
    )


def _of_tls(properties: Iterable[str]) -> list[str]:
    return [key for key in properties if key.startswith("ssl.")]


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(each.strip() for each in (text or "").split(",") if each.strip())
