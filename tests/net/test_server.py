"""What a server promises its clients, over real sockets."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import struct
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from odradek.net.connection import Connection, ConnectionSettings
from odradek.net.limits import ConnectionLimits, ListenerLimits
from odradek.net.port import Address, ListenerSettings, SocketSettings
from odradek.net.server import NEVER_IDLE, ServerSettings
from odradek.net.sockets import SocketListening, SocketStream
from odradek.testing.echo import (
    ECHO,
    FAIL,
    LARGE,
    PARK,
    REFUSE,
    SILENT,
    SLICE,
    EchoHandler,
    echo_server,
    framed,
)
from odradek.testing.sim_clock import MovableClock
from odradek.wire.parts import Part


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


LOOPBACK = Address("127.0.0.1", 0)


async def connect(address: Address) -> Client:
    return Client(*await asyncio.open_connection(*address))


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Client]:
    client = await connect(address)
    try:
        yield client
    finally:
        client.close()


async def turns(count: int) -> None:
    """Let the loop look at its sockets so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


async def stopped_reading(connection: Connection) -> None:
    while connection.is_reading:
        await asyncio.sleep(0)


def sliced(size: int) -> bytes:
    return SLICE + struct.pack(">i", size)


def large(size: int) -> bytes:
    return LARGE + struct.pack(">i", size)


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


async def test_requests_in_one_packet_are_answered_in_order() -> None:
    async with echo_server(EchoHandler()) as (_, address), connected(address) as client:
        client.ask(*(ECHO + b"%d" % number for number in range(500)))
        assert await client.answers(500) == [b"%d" % number for number in range(500)]


async def test_an_answer_given_late_holds_back_the_ones_behind_it() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(PARK + b"first", ECHO + b"second", SILENT, PARK + b"third")
        await handler.seen(4)
        handler.answer_parked(1)
        handler.answer_parked(0)
        assert await client.answers(3) == [b"first", b"second", b"third"]


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


async def test_a_large_request_arrives_whole() -> None:
    payload = os.urandom(5_000_000)
    async with echo_server(EchoHandler()) as (_, address), connected(address) as client:
        client.ask(ECHO + payload, ECHO + b"small")
        assert await client.answers(2) == [payload, b"small"]


# -- bounds ------------------------------------------------------------------------------------------------


def bounded(**bounds: int) -> ServerSettings:
    return ServerSettings(connection=ConnectionSettings(**bounds))


async def test_too_many_unanswered_requests_stop_the_reading() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler, bounded(unanswered_max=3)) as (server, address),
        connected(address) as client,
    ):
        client.ask(*(PARK + b"%d" % number for number in range(10)))
        await handler.seen(3)
        (connection,) = server.connections
        for number in range(10):
            assert connection.unanswered == min(3, 10 - number)
            handler.answer_parked()
            assert await client.answer() == b"%d" % number
            await handler.seen(min(10, number + 4))


async def test_a_reader_that_does_not_read_holds_no_more_than_its_bound() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler, bounded(unsent_size_max=1_000_000)) as (server, address),
        connected(address) as slow,
        connected(address) as other,
    ):
        slow.ask(*([large(400_000)] * 200))
        await handler.seen(5)
        (connection,) = [each for each in server.connections if each.requests > 1]
        await stopped_reading(connection)
        # Those in the system's buffers have left us; beyond, the bound and the answer that went over it.
        assert connection.unsent_size <= 1_000_000 + 400_004
        assert connection.requests < 200
        other.ask(ECHO + b"not affected")
        assert await other.answer() == b"not affected"
        assert await slow.answers(200) == [bytes(400_000)] * 200


async def test_answers_held_up_by_a_parked_one_count_as_unsent() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler, bounded(unsent_size_max=1_000)) as (_, address),
        connected(address) as client,
    ):
        client.ask(PARK, large(600), large(600), large(600))
        await handler.seen(3)
        await stopped_reading(handler.parked[0][0])
        assert len(handler.requests) == 3
        handler.answer_parked()
        assert [len(answer) for answer in await client.answers(4)] == [0, 600, 600, 600]


async def test_a_muted_connection_is_not_handled_until_its_time() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(ECHO + b"one")
        assert await client.answer() == b"one"
        (connection,) = server.connections
        loop = asyncio.get_running_loop()
        until = loop.time() + 0.02
        connection.mute_until(until)
        connection.mute_until(until - 0.01)  # the later one counts
        client.ask(ECHO + b"two")
        assert await client.answer() == b"two"
        assert loop.time() >= until


