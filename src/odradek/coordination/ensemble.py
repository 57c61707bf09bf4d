"""Where a ZooKeeper ensemble is, how it is spoken to, and what it takes and tells beside the Store port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from odradek.coordination.store import Create, Operation, StoreError, Write
from odradek.model.config.setting import ConfigError

COMMIT_SIZE_MAX = 1_000_000  # bytes; a server drops the connection at a request of 1 MiB (jute.maxbuffer)
OPERATION_OVERHEAD = 64  # bytes of an operation beside its path and its data

# With zookeeper.set.acl: what nobody but brokers may even read, and what stays open to old consumers.
SECRET = ("/config/users", "/config/brokers", "/delegation_token/tokens")
OPEN = "/consumers"

# Makes a connected socket: name of the host, its address, port, and the seconds it may take.
Connect: TypeAlias = Callable[[str, str, int, float], object]


@dataclass(frozen=True, slots=True)
class Login:
    """SASL, DIGEST-MD5."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Ensemble:
    servers: tuple[str, ...]  # host:port
    root: str = ""  # below which everything lies, as /kafka; it is made if it is not there
    session_timeout_ms: int = 18_000
    connection_timeout_ms: int = 18_000  # of opening a session
    in_flight_max: int = 10  # requests
    only_we_may_change: bool = False  # zookeeper.set.acl
    login: Login | None = None
    connect: Connect | None = None  # None: a plain socket


class FullStat(NamedTuple):
    """All that ZooKeeper tells of a node."""

    created: int
    changed: int
    created_ms: int
    changed_ms: int
    version: int
    children_version: int
    acl_version: int
    owner: int
    data_size: int
    child_count: int
    children_changed: int


def servers_and_root(connection: str) -> tuple[tuple[str, ...], str]:
    """Of `zookeeper.connect`: host:port,host:port/path."""
    hosts, _, path = connection.partition("/")
    servers = tuple(each.strip() for each in hosts.split(","))
    for server in servers:
        try:
            address = urlsplit(f"//{server}")
            if not address.hostname or address.port == 0:
                raise ValueError(f"{server!r} is not HOST:PORT")
        except ValueError as failure:
            raise ConfigError(f"zookeeper.connect={connection}: {failure}") from None
    return servers, "".join(f"/{each}" for each in path.split("/") if each)


def refuse_oversized(operations: Sequence[Operation]) -> None:
    sizes = [
        OPERATION_OVERHEAD + len(each.path) + len(each.data if isinstance(each, Create | Write) else b"")
        for each in operations
    ]
    if sum(sizes) > COMMIT_SIZE_MAX:
        largest = operations[sizes.index(max(sizes))]
        complaint = f"in a commit of {sum(sizes)} bytes; ZooKeeper takes {COMMIT_SIZE_MAX}"
        raise StoreError(largest.path, complaint)
