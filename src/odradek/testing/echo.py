"""A protocol to try the network with: each request says how it is to be answered.

The first byte of a request is a verb, the rest its payload.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from odradek.net.port import Address, ListenerSettings
from odradek.net.server import Server, ServerSettings
from odradek.net.sockets import SocketNetwork
from odradek.wire.connection import BadFrame
from odradek.wire.parts import FileSlice

if TYPE_CHECKING:
    from odradek.net.connection import Connection
    from odradek.net.port import Network
    from odradek.wire.parts import Part, Readable

ECHO = b"e"  # answered at once with the payload
PARK = b"p"  # answered by `answer_parked`
SILENT = b"n"  # not answered
SLICE = b"s"  # answered with as many bytes of the handler's file as the payload says
LARGE = b"l"  # answered with as many zeros as the payload says
REFUSE = b"x"  # a frame that is no request
FAIL = b"!"  # a bug in the handler

_COUNT = struct.Struct(">i")


def framed(*payloads: bytes) -> bytes:
    return b"".join(_COUNT.pack(len(payload)) + payload for payload in payloads)


class EchoHandler:
    """Does what the requests say, and remembers what it saw."""

    def __init__(self, file: Readable | None = None) -> None:
        self.file = file
        self.requests: list[bytes] = []
        self.parked: list[tuple[Connection, int, bytes]] = []
        self.closed_connections: list[Connection] = []
        self._changed = asyncio.Event()

    def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
        verb, payload = frame[:1].tobytes(), frame[1:].tobytes()
        self.requests.append(verb + payload)
        self._changed.set()
        if verb == ECHO:
            return [framed(payload)]
        if verb == PARK:
            self.parked.append((connection, ticket, payload))
            return None
        if verb == SILENT:
            return []
        if verb == REFUSE:
            raise BadFrame("refused as asked")
        assert verb != FAIL, "failed as asked"
        (count,) = _COUNT.unpack(payload)
        if verb == LARGE:
            return [_COUNT.pack(count), bytes(count)]
        assert self.file is not None
        return [_COUNT.pack(count), FileSlice(self.file, 0, count)]

    def closed(self, connection: Connection) -> None:
        self.closed_connections.append(connection)
        self._changed.set()

    def answer_parked(self, index: int = 0) -> None:
        connection, ticket, payload = self.parked.pop(index)
        connection.reply(ticket, [framed(payload)])

    async def seen(self, requests: int) -> None:
        """Wait until so many requests have come."""
        while len(self.requests) < requests:
            await self._change()

    async def lost(self, connections: int) -> None:
        """Wait until so many connections have closed."""
        while len(self.closed_connections) < connections:
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


@asynccontextmanager
async def echo_server(
    handler: EchoHandler,
    settings: ServerSettings | None = None,
    *,
    network: Network | None = None,
    listener: ListenerSettings | None = None,
) -> AsyncIterator[tuple[Server, Address]]:
    """A server on loopback, and where it is; gone at the end."""
    server = Server(network or SocketNetwork(), handler, settings or ServerSettings())
    try:
        yield server, server.listen(listener or ListenerSettings("PLAINTEXT", Address("127.0.0.1", 0)))
    finally:
        await server.stop(0)


class EchoClient:
    """A client that is not ours: asyncio streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def ask(self, *requests: bytes) -> None:
        self._writer.write(framed(*requests))

    async def answers(self, count: int) -> list[bytes]:
        return [await self.answer() for _ in range(count)]

    async def answer(self) -> bytes:
        (size,) = _COUNT.unpack(await self._reader.readexactly(4))
        return await self._reader.readexactly(size)

    def close(self) -> None:
        self._writer.close()

    async def rest(self) -> bytes:
        """Until the server closes; then the client closes too."""
        try:
            return await self._reader.read()
        except ConnectionResetError:
            return b""
        finally:
            self.close()


async def connect(address: Address) -> EchoClient:
    return EchoClient(*await asyncio.open_connection(*address))


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[EchoClient]:
    client = await connect(address)
    try:
        yield client
    finally:
        client.close()


def sliced(size: int) -> bytes:
    return SLICE + _COUNT.pack(size)


def large(size: int) -> bytes:
    return LARGE + _COUNT.pack(size)


async def turns(count: int) -> None:
    """Let the loop look at its sockets so many times."""
    for _ in range(count):
        await asyncio.sleep(0)
