"""A network in memory that behaves as badly as a real one: it delays, chops, cuts and resets, from a seed.

It is TCP as programs see it: bytes arrive in order or the connection breaks; what is cut off arrives when the
cut is healed; closing with something unread is a reset. It runs on whatever loop it is used on; with
`sim_clock.SimLoop` nothing waits, and a seed repeats everything.
"""

from __future__ import annotations

import asyncio
import enum
from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeAlias

from odradek.net.port import Address
from odradek.wire.parts import FileSlice, take

if TYPE_CHECKING:
    from odradek.net.port import ListenerSettings, SocketSettings, Stream
    from odradek.net.tls import ClientTls
    from odradek.runtime.entropy import Entropy
    from odradek.wire.parts import Part

RECEIVE_BUFFER_SIZE = 8 * 1024  # small: what does not fit a buffer is where mistakes are
FIRST_FREE_PORT = 40_000


class Signal(enum.Enum):
    END = "the sender sends no more"
    RESET = "the connection is broken"


Segment: TypeAlias = bytes | Signal


class SimNet:
    """What lies between machines."""

    def __init__(
        self,
        entropy: Entropy,
        *,
        delay_s: tuple[float, float] = (0.0001, 0.005),
        window_size: int = 64 * 1024,
    ) -> None:
        self.entropy = entropy
        self.window_size = window_size  # of what is on its way in one direction of one connection
        self.receive_buffer = memoryview(bytearray(RECEIVE_BUFFER_SIZE))
        self.ways: dict[_Way, None] = {}  # a set in the order of its making, so that a seed repeats it
        self._delay_s = delay_s
        self._hosts: dict[str, SimHost] = {}
        self._cuts: set[tuple[str, str]] = set()
        self._healed = asyncio.Event()

    def host(self, name: str) -> SimHost:
        """A machine of that name; the same one each time."""
        if name not in self._hosts:
            self._hosts[name] = SimHost(name, self)
        return self._hosts[name]

    def cut(self, source: str, target: str) -> None:
        """Nothing from source reaches target any more; the other direction is not affected."""
        self._cuts.add((source, target))

    def partition(self, *sides: Collection[str]) -> None:
        """Machines of different sides do not reach each other."""
        for side in sides:
            others = [name for other in sides if other is not side for name in other]
            self._cuts |= {(source, target) for source in side for target in others}

    def heal(self) -> None:
        """Everybody reaches everybody, and what was held up arrives."""
        self._cuts.clear()
        self._healed.set()
        self._healed.clear()
        for way in self.ways:
            way.set_off()

    def reset(self, one: str, other: str) -> None:
        """Break every connection between two machines; both sides notice at once."""
        for way in list(self.ways):
            if {way.source, way.target} == {one, other}:
                way.sender.arrived(Signal.RESET)
                way.receiver.arrived(Signal.RESET)

    def is_cut(self, source: str, target: str) -> bool:
        return (source, target) in self._cuts

    def delay_s(self) -> float:
        shortest, longest = self._delay_s
        return shortest + (longest - shortest) * self.entropy.fraction()

    async def travel(self, source: str, target: str) -> None:
        await asyncio.sleep(self.delay_s())
        while self.is_cut(source, target):
            await self._healed.wait()

    def listening(self, address: Address) -> SimListening:
        host = self._hosts.get(address.host)
        if host is None:
            raise OSError(f"nobody knows {address.host}")
        if address.port not in host.listeners:
            raise ConnectionRefusedError(f"nobody listens at {address}")
        return host.listeners[address.port]


class SimHost:
    """One machine's side of the network (`net.port.Network`)."""

    def __init__(self, name: str, net: SimNet) -> None:
        self.name = name
        self.net = net
        self.listeners: dict[int, SimListening] = {}
        self.streams: dict[SimStream, None] = {}
        self._port = FIRST_FREE_PORT

    @property
    def receive_buffer(self) -> memoryview:
        return self.net.receive_buffer

    def listen(self, listener: ListenerSettings, accepted: Callable[[Stream], None]) -> SimListening:
        port = listener.address.port or self._free_port()
        if port in self.listeners:
            raise OSError(f"port {port} of {self.name} is in use")
        listening = SimListening(self, port, accepted)
        self.listeners[port] = listening
        return listening

    async def connect(self, address: Address, sockets: SocketSettings, tls: ClientTls | None) -> Stream:
        del sockets
        assert tls is None, "simulated connections are plain"
        await self.net.travel(self.name, address.host)
        listening = self.net.listening(address)
        await self.net.travel(address.host, self.name)
        ours = SimStream(self, Address(self.name, self._free_port()), address)
        theirs = SimStream(listening.host, address, ours.local)
        ours.attach(theirs)
        theirs.attach(ours)
        listening.arrived(theirs)
        return ours

    def kill(self) -> None:
        """The process dies: its listeners are gone, its connections break for whoever still hears from it."""
        for listening in list(self.listeners.values()):
            listening.close()
        for stream in list(self.streams):
            stream.abort()

    def _free_port(self) -> int:
        self._port += 1
        return self._port


