"""What a server promises of all its connections together, over real sockets."""

from __future__ import annotations

import asyncio

import pytest

from odradek.net.limits import ConnectionLimits, ListenerLimits
from odradek.net.port import Address, ListenerSettings
from odradek.net.server import NEVER_IDLE, ServerSettings
from odradek.testing.echo import (
    ECHO,
    PARK,
    EchoHandler,
    connect,
    connected,
    echo_server,
    framed,
    large,
    turns,
)
from odradek.testing.sim_clock import MovableClock

LOOPBACK = Address("127.0.0.1", 0)


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


async def test_a_listener_closes_and_its_connections_stay() -> None:
    async with echo_server(EchoHandler()) as (server, address), connected(address) as client:
        client.ask(ECHO)
        await client.answer()
        server.stop_listening("PLAINTEXT")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*address)
        client.ask(ECHO + b"stays")
        assert await client.answer() == b"stays"


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
