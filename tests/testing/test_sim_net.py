from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random

import pytest

from odradek.net.peer import Answer, Peer, PeerLost, PeerSettings, connect
from odradek.net.port import Address, ListenerSettings, SocketSettings, Stream
from odradek.net.server import Server, ServerSettings
from odradek.testing.echo import ECHO, PARK, EchoHandler
from odradek.testing.sim_clock import run
from odradek.testing.sim_entropy import SeededEntropy
from odradek.testing.sim_net import SimNet
from odradek.wire.parts import Part

BROKER = Address("broker", 9092)


class World:
    """A broker that echoes, a client that asks, a net between them."""

    def __init__(self, seed: int = 0) -> None:
        self.net = SimNet(SeededEntropy(seed))
        self.handler = EchoHandler()
        self.server = Server(self.net.host("broker"), self.handler, ServerSettings())
        self.server.listen(ListenerSettings("PLAINTEXT", BROKER))
        self.came: list[tuple[float, str | bytes]] = []
        self._changed = asyncio.Event()

    async def peer(self, settings: PeerSettings | None = None) -> Peer:
        return await connect(self.net.host("client"), BROKER, settings or PeerSettings())

    def ask(self, peer: Peer, payload: bytes, verb: bytes = ECHO) -> None:
        def framed(correlation_id: int) -> list[Part]:
            request = verb + struct.pack(">i", correlation_id) + payload
            return [struct.pack(">i", len(request)), request]

        peer.ask(framed, self._answered)

    async def answers(self, count: int) -> list[str | bytes]:
        while len(self.came) < count:
            self._changed.clear()
            await self._changed.wait()
        return [answer for _, answer in self.came]

    def _answered(self, answer: Answer) -> None:
        told = str(answer) if isinstance(answer, PeerLost) else answer[4:].tobytes()
        self.came.append((asyncio.get_running_loop().time(), told))
        self._changed.set()


def in_a_world(story: Callable[[World], Awaitable[None]], seed: int = 0) -> World:
    async def main() -> World:
        world = World(seed)
        await story(world)
        await world.server.stop(0)
        return world

    return run(main())


def test_a_request_is_answered_after_a_while() -> None:
    async def story(world: World) -> None:
        world.ask(await world.peer(), b"hello")
        assert await world.answers(1) == [b"hello"]
        assert asyncio.get_running_loop().time() > 0.0002

    in_a_world(story)


async def many_requests(world: World, seed: int) -> list[bytes]:
    rng = Random(seed)
    sizes = [rng.choice([0, 1, 100, 5_000, 70_000]) for _ in range(20)]
    payloads = [rng.randbytes(size) for size in sizes]
    peer = await world.peer()
    for payload in payloads:
        world.ask(peer, payload)
    assert await world.answers(len(payloads)) == payloads
    return payloads


@pytest.mark.simulation(seeds=50)
def test_whatever_the_chunks_and_delays_everything_is_answered_in_order(seed: int) -> None:
    async def story(world: World) -> None:
        await many_requests(world, seed)

    in_a_world(story, seed)


def test_a_seed_repeats_every_moment() -> None:
    async def story(world: World) -> None:
        await many_requests(world, 7)

    first, again, other = in_a_world(story, 1), in_a_world(story, 1), in_a_world(story, 2)
    assert first.came == again.came
    assert [at for at, _ in first.came] != [at for at, _ in other.came]


def test_what_is_cut_off_arrives_when_the_cut_is_healed() -> None:
    async def story(world: World) -> None:
        peer = await world.peer()
        world.net.cut("client", "broker")
        world.ask(peer, b"held up")
        await asyncio.sleep(20)
        assert world.handler.requests == []
        world.net.heal()
        assert await world.answers(1) == [b"held up"]

    in_a_world(story)


def test_a_cut_is_one_way() -> None:
    async def story(world: World) -> None:
        peer = await world.peer()
        world.net.cut("broker", "client")
        world.ask(peer, b"heard, not answered")
        await asyncio.sleep(20)
        assert len(world.handler.requests) == 1
        assert world.came == []
        world.net.heal()
        await world.answers(1)

    in_a_world(story)


