"""The server: several listeners, all their connections, and the limits these must keep."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odradek.net.connection import Connection, ConnectionSettings, Handler
from odradek.net.port import NO_LIMIT

if TYPE_CHECKING:
    from odradek.net.port import Address, ListenerSettings, Listening, Network, Stream


@dataclass(frozen=True, slots=True)
class ServerSettings:
    connections_max: int = NO_LIMIT  # max.connections
    connections_per_ip_max: int = NO_LIMIT  # max.connections.per.ip
    connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    creation_rate_max: int = NO_LIMIT  # max.connection.creation.rate, a second
    idle_ms_max: int = 600_000  # connections.max.idle.ms
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)


class Server:
    """Give every request of every connection to one handler."""

    def __init__(self, network: Network, handler: Handler, settings: ServerSettings) -> None:
        self._network = network
        self._handler = handler
        self._settings = settings
        self._listening: dict[str, Listening] = {}
        self._connections: dict[int, Connection] = {}
        self._accepted = 0
        self._all_gone = asyncio.Event()

    @property
    def connections(self) -> Collection[Connection]:
        return self._connections.values()

    def listen(self, listener: ListenerSettings) -> Address:
        """Accept on one more listener; where it is. OSError when the address cannot be had."""
        assert listener.name not in self._listening
        listening = self._network.listen(listener, lambda stream: self._accept(listener, stream))
        self._listening[listener.name] = listening
        return listening.address

    def stop_accepting(self) -> None:
        for listening in self._listening.values():
            listening.close()
        self._listening.clear()

    def finish(self) -> None:
        """Take no more connections and no more requests; each connection closes when all is answered."""
        self.stop_accepting()
        for connection in list(self._connections.values()):
            connection.finish("the server stops")

    async def stop(self, within_s: float) -> None:
        """`finish`, and close what is still open after so many seconds."""
        self.finish()
        if self._connections:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_gone.wait(), within_s)
        for connection in list(self._connections.values()):
            connection.close("the server stopped")

    def _accept(self, listener: ListenerSettings, stream: Stream) -> None:
        self._accepted += 1
        self._connections[self._accepted] = Connection(
            stream,
            self._network.receive_buffer,
            self._handler,
            self._settings.connection,
            listener=listener.name,
            number=self._accepted,
            forget=self._forget,
        )

    def _forget(self, connection: Connection) -> None:
        del self._connections[connection.number]
        if not self._connections:
            self._all_gone.set()
