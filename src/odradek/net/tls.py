"""TLS from Kafka's settings: certificates from PEM or PKCS12, who must show one, protocols and ciphers."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ClientAuth(enum.Enum):
    """ssl.client.auth: whether a client shows a certificate."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Store:
    """A keystore or a truststore: a file, or PEM text."""

    kind: str = "JKS"  # ssl.keystore.type: PEM or PKCS12; JKS is refused when it is used
    location: str | None = None
    password: str | None = None
    certificates: str | None = None  # ssl.keystore.certificate.chain, ssl.truststore.certificates
    key: str | None = None  # ssl.keystore.key
    key_password: str | None = None  # ssl.key.password


@dataclass(frozen=True, slots=True)
class TlsSettings:
    keystore: Store = Store()
    truststore: Store = Store()
    client_auth: ClientAuth = ClientAuth.NONE
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")  # ssl.enabled.protocols
    ciphers: tuple[str, ...] = ()  # ssl.cipher.suites
    checks_host_name: bool = True  # ssl.endpoint.identification.algorithm is https


class ServerTls:
    """A listener's side; its files are looked at again for each new connection."""

    def __init__(self, settings: TlsSettings) -> None:
        self.settings = settings


class ClientTls:
    """The side that connects."""

    def __init__(self, settings: TlsSettings) -> None:
        self.settings = settings