async def test_a_request_can_mute_the_connection_it_came_by() -> None:
    class Muting(EchoHandler):
        def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
            connection.mute_until(asyncio.get_running_loop().time() + 0.01)
            times.append(asyncio.get_running_loop().time())
            return super().request(connection, ticket, frame)

    times: list[float] = []
    async with echo_server(Muting()) as (_, address), connected(address) as client:
        client.ask(ECHO + b"one", ECHO + b"two", ECHO + b"three")
        assert await client.answers(3) == [b"one", b"two", b"three"]
    assert times[1] - times[0] >= 0.01
    assert times[2] - times[1] >= 0.01


async def test_a_client_may_be_allowed_smaller_frames() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(ECHO)
        await client.answer()
        (connection,) = server.connections
        connection.frame_size_max = 50
        client.ask(ECHO + bytes(50))
        assert await client.rest() == b""
        assert connection.closed == "a frame of 51 bytes, 50 at most"


async def test_a_busy_connection_leaves_room_for_others() -> None:
    """One client's flood and another's request, both there before the server looks: the second need not wait
    for the end of the flood."""
    handler = EchoHandler()
    async with echo_server(handler) as (_, address):
        with socket.create_connection(address) as flood, socket.create_connection(address) as other:
            flood.sendall(framed(ECHO + b"flood") * 5_000)
            other.sendall(framed(ECHO + b"other"))
            await handler.seen(5_001)
    assert handler.requests.index(ECHO + b"other") <= 500


# -- limits ------------------------------------------------------------------------------------------------


async def test_an_address_with_all_its_connections_is_turned_away() -> None:
    async with (
        echo_server(EchoHandler(), ServerSettings(ConnectionLimits(per_address_max=2))) as (
            server,
            address,
        ),
        connected(address) as first,
        connected(address),
        connected(address) as third,
    ):
        assert await third.rest() == b""
        assert server.traffic().refused == 1
        first.ask(ECHO + b"stays")
        assert await first.answer() == b"stays"


async def test_a_full_server_lets_the_next_one_wait() -> None:
    async with echo_server(EchoHandler(), ServerSettings(ConnectionLimits(connections_max=1))) as (
        server,
        address,
    ):
        first, waiting = await connect(address), await connect(address)
        waiting.ask(ECHO + b"in at last")
        first.ask(ECHO + b"first")
        assert await first.answer() == b"first"
        await turns(20)
        assert len(server.connections) == 1
        first.close()
        assert await waiting.answer() == b"in at last"
        waiting.close()


async def test_a_listener_for_brokers_is_open_when_clients_have_filled_the_server() -> None:
    async with echo_server(EchoHandler(), ServerSettings(ConnectionLimits(connections_max=1))) as (
        server,
        address,
    ):
        brokers = server.listen(
            ListenerSettings(
                "BROKERS", LOOPBACK, limits=ListenerLimits(is_for_brokers=True, connections_max=1)
            )
        )
        async with connected(address) as client, connected(brokers) as broker, connected(brokers) as waiting:
            for each in (client, broker):
                each.ask(ECHO + b"in")
                assert await each.answer() == b"in"
            waiting.ask(ECHO + b"out")
            await turns(20)
            assert len(server.connections) == 2


async def test_new_limits_hold_at_once() -> None:
    async with (
        echo_server(EchoHandler(), ServerSettings(ConnectionLimits(connections_max=0))) as (
            server,
            address,
        ),
        connected(address) as client,
    ):
        client.ask(ECHO + b"in")
        await turns(20)
        assert not server.connections
        server.reconfigure(ConnectionLimits())
        assert await client.answer() == b"in"


async def test_connections_come_no_faster_than_their_rate(clock: MovableClock) -> None:
    async with echo_server(EchoHandler(), ServerSettings(ConnectionLimits(creation_rate_max=2))) as (
        server,
        address,
    ):
        clients = [await connect(address) for _ in range(5)]
        await turns(20)
        assert len(server.connections) == 2  # one second's worth at once
        clock.push(500)
        await turns(20)
        assert len(server.connections) == 3
        clock.push(10_000)
        await turns(20)
        assert len(server.connections) == 5
        for client in clients:
            client.close()


async def test_idle_connections_close_and_busy_ones_stay(clock: MovableClock) -> None:
    handler = EchoHandler()
    settings = ServerSettings(idle_ms_max=8_000)
    async with (
        echo_server(handler, settings) as (server, address),
        connected(address) as idle,
        connected(address) as busy,
        connected(address) as waiting,
    ):
        waiting.ask(PARK)
        await handler.seen(1)
        for second in range(1, 10):
            busy.ask(ECHO)
            await busy.answer()
            await turns(2)
            assert len(server.connections) == 3, f"closed after {second - 1} s"
            clock.push(1_000)
            await turns(2)
        assert await idle.rest() == b""
        await handler.lost(1)
        assert handler.closed_connections[0].closed == "idle for 8000 ms"
        assert server.traffic().closed_idle == 1
        assert len(server.connections) == 2


