"""Where a broker listens and how it is reached: listener names, security protocols, endpoints.

An endpoint is written `NAME://host:port`; an IPv6 address stands in brackets, an empty host means every
address. Which protocol a name speaks is told by `listener.security.protocol.map`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

PORT_MAX = 65535
_ENDPOINT = re.compile(r"([^:/]+)://(?:\[([0-9a-zA-Z:.%]*)\]|([0-9a-zA-Z._%:-]*)):(-?\d{1,10})")


class SecurityProtocol(Enum):
    """Plain or encrypted, with or without a login; the number is the one on the wire."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def encrypts(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def logs_in(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Endpoint(NamedTuple):
    listener: str
    protocol: SecurityProtocol
    host: str  # empty: every address
    port: int  # 0: any free one

    def __str__(self) -> str:
        """As znodes and logs show it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


def parse_protocol_map(text: str) -> dict[str, SecurityProtocol]:
    """`NAME:PROTOCOL,...`; `ValueError` names the pair that is none."""
    protocols: dict[str, SecurityProtocol] = {}
    for pair in _items(text):
        name, colon, protocol = (part.strip() for part in pair.partition(":"))
        if not (name and colon) or protocol.upper() not in SecurityProtocol.__members__:
            allowed = ", ".join(SecurityProtocol.__members__)
            raise ValueError(f"'{pair}' is not NAME:PROTOCOL with a protocol of {allowed}")
        if name.upper() in protocols:
            raise ValueError(f"listener {name.upper()} has two protocols")
        protocols[name.upper()] = SecurityProtocol[protocol.upper()]
    return protocols


def parse_endpoints(text: str, protocols: Mapping[str, SecurityProtocol]) -> tuple[Endpoint, ...]:
    """A comma-separated list of endpoints; `ValueError` names the one that is none."""
    return tuple(_endpoint(item, protocols) for item in _items(text))


def _endpoint(text: str, protocols: Mapping[str, SecurityProtocol]) -> Endpoint:
    found = _ENDPOINT.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is not NAME://host:port")
    name, bracketed, plain, port = found.groups()
    if not 0 <= int(port) <= PORT_MAX:
        raise ValueError(f"'{text}' has a port outside 0..{PORT_MAX}")
    if name.upper() not in protocols:
        raise ValueError(
            f"'{text}': no security protocol is defined for listener {name.upper()} "
            "in listener.security.protocol.map"
        )
    host = plain if bracketed is None else bracketed
    return Endpoint(name.upper(), protocols[name.upper()], host, int(port))


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
