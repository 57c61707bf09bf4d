"""Peers that mean harm, or do not know what they do: the server closes them or holds them, others do not
notice, and its memory stays bounded."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from odradek.net.connection import ConnectionSettings
from odradek.net.port import Address
from odradek.net.server import ServerSettings
from odradek.testing.echo import ECHO, LARGE, SILENT, EchoHandler, echo_server, framed
from odradek.testing.sim_clock import MovableClock

IDLE_CONNECTION_SIZE_MAX = 12 * 1024


async def is_served(address: Address) -> bool:
    """Another client comes and is answered."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(framed(ECHO + b"well"))
    answer = await reader.readexactly(8)
    writer.close()
    return answer == framed(b"well")


async def closed_by_server(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(1 << 16):
            pass
    except ConnectionResetError:
        pass


@pytest.mark.parametrize("seed", range(50))
async def test_random_bytes_are_closed_or_waited_for(seed: int) -> None:
    rng = Random(seed)
    settings = ServerSettings(connection=ConnectionSettings(frame_size_max=10_000))
    handler = EchoHandler()
    async with echo_server(handler, settings) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(rng.randbytes(rng.choice([1, 3, 4, 5, 100, 50_000])))
        writer.write_eof()
        await closed_by_server(reader)
        writer.close()
        await handler.lost(1)
        assert await is_served(address)


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 100 * 1024 * 1024 + 1])
async def test_a_size_that_cannot_be_is_closed_at_once(size: int) -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(struct.pack(">i", size) + b"some of it")
        await closed_by_server(reader)
        writer.close()
        await handler.lost(1)
        assert str(handler.closed_connections[0].closed).startswith(f"a frame of {size} bytes")


async def test_a_frame_that_is_never_finished_is_an_idle_connection(clock: MovableClock) -> None:
    handler = EchoHandler()
    async with echo_server(handler, ServerSettings(idle_ms_max=8_000)) as (server, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(framed(ECHO + bytes(100))[:-1])
        while not server.connections:
            await asyncio.sleep(0)
        for _ in range(10):
            clock.push(1_000)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await closed_by_server(reader)
        writer.close()
        assert handler.requests == []


async def test_one_byte_at_a_time_is_understood_and_keeps_nobody_waiting() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        for byte in framed(ECHO + b"slow"):
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
            assert await is_served(address)
        assert await reader.readexactly(8) == framed(b"slow")
        writer.close()


async def test_a_reader_that_never_reads_is_an_idle_connection_in_the_end(clock: MovableClock) -> None:
    handler = EchoHandler()
    settings = ServerSettings(idle_ms_max=8_000, connection=ConnectionSettings(unsent_size_max=100_000))
    async with echo_server(handler, settings) as (_, address):
        with socket.create_connection(address) as deaf:
            deaf.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(deaf, framed(LARGE + struct.pack(">i", 20_000_000), ECHO + b"unheard"))
            await handler.seen(1)
            for _ in range(20):
                assert await is_served(address)
                clock.push(1_000)
            await handler.lost(21)
            reasons = [connection.closed for connection in handler.closed_connections]
            assert "idle for 8000 ms" in reasons


async def test_a_flood_of_connections_that_say_nothing_is_survived() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address):
        with ExitStack() as stack:
            for _ in range(200):
                stack.enter_context(socket.create_connection(address))
                await asyncio.sleep(0)
            assert await is_served(address)
        await handler.lost(201)
        assert not server.connections


async def test_connections_that_are_reset_at_once_are_survived() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address):
        for _ in range(100):
            with socket.create_connection(address) as sock:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.sendall(framed(ECHO + b"never read"))
            await asyncio.sleep(0)
        assert await is_served(address)


async def test_requests_without_answers_do_not_starve_anybody() -> None:
    """acks=0 as fast as a client can: nothing holds it back but the turns of the others."""
    handler = EchoHandler()
    async with echo_server(handler) as (_, address):
        with socket.create_connection(address) as flood:
            flood.setblocking(False)
            loop = asyncio.get_running_loop()
            flooding = asyncio.create_task(loop.sock_sendall(flood, framed(SILENT + bytes(20)) * 20_000))
            for _ in range(3):
                assert await is_served(address)
            await flooding


# -- memory ------------------------------------------------------------------------------------------------

SERVER = """
import asyncio
from odradek.net.port import Address, ListenerSettings
from odradek.testing.echo import EchoHandler, echo_server

class Forgetful(EchoHandler):
    def request(self, connection, ticket, frame):
        parts = super().request(connection, ticket, frame)
        self.requests.clear()
        return parts

async def main():
    listener = ListenerSettings("PLAINTEXT", Address("127.0.0.1", 0), backlog=1000)
    async with echo_server(Forgetful(), listener=listener) as (_, address):
        print(address.port, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@contextmanager
def served_elsewhere() -> Iterator[tuple[int, Address]]:
    """A server in a process of its own."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.pid, Address("127.0.0.1", int(process.stdout.readline()))
        finally:
            process.kill()


def memory_of(pid: int) -> int:
    (line,) = [
        each for each in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if each.startswith("Pss:")
    ]
    return int(line.split()[1]) * 1024


def asked(sock: socket.socket, request: bytes) -> None:
    """One request and its answer: the server has seen all that was sent before."""
    sock.sendall(framed(ECHO + request))
    received = 0
    while received < 4 + len(request):
        received += len(sock.recv(1 << 16))


@contextmanager
def many_connections(address: Address, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection(address)) for _ in range(count)]


@pytest.mark.slow
def test_an_idle_connection_costs_little_memory() -> None:
    with served_elsewhere() as (pid, address), many_connections(address, 100) as some:
        for sock in some:
            asked(sock, b"warm")
        before = memory_of(pid)
        with many_connections(address, 3_000) as many:
            for sock in many:
                asked(sock, bytes(2_000))
            each = (memory_of(pid) - before) / len(many)
    print(f"{each:,.0f} bytes for each idle connection")
    assert each < IDLE_CONNECTION_SIZE_MAX


@pytest.mark.slow
@pytest.mark.parametrize("sent", [5, 2_000, 10_000])
def test_half_a_frame_costs_in_proportion_to_what_was_sent(sent: int) -> None:
    with served_elsewhere() as (pid, address), many_connections(address, 1_000) as many:
        for sock in many:
            asked(sock, b"warm")
        before = memory_of(pid)
        for sock in many:
            sock.sendall(struct.pack(">i", 100 * 1024 * 1024) + os.urandom(sent - 4))
        asked_last = socket.create_connection(address)
        asked(asked_last, b"all have been seen")
        asked_last.close()
        each = (memory_of(pid) - before) / len(many)
    print(f"{each:,.0f} bytes for each connection that sent {sent} bytes of 100 MiB")
    assert each < IDLE_CONNECTION_SIZE_MAX + 9 * sent
