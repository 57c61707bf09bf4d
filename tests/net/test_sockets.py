"""What is asked of the operating system: listeners, how they are tuned, slices of files, descriptors."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.net.port import Address, ListenerSettings, SocketSettings
from odradek.net.sockets import SocketListening, SocketStream
from odradek.testing.echo import (
    ECHO,
    EchoHandler,
    connected,
    echo_server,
    sliced,
    turns,
)
from odradek.testing.sim_clock import MovableClock

LOOPBACK = Address("127.0.0.1", 0)


class File:
    """Open as long as somebody holds it, as a segment's is."""

    def __init__(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        self._fd = os.open(path, os.O_RDONLY)

    def __del__(self) -> None:
        os.close(self._fd)

    def fileno(self) -> int:
        return self._fd

    def read(self, position: int, size: int) -> bytes:
        return os.pread(self._fd, size, position)


async def test_a_slice_of_a_file_is_sent(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    async with (
        echo_server(EchoHandler(File(tmp_path / "0.log", content))) as (_, address),
        connected(address) as client,
    ):
        client.ask(ECHO + b"before", sliced(len(content)), sliced(0), ECHO + b"after")
        assert await client.answers(4) == [b"before", content, b"", b"after"]


async def test_a_file_shorter_than_its_slice_ends_the_connection(tmp_path: Path) -> None:
    handler = EchoHandler(File(tmp_path / "0.log", bytes(100)))
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(sliced(101))
        await client.rest()
        await handler.lost(1)
        assert "the file ends 1 bytes before its slice" in str(handler.closed_connections[0].closed)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", ""])
async def test_it_listens_where_it_is_told_and_knows_its_peers(host: str) -> None:
    listener = ListenerSettings("L", Address(host, 0))
    async with echo_server(EchoHandler(), listener=listener) as (server, address):
        target = "::1" if host == "::1" else "127.0.0.1"
        async with connected(Address(target, address.port)) as client:
            client.ask(ECHO + b"here")
            assert await client.answer() == b"here"
            (connection,) = server.connections
            assert connection.peer.host == target
            assert connection.local == Address(target, address.port)
            assert connection.listener == "L"


async def test_every_interface_means_both_families() -> None:
    async with echo_server(EchoHandler(), listener=ListenerSettings("L", Address("", 0))) as (_, address):
        for host in ("127.0.0.1", "::1"):
            async with connected(Address(host, address.port)) as client:
                client.ask(ECHO + host.encode())
                assert await client.answer() == host.encode()


async def test_an_address_that_is_taken_is_refused() -> None:
    async with echo_server(EchoHandler()) as (server, address):
        with pytest.raises(OSError, match="Address already in use"):
            server.listen(ListenerSettings("AGAIN", address))


async def test_accepted_sockets_are_tuned_as_their_listener() -> None:
    listener = ListenerSettings("L", LOOPBACK, sockets=SocketSettings(30_000, 40_000), backlog=7)
    async with (
        echo_server(EchoHandler(), listener=listener) as (server, address),
        connected(address) as client,
    ):
        client.ask(ECHO)
        await client.answer()
        (connection,) = server.connections
        stream = connection._channel.stream
        assert isinstance(stream, SocketStream)
        sock = stream._socket
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        # Linux doubles what it is asked for, to make room for its own book-keeping.
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 60_000
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 80_000


async def test_without_descriptors_it_waits_and_says_so(
    clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.get_running_loop()
    async with echo_server(EchoHandler()) as (server, address):
        with socket.socket() as sock, no_more_descriptors():
            sock.setblocking(False)
            await loop.sock_connect(sock, address)
            await turns(50)
            (line,) = [record.getMessage() for record in caplog.records]
            assert (
                line
                == "listener PLAINTEXT cannot accept connections: Too many open files; trying again every 1 s"
            )
            listening = server._doors[0].listening
            assert isinstance(listening, SocketListening)
            assert not loop.remove_reader(listening._socket.fileno()), "the loop spins"
            clock.push(1_000)
            await turns(10)
            assert len(caplog.records) == 1
        async with connected(address) as client:
            client.ask(ECHO + b"served again")
            clock.push(1_000)
            assert await client.answer() == b"served again"
        assert caplog.records[-1].getMessage() == "listener PLAINTEXT accepts connections again"


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.open("/", os.O_RDONLY)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
