"""The Store port: a small versioned tree that all brokers of a cluster see alike.

What ZooKeeper promises, and no more: every node has a version, writes may demand one; a commit takes place
whole or not at all; an ephemeral node goes with the session that made it; a watch fires once. A broker speaks
through its own `Session`.

A watch is a plain function told nothing but that something happened: it may wake somebody who then reads
again, and cannot read by itself. It fires before its own session can read what the change made.

`ConnectionLost` from a commit leaves open whether it took place. Whoever cares reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

ANY_VERSION = -1


class Stat(NamedTuple):
    """`created` and `changed` are places in the one order of all commits (czxid, mzxid)."""

    created: int
    changed: int
    version: int
    created_ms: int
    changed_ms: int
    owner: int = 0  # the session of an ephemeral node
    child_count: int = 0


class Node(NamedTuple):
    data: bytes
    stat: Stat


# -- what a commit is made of ------------------------------------------------------------------------------


class Create(NamedTuple):
    """A sequential node's name is completed with the next number of its parent, ten digits wide."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


class Write(NamedTuple):
    path: str
    data: bytes
    version: int = ANY_VERSION


class Delete(NamedTuple):
    path: str
    version: int = ANY_VERSION


class Check(NamedTuple):
    """Nothing is done; the commit stands only if the node has this version."""

    path: str
    version: int


Operation: TypeAlias = Create | Write | Delete | Check


class Done(NamedTuple):
    """What became of one operation: the path it made, the version the node now has."""

    path: str
    version: int


# -- what can go wrong -------------------------------------------------------------------------------------


class StoreError(Exception):
    """The store did not do it. `path` is the node that stood in the way, where there is one."""

    def __init__(self, path: str, complaint: str) -> None:
        super().__init__(f"{path}: {complaint}" if path else complaint)
        self.path = path


class NoNode(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, "no such node")


class NodeExists(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, "exists already")


class NodeHasChildren(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, "has children")


class VersionConflict(StoreError):
    def __init__(self, path: str, wanted: int) -> None:
        super().__init__(path, f"does not have version {wanted}")


class EphemeralHasNoChildren(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, "is ephemeral and cannot have children")


class ConnectionLost(StoreError):
    """Nobody answered. A commit may or may not have taken place."""


class SessionExpired(StoreError):
    """The session is over and its ephemeral nodes are gone; it never comes back."""

    def __init__(self) -> None:
        super().__init__("", "the session has expired")


# -- the port ----------------------------------------------------------------------------------------------

Watch: TypeAlias = Callable[[], None]


class Session(Protocol):
    """One broker's hold on the store. Its calls are awaited; the embedded store answers without a wait."""

    @property
    def id(self) -> int: ...

    async def get(self, path: str, watch: Watch | None = None) -> Node:
        """The node, or `NoNode`. The watch fires when its data changes, when it goes, or, where there was
        none, when it comes."""
        ...

    async def get_many(self, paths: Sequence[str]) -> list[Node | None]:
        """The nodes of all these paths, None where there is none: one round trip's time, not many."""
        ...

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """The names, sorted, or `NoNode`. The watch fires when a child comes or goes, or the node goes."""
        ...

    async def commit(self, *operations: Operation) -> list[Done]:
        """All of them, in this order, or none: then the error of the first that could not be done."""
        ...

    def on_expired(self, watch: Watch) -> None:
        """Call `watch` once when the session has expired, at once if it has already."""
        ...

    async def close(self) -> None:
        """Give up the session; its ephemeral nodes go at once."""
        ...
