"""What a server promises its clients, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from odradek.net.port import Address
from odradek.testing.echo import (
    ECHO,
    EchoHandler,
    echo_server,
    framed,
)


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, wire: bytes) -> None:
        self._writer.write(wire)

    def ask(self, *requests: bytes) -> None:
        self._writer.write(framed(*requests))

    async def answers(self, count: int) -> list[bytes]:
        return [await self.answer() for _ in range(count)]

    async def answer(self) -> bytes:
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        return await self._reader.readexactly(size)

    async def rest(self) -> bytes:
        """Until the server closes."""
        try:
            return await self._reader.read()
        except ConnectionResetError:
            return b""


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection(*address)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


async def test_an_answer_comes_back() -> None:
    async with echo_server(EchoHandler()) as (_, address), connected(address) as client:
        client.ask(ECHO + b"hello")
        assert await client.answer() == b"hello"


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
async def test_any_chunking_is_answered_the_same(chunk: int) -> None:
    wire = framed(*(ECHO + b"%d" % number * number for number in range(8)))
    async with echo_server(EchoHandler()) as (_, address):
        loop = asyncio.get_running_loop()
        with socket.create_connection(address) as sock:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(wire), chunk):
                await loop.sock_sendall(sock, wire[at : at + chunk])
                await asyncio.sleep(0)
            wanted = framed(*(b"%d" % number * number for number in range(8)))
            seen = b""
            while len(seen) < len(wanted):
                seen += await loop.sock_recv(sock, 1000)
            assert seen == wanted