def test_a_partition_cuts_both_ways_and_spares_whoever_is_on_one_side() -> None:
    async def story(world: World) -> None:
        peer = await world.peer()
        world.net.partition({"broker"}, {"client", "other client"})
        world.ask(peer, b"never")
        assert await world.answers(1) == ["broker:9092: no answer within 30000 ms"]
        for name in ("client", "other client"):
            with pytest.raises(PeerLost, match="did not answer within 10000 ms"):
                await connect(world.net.host(name), BROKER, PeerSettings())
        there = Server(world.net.host("client"), EchoHandler(), ServerSettings())
        address = there.listen(ListenerSettings("PLAINTEXT", Address("", 0)))
        reached = await connect(world.net.host("other client"), address, PeerSettings())
        reached.close()
        await there.stop(0)

    in_a_world(story)


def test_a_connect_that_was_cut_off_succeeds_when_it_is_healed_in_time() -> None:
    async def story(world: World) -> None:
        world.net.partition({"broker"}, {"client"})
        asyncio.get_running_loop().call_later(5, world.net.heal)
        world.ask(await world.peer(), b"at last")
        assert await world.answers(1) == [b"at last"]

    in_a_world(story)


def test_a_reset_is_noticed_on_both_sides() -> None:
    async def story(world: World) -> None:
        peer = await world.peer()
        world.ask(peer, b"", PARK)
        await world.handler.seen(1)
        world.net.reset("broker", "client")
        assert await world.answers(1) == ["broker:9092: the connection is reset"]
        await world.handler.lost(1)

    in_a_world(story)


def test_a_killed_broker_is_gone_for_its_clients_and_can_come_back() -> None:
    async def story(world: World) -> None:
        peer = await world.peer()
        world.ask(peer, b"", PARK)
        await world.handler.seen(1)
        world.net.host("broker").kill()
        assert await world.answers(1) == ["broker:9092: the connection is reset"]
        with pytest.raises(PeerLost, match="nobody listens"):
            await world.peer()
        again = Server(world.net.host("broker"), world.handler, ServerSettings())
        again.listen(ListenerSettings("PLAINTEXT", BROKER))
        world.ask(await world.peer(), b"back")
        assert (await world.answers(2))[1] == b"back"
        await again.stop(0)

    in_a_world(story)


def test_nobody_knows_a_machine_that_was_never_named() -> None:
    async def story(world: World) -> None:
        with pytest.raises(PeerLost, match="nobody knows nowhere"):
            await connect(world.net.host("client"), Address("nowhere", 1), PeerSettings())

    in_a_world(story)


@asynccontextmanager
async def two_ends(net: SimNet) -> AsyncIterator[tuple[Stream, Stream]]:
    accepted: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
    net.host("a").listen(ListenerSettings("L", Address("", 1)), accepted.set_result)
    one = await net.host("b").connect(Address("a", 1), SocketSettings(), None)
    other = await accepted
    yield one, other
    one.close()
    other.close()


async def readable(stream: Stream) -> None:
    is_ready = asyncio.Event()
    stream.when_readable(is_ready.set)
    await is_ready.wait()
    stream.when_readable(None)


def test_a_stream_takes_no_more_than_its_window_until_some_has_arrived() -> None:
    async def main() -> None:
        async with two_ends(SimNet(SeededEntropy(0), window_size=1_000)) as (one, _):
            parts: list[Part] = [bytes(600), bytes(600)]
            assert one.send(parts, 10_000) == 1_000
            assert [len(part) for part in parts if isinstance(part, memoryview)] == [200]
            assert one.send(parts, 10_000) == 0
            is_ready = asyncio.Event()
            one.when_writable(is_ready.set)
            await is_ready.wait()
            one.when_writable(None)
            assert one.send(parts, 10_000) == 200

    run(main())


def test_closing_with_something_unread_is_a_reset_for_the_other_side() -> None:
    async def main() -> None:
        async with two_ends(SimNet(SeededEntropy(0))) as (one, other):
            one.send([b"unread"], 100)
            other.send([b"an answer that is lost"], 100)
            await readable(other)
            other.close()
            await asyncio.sleep(1)
            with pytest.raises(ConnectionResetError):
                one.receive([memoryview(bytearray(100))])

    run(main())


def test_an_end_lets_the_rest_be_read_first() -> None:
    async def main() -> None:
        async with two_ends(SimNet(SeededEntropy(0))) as (one, other):
            one.send([b"last"], 100)
            one.end()
            await asyncio.sleep(1)
            space = memoryview(bytearray(100))
            seen = b""
            while count := other.receive([space]):
                seen += space[:count].tobytes()
            assert seen == b"last"
            other.send([b"heard"], 100)
            await readable(one)
            assert one.receive([space]) > 0

    run(main())