class SimListening:
    """A listener and its backlog (`net.port.Listening`)."""

    def __init__(self, host: SimHost, port: int, accepted: Callable[[Stream], None]) -> None:
        self.host = host
        self.address = Address(host.name, port)
        self._accepted = accepted
        self._backlog: deque[SimStream] = deque()
        self._is_paused = False

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        asyncio.get_running_loop().call_soon(self._accept)

    def close(self) -> None:
        self._is_paused = True
        self.host.listeners.pop(self.address.port, None)
        for stream in self._backlog:
            stream.abort()
        self._backlog.clear()

    def arrived(self, stream: SimStream) -> None:
        if self.host.listeners.get(self.address.port) is not self:
            stream.abort()  # it closed while the connection was on its way
            return
        self._backlog.append(stream)
        self._accept()

    def _accept(self) -> None:
        while self._backlog and not self._is_paused:
            self._accepted(self._backlog.popleft())


class SimStream:
    """One end of a connection (`net.port.Stream`)."""

    def __init__(self, host: SimHost, local: Address, peer: Address) -> None:
        self.host = host
        self.local = local
        self.peer = peer
        self._loop = asyncio.get_running_loop()
        self._incoming = bytearray()
        self._has_ended = False  # the peer sends no more
        self._is_broken = False
        self._is_closed = False
        self._readable: Callable[[], None] | None = None
        self._writable: Callable[[], None] | None = None
        self._is_look_due = False
        host.streams[self] = None

    def attach(self, other: SimStream) -> None:
        self._way = _Way(self, other)

    # -- for the program -------------------------------------------------------------------------------------

    def receive(self, spaces: list[memoryview]) -> int:
        self._check()
        if not self._incoming:
            if self._has_ended:
                return 0
            raise BlockingIOError
        total = 0
        for space in spaces:
            count = min(len(space), self._some(len(self._incoming)))
            space[:count] = self._incoming[:count]
            del self._incoming[:count]
            total += count
            if count < len(space) or not self._incoming:
                break
        return total

    def send(self, parts: list[Part], size_max: int) -> int:
        self._check()
        room = min(size_max, self._way.room)
        total = 0
        while parts and total < room:
            head = parts[0]
            piece = head.read() if isinstance(head, FileSlice) else bytes(head)
            piece = piece[: room - total]
            take(parts, len(piece))
            total += len(piece)
            if piece:
                self._way.push(piece)
        return total

    def when_readable(self, callback: Callable[[], None] | None) -> None:
        self._readable = callback
        self._look_soon()

    def when_writable(self, callback: Callable[[], None] | None) -> None:
        self._writable = callback
        self._look_soon()

    def end(self) -> None:
        self._check()
        self._way.push(Signal.END)

    def peer_name(self) -> str | None:
        return None

    def close(self) -> None:
        if not self._is_closed:
            self._release()
            # A connection closed with something unread is broken, and so is what the peer has not read of it.
            self._push(Signal.RESET if self._incoming else Signal.END)

    def abort(self) -> None:
        if not self._is_closed:
            self._release()
            self._push(Signal.RESET)

    # -- for the network -------------------------------------------------------------------------------------

    def arrived(self, segment: Segment) -> None:
        if segment is Signal.RESET:
            self._is_broken = True
            self._incoming.clear()
        elif segment is Signal.END:
            self._has_ended = True
        elif self._is_closed:
            self._push(Signal.RESET)
        elif not self._is_broken:
            self._incoming += segment
        self._look_soon()

    def freed(self) -> None:
        self._look_soon()

    def _release(self) -> None:
        self._is_closed = True
        self._readable = self._writable = None
        self.host.streams.pop(self, None)

    def _push(self, signal: Signal) -> None:
        if not self._is_broken:
            self._way.push(signal)

    def _check(self) -> None:
        assert not self._is_closed
        if self._is_broken:
            raise ConnectionResetError("the connection is reset")

    def _some(self, count: int) -> int:
        """Often all, sometimes a part: a receive promises no more."""
        entropy = self.host.net.entropy
        return count if entropy.below(4) else 1 + entropy.below(count)

    def _look_soon(self) -> None:
        if not self._is_look_due and not self._is_closed:
            self._is_look_due = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Call whoever waits for what is there, and again as long as it is."""
        self._is_look_due = False
        if self._readable is not None and (self._incoming or self._has_ended or self._is_broken):
            self._readable()
            self._look_soon()
        if self._writable is not None and (self._way.room or self._is_broken):
            self._writable()
            self._look_soon()


class _Way:
    """One direction of a connection: segments on their way, in order."""

    def __init__(self, sender: SimStream, receiver: SimStream) -> None:
        self.sender = sender
        self.receiver = receiver
        self.source = sender.host.name
        self.target = receiver.host.name
        self._net = sender.host.net
        self._loop = asyncio.get_running_loop()
        self._segments: deque[tuple[float, Segment]] = deque()
        self._size = 0
        self._arrival: asyncio.TimerHandle | None = None

    @property
    def room(self) -> int:
        return max(0, self._net.window_size - self._size)

    def push(self, segment: Segment) -> None:
        self._net.ways[self] = None
        self._segments.append((self._loop.time() + self._net.delay_s(), segment))
        self._size += len(segment) if isinstance(segment, bytes) else 0
        self.set_off()

    def set_off(self) -> None:
        """The first segment arrives when it is due, those behind it not before it; on a way that is cut, none
        does until it is healed."""
        if self._arrival is None and self._segments and not self._net.is_cut(self.source, self.target):
            self._arrival = self._loop.call_at(self._segments[0][0], self._arrive)

    def _arrive(self) -> None:
        self._arrival = None
        if self._net.is_cut(self.source, self.target):
            return
        _, segment = self._segments.popleft()
        if isinstance(segment, bytes):
            self._size -= len(segment)
            self.sender.freed()
        else:
            self._net.ways.pop(self, None)
        self.receiver.arrived(segment)
        self.set_off()
