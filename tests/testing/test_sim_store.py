from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

import pytest

from odradek.coordination.store import (
    ConnectionLost,
    Create,
    NodeExists,
    NoNode,
    SessionExpired,
    StoreError,
    VersionConflict,
    Write,
)
from odradek.testing.sim_clock import run
from odradek.testing.sim_entropy import SeededEntropy
from odradek.testing.sim_store import SimSession, SimStore, SimZooKeeper

TIME_S = 6.0  # of a session


def a_store(seed: int = 0) -> SimStore:
    return SimStore(SeededEntropy(seed), lambda: 5, session_timeout_s=TIME_S)


async def over(session: SimSession) -> None:
    ended = asyncio.Event()
    session.on_expired(ended.set)
    await ended.wait()
    with pytest.raises(SessionExpired):
        await session.get("/")


def test_a_commit_whose_connection_is_lost_took_place_or_did_not() -> None:
    async def outcome(seed: int) -> str:
        store = a_store(seed)
        mine, other = await store.client().session(), await store.client().session()
        store.lost_rate = 1
        with pytest.raises(ConnectionLost):
            await mine.commit(Create("/a"))
        store.lost_rate = 0
        return "did" if await other.children("/") else "did not"

    assert set(Counter(run(outcome(seed)) for seed in range(20))) == {"did", "did not"}


def test_what_only_reads_is_asked_again_and_watches_fire() -> None:
    async def test() -> None:
        store = a_store()
        client = store.client()
        session, fired = await client.session(), asyncio.Event()
        await session.commit(Create("/a", b"1"))
        await session.get("/a", fired.set)
        reading = asyncio.create_task(session.get("/a"))
        await asyncio.sleep(0)
        client.lose_connection()
        assert (await reading).data == b"1"
        assert fired.is_set()

    run(test())


def test_what_is_held_arrives_if_it_is_let_go_in_time() -> None:
    async def test() -> None:
        store = a_store()
        client = store.client()
        session = await client.session()
        client.hold()
        creating = asyncio.create_task(session.commit(Create("/a", ephemeral=True)))
        await asyncio.sleep(TIME_S * 0.2)
        assert not creating.done()
        client.let_go()
        await creating
        await asyncio.sleep(2 * TIME_S)
        assert (await session.get("/a")).stat.owner == session.id

    run(test())


def test_a_session_that_is_held_too_long_ends_on_both_sides() -> None:
    async def test() -> None:
        store = a_store()
        client = store.client()
        session, other = await client.session(), await store.client().session()
        await session.commit(Create("/mine", ephemeral=True))
        began = asyncio.get_running_loop().time()
        client.hold()
        committing = asyncio.create_task(session.commit(Create("/late")))
        with pytest.raises(ConnectionLost):
            await committing
        assert asyncio.get_running_loop().time() - began < TIME_S
        await over(session)
        assert asyncio.get_running_loop().time() - began == pytest.approx(TIME_S)
        with pytest.raises(ConnectionLost):
            await client.session()
        assert await other.children("/") == []
        client.let_go()
        assert (await client.session()).id != session.id

    run(test())


def test_an_ensemble_that_stops_and_comes_back_finds_its_sessions() -> None:
    async def test() -> None:
        store = a_store()
        client, dead = store.client(), store.client()
        session = await client.session()
        await session.commit(Create("/mine", ephemeral=True))
        await (await dead.session()).commit(Create("/dead", ephemeral=True))
        store.stop()
        dead.crash()
        await over(session)
        await asyncio.sleep(10 * TIME_S)
        store.start()
        resumed = await client.session()
        assert resumed.id == session.id
        assert await resumed.children("/") == ["dead", "mine"]
        await asyncio.sleep(2 * TIME_S)
        assert await resumed.children("/") == ["mine"]

    run(test())


def test_a_session_that_the_ensemble_ended_is_over() -> None:
    async def test() -> None:
        store = a_store()
        client, other = store.client(), await store.client().session()
        session = await client.session()
        await session.commit(Create("/mine", ephemeral=True))
        client.expire()
        assert await other.children("/") == []
        await over(session)

    run(test())