async def test_connections_may_be_idle_for_ever(clock: MovableClock) -> None:
    settings = ServerSettings(idle_ms_max=NEVER_IDLE)
    async with echo_server(EchoHandler(), settings) as (_, address), connected(address) as client:
        client.ask(ECHO)
        await client.answer()
        for _ in range(20):
            clock.push(10**9)
            await turns(2)
        client.ask(ECHO + b"still here")
        assert await client.answer() == b"still here"


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


# -- listeners ---------------------------------------------------------------------------------------------


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


async def test_a_listener_closes_and_its_connections_stay() -> None:
    async with echo_server(EchoHandler()) as (server, address), connected(address) as client:
        client.ask(ECHO)
        await client.answer()
        server.stop_listening("PLAINTEXT")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*address)
        client.ask(ECHO + b"stays")
        assert await client.answer() == b"stays"


# -- ends --------------------------------------------------------------------------------------------------


async def test_a_stop_answers_what_was_taken_and_takes_no_more() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler) as (server, address),
        connected(address) as client,
        connected(address) as idle,
    ):
        client.ask(PARK + b"taken")
        await handler.seen(1)
        stopping = asyncio.create_task(server.stop(within_s=10))
        assert await idle.rest() == b""
        client.ask(ECHO + b"too late")
        await turns(5)
        assert not stopping.done()
        handler.answer_parked()
        assert await client.rest() == framed(b"taken")
        await stopping
        assert handler.requests == [PARK + b"taken"]
        assert len(handler.closed_connections) == 2


async def test_a_stop_sends_what_is_queued() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(large(10_000_000))
        await handler.seen(1)
        stopping = asyncio.create_task(server.stop(within_s=10))
        assert len(await client.rest()) == 10_000_004
        await stopping


async def test_a_client_that_does_not_hang_up_is_hung_up_on(clock: MovableClock) -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(ECHO)
        await client.answer()
        server.finish()
        await turns(5)
        client.ask(ECHO + b"unheard")
        await turns(5)
        assert len(server.connections) == 1
        clock.push(1_000)
        await handler.lost(1)
        assert handler.requests == [ECHO]


async def test_a_stop_does_not_wait_for_ever() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(PARK)
        await handler.seen(1)
        await server.stop(within_s=0.01)
        assert handler.closed_connections[0].closed == "the server stopped"
        handler.answer_parked()  # in vain, and harmless
        assert await client.rest() == b""


async def test_a_client_that_leaves_is_noticed_once() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(PARK)
        await handler.seen(1)
        client.close()
        await handler.lost(1)
        handler.answer_parked()
        await turns(5)
        assert [each.closed for each in handler.closed_connections] == ["the peer closed"]
        assert not server.connections


async def test_finish_in_a_request_sends_its_answer_first() -> None:
    class LastWords(EchoHandler):
        def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
            connection.finish("said all")
            return super().request(connection, ticket, frame)

    handler = LastWords()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(ECHO + b"no", ECHO + b"not handled")
        assert await client.rest() == framed(b"no")
        await handler.lost(1)
        assert handler.requests == [ECHO + b"no"]
        assert handler.closed_connections[0].closed == "said all"


async def test_a_refused_request_ends_its_connection_after_the_answers_before_it() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(ECHO + b"fine", REFUSE, ECHO + b"not handled")
        assert await client.rest() == framed(b"fine")
        await handler.lost(1)
        assert handler.closed_connections[0].closed == "refused as asked"


async def test_a_bug_in_the_handler_is_told_to_the_loop_and_ends_the_connection() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    handler = EchoHandler()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(ECHO + b"fine", FAIL)
        await client.rest()
        await handler.lost(1)
    (error,) = told
    assert isinstance(error, AssertionError)
    assert "failed as asked" in str(error)


async def test_traffic_counts_the_living_and_the_gone() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address):
        for _ in range(2):
            async with connected(address) as client:
                client.ask(ECHO + b"12345")
                await client.answer()
        await handler.lost(2)
        async with connected(address) as client:
            client.ask(ECHO + b"12345")
            await client.answer()
            traffic = server.traffic()
            assert (traffic.accepted, traffic.closed, traffic.requests) == (3, 2, 3)
            assert (traffic.received_size, traffic.sent_size) == (30, 27)
