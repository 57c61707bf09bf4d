"""The server: listeners, all their connections, the limits these keep, and how they end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from odradek.net.connection import Connection, ConnectionSettings, Handler
from odradek.net.limits import Admission, ConnectionLimits, ListenerLimits

if TYPE_CHECKING:
    from odradek.net.port import Address, ListenerSettings, Listening, Network, Stream

LOOKS_BEFORE_IDLE = 8  # an idle connection closes up to an eighth late
LOOKS_EVERY_S_MIN = 0.05
NEVER_IDLE = -1

log = logging.getLogger("odradek.net")


@dataclasses.dataclass(frozen=True, slots=True)
class ServerSettings:
    limits: ConnectionLimits = dataclasses.field(default_factory=ConnectionLimits)
    idle_ms_max: int = 600_000  # connections.max.idle.ms; NEVER_IDLE closes nobody
    connection: ConnectionSettings = dataclasses.field(default_factory=ConnectionSettings)


@dataclasses.dataclass(slots=True)
class Traffic:
    """What has passed, connections that have closed included."""

    accepted: int = 0
    refused: int = 0
    closed: int = 0
    closed_idle: int = 0
    requests: int = 0
    received_size: int = 0
    sent_size: int = 0

    def add(self, connection: Connection) -> None:
        received_size, sent_size = connection.traffic
        self.requests += connection.requests
        self.received_size += received_size
        self.sent_size += sent_size


@dataclasses.dataclass(slots=True)
class _Door:
    name: str
    listening: Listening
    is_open: bool = True
    opening: asyncio.TimerHandle | None = None

    def close(self) -> None:
        self.listening.close()
        if self.opening is not None:
            self.opening.cancel()


class Server:
    """Give every request of every connection to one handler. To be made and used on one event loop."""

    def __init__(
        self, network: Network, handler: Handler, settings: ServerSettings, *, is_held: bool = False
    ) -> None:
        """`is_held`: until `open`, whoever connects waits in the backlog."""
        self._network = network
        self._handler = handler
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._admission = Admission(settings.limits, self._loop.time())
        self._doors: list[_Door] = []
        self._is_held = is_held
        self._connections: dict[int, Connection] = {}
        self._past = Traffic()
        self._is_empty = asyncio.Event()
        self._look: asyncio.TimerHandle | None = None
        self._look_later()

    @property
    def connections(self) -> Collection[Connection]:
        return self._connections.values()

    def traffic(self) -> Traffic:
        """Counted up now; nothing is counted twice on the way."""
        now = dataclasses.replace(self._past)
        for connection in self._connections.values():
            now.add(connection)
        return now

    def listen(self, listener: ListenerSettings) -> Address:
        """Accept on one more listener; where it is. OSError when the address cannot be had."""
        self._admission.add_listener(listener.name, listener.limits, self._loop.time())
        listening = self._network.listen(listener, lambda stream: self._accept(listener.name, stream))
        self._doors.append(_Door(listener.name, listening))
        self._steer()
        return listening.address

    def open(self) -> None:
        """Let in who has been waiting, and everybody from now on."""
        self._is_held = False
        self._steer()

    def stop_listening(self, name: str) -> None:
        """Accept no more there; connections that came by it stay."""
        for door in self._doors:
            if door.name == name:
                door.close()
        self._doors = [door for door in self._doors if door.name != name]

    def reconfigure(self, limits: ConnectionLimits) -> None:
        """New limits hold for new connections; nobody is thrown out."""
        self._admission.reconfigure(limits, self._loop.time())
        self._steer()

    def limit(self, name: str, limits: ListenerLimits) -> None:
        """The same for one listener."""
        self._admission.limit_listener(name, limits, self._loop.time())
        self._steer()

    def finish(self) -> None:
        """Accept nobody, take no requests; each connection closes when its requests have been answered."""
        for door in self._doors:
            door.close()
        self._doors.clear()
        for connection in list(self._connections.values()):
            connection.finish("the server stops")

    async def stop(self, within_s: float) -> None:
        """`finish`, and close what is still open after so many seconds."""
        self.finish()
        if self._look is not None:
            self._look.cancel()
        if self._connections:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_empty.wait(), within_s)
        for connection in list(self._connections.values()):
            connection.close("the server stopped")
        if self._connections:
            await self._is_empty.wait()

    # -- one comes, one goes ---------------------------------------------------------------------------------

    def _accept(self, listener: str, stream: Stream) -> None:
        if self._admission.arrived(listener, stream.peer.host, self._loop.time()):
            self._past.accepted += 1
            self._is_empty.clear()
            self._connections[self._past.accepted] = Connection(
                stream,
                self._network.receive_buffer,
                self._handler,
                self._settings.connection,
                listener=listener,
                number=self._past.accepted,
                forget=self._forget,
            )
        else:
            self._past.refused += 1
            log.debug("refused %s: its address has all the connections it may have", stream.peer)
            stream.close()
        self._steer()

    def _forget(self, connection: Connection) -> None:
        del self._connections[connection.number]
        self._past.closed += 1
        self._past.add(connection)
        self._admission.left(connection.listener, connection.peer.host)
        log.debug("connection %d of %s closed: %s", connection.number, connection.peer, connection.closed)
        if not self._connections:
            self._is_empty.set()
        self._steer()

    def _steer(self) -> None:
        """Open the doors that may be open, close those that may not, and come back when one may open."""
        now = self._loop.time()
        for door in self._doors:
            opens_at = self._admission.opens_at(door.name)
            if (opens_at <= now and not self._is_held) is not door.is_open:
                door.is_open = not door.is_open
                if door.is_open:
                    door.listening.resume()
                else:
                    door.listening.pause()
            if now < opens_at < math.inf and door.opening is None:
                door.opening = self._loop.call_at(opens_at, self._open_later, door)

    def _open_later(self, door: _Door) -> None:
        door.opening = None
        self._steer()

    # -- idle connections ------------------------------------------------------------------------------------

    def _look_later(self) -> None:
        if self._settings.idle_ms_max > NEVER_IDLE:
            every_s = max(LOOKS_EVERY_S_MIN, self._settings.idle_ms_max / 1000 / LOOKS_BEFORE_IDLE)
            self._look = self._loop.call_later(every_s, self._look_for_idle)

    def _look_for_idle(self) -> None:
        """One look at everybody now and then is cheaper than a timer for each that every request moves."""
        for connection in list(self._connections.values()):
            if connection.looked_at() >= LOOKS_BEFORE_IDLE:
                self._past.closed_idle += 1
                connection.close(f"idle for {self._settings.idle_ms_max} ms")
        self._look_later()
