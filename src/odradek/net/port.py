"""The network as a port: byte streams that never block, listeners, and what both are set to.

`sockets.py` is the real one. `testing/sim_net.py` has the twin that delays, drops and partitions. What runs
on top (`channel.py`, `connection.py`, `server.py`, `peer.py`) does not know which it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from odradek.net.limits import ListenerLimits

if TYPE_CHECKING:
    from odradek.net.tls import ClientTls, ServerTls
    from odradek.wire.parts import Part

SYSTEM_DEFAULT = -1


class Address(NamedTuple):
    host: str  # a name or a number; a listener's "" is every interface
    port: int  # a listener's 0 is any free one

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SocketSettings:
    send_buffer_size: int = SYSTEM_DEFAULT  # socket.send.buffer.bytes
    receive_buffer_size: int = SYSTEM_DEFAULT  # socket.receive.buffer.bytes


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    name: str
    address: Address
    tls: ServerTls | None = None
    backlog: int = 50  # socket.listen.backlog.size
    limits: ListenerLimits = field(default_factory=ListenerLimits)
    sockets: SocketSettings = SocketSettings()


class Stream(Protocol):
    """A connected stream of bytes. Nothing here waits; a failed stream raises OSError."""

    @property
    def peer(self) -> Address: ...

    @property
    def local(self) -> Address: ...

    def receive(self, spaces: list[memoryview]) -> int:
        """Fill the spaces in order with what is there. 0: the peer ended the stream. BlockingIOError: nothing
        is there."""
        ...

    def send(self, parts: list[Part], size_max: int) -> int:
        """Send about `size_max` bytes from the front of `parts`, and take out what went. How many bytes; 0
        when the stream takes none now."""
        ...

    def when_readable(self, callback: Callable[[], None] | None) -> None: ...

    def when_writable(self, callback: Callable[[], None] | None) -> None: ...

    def end(self) -> None:
        """Send nothing more, and let the peer know. What it sends is still received."""
        ...

    def peer_name(self) -> str | None:
        """The name in the peer's certificate, if it showed one that is trusted."""
        ...

    def close(self) -> None: ...


class Listening(Protocol):
    """One listener, accepting."""

    @property
    def address(self) -> Address:
        """As it was bound: the port is the real one."""
        ...

    def pause(self) -> None:
        """Leave who connects in the backlog."""
        ...

    def resume(self) -> None: ...

    def close(self) -> None: ...


class Network(Protocol):
    """What one machine is connected to."""

    @property
    def receive_buffer(self) -> memoryview:
        """Where everything is received, whichever stream it comes from; valid until the next receive."""
        ...

    def listen(self, listener: ListenerSettings, accepted: Callable[[Stream], None]) -> Listening: ...

    async def connect(self, address: Address, sockets: SocketSettings, tls: ClientTls | None) -> Stream:
        """OSError when there is nobody, or nobody trusted."""
        ...