@pytest.mark.simulation(seeds=15)
def test_brokers_that_count_together_lose_no_count(seed: int) -> None:
    """Whatever happens to their sessions: what was acknowledged counts, what is open counts once or not at
    all, and somebody who looks again whenever told sees the end."""
    assert run(a_life(seed)) == run(a_life(seed))


async def a_life(seed: int) -> tuple[int, ...]:
    store, entropy = a_store(seed), SeededEntropy(seed)
    clients = [store.client() for _ in range(3)]
    counts: Counter[str] = Counter()
    watching = asyncio.create_task(follow(store.client()))
    setting_up = await store.client().session()
    await setting_up.commit(Create("/count", b"0"))
    counting = [asyncio.create_task(count(client, counts)) for client in clients]
    store.lost_rate = 0.05
    for _ in range(20):
        await asyncio.sleep(store.between((0.0, 4.0)))
        client = clients[entropy.below(3)]
        (client.hold, client.let_go, client.expire, store.stop, store.start)[entropy.below(5)]()
    store.lost_rate = 0
    store.start()
    for client in clients:
        client.let_go()
    await asyncio.sleep(3 * TIME_S)
    for task in (*counting, watching):
        task.cancel()
    total = int((await setting_up_again(store)).decode())
    assert counts["acknowledged"] <= total <= counts["acknowledged"] + counts["open"]
    assert counts["acknowledged"] > 50
    return total, counts["acknowledged"], counts["open"], counts["sessions"]


async def setting_up_again(store: SimStore) -> bytes:
    return (await (await store.client().session()).get("/count")).data


async def count(client: SimZooKeeper, counts: Counter[str]) -> None:
    while True:
        try:
            session = await client.session()
            counts["sessions"] += 1
            while True:
                await asyncio.sleep(0.1)
                node = await session.get("/count")
                try:
                    await session.commit(Write("/count", b"%d" % (int(node.data) + 1), node.stat.version))
                    counts["acknowledged"] += 1
                except VersionConflict:
                    continue
        except (ConnectionLost, SessionExpired) as failure:
            counts["open"] += isinstance(failure, ConnectionLost)


async def follow(client: SimZooKeeper) -> None:
    latest = 0
    while True:
        try:
            session = await client.session()
            while True:
                told = asyncio.Event()
                try:
                    seen = int((await session.get("/count", told.set)).data)
                except NoNode:
                    seen = 0
                assert seen >= latest
                latest = seen
                session.on_expired(told.set)
                await told.wait()
        except (SessionExpired, ConnectionLost):
            continue


@pytest.mark.simulation(seeds=15)
def test_one_broker_at_a_time_holds_what_one_can_hold(seed: int) -> None:
    async def test() -> None:
        store, entropy = a_store(seed), SeededEntropy(seed)
        clients = [store.client() for _ in range(3)]
        held: dict[int, int] = {}  # by place in the order of commits: whose session
        tasks = [asyncio.create_task(hold_office(client, held)) for client in clients]
        for _ in range(10):
            await asyncio.sleep(store.between((0.0, 3.0)))
            client = clients[entropy.below(3)]
            (client.hold, client.let_go, client.expire)[entropy.below(3)]()
        for client in clients:
            client.let_go()
        await asyncio.sleep(3 * TIME_S)
        observer = await store.client().session()
        node = await observer.get("/office")
        assert held[node.stat.created] == node.stat.owner
        for task in tasks:
            task.cancel()

    run(test())


async def hold_office(client: SimZooKeeper, held: dict[int, int]) -> None:
    while True:
        try:
            session = await client.session()
            while True:
                vacant = asyncio.Event()
                session.on_expired(vacant.set)
                with suppress(NodeExists):
                    await session.commit(Create("/office", ephemeral=True))
                try:
                    node = await session.get("/office", vacant.set)
                except NoNode:
                    continue
                assert held.setdefault(node.stat.created, node.stat.owner) == node.stat.owner
                await vacant.wait()
        except StoreError:
            continue
