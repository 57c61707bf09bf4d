"""What every store promises. Written once, run against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.coordination.conftest import RealZooKeeper

from odradek.coordination.embedded import EmbeddedStore
from odradek.coordination.ensemble import Ensemble
from odradek.coordination.store import (
    Check,
    Create,
    Delete,
    EphemeralHasNoChildren,
    NodeExists,
    NodeHasChildren,
    NoNode,
    Operation,
    Session,
    SessionExpired,
    StoreError,
    VersionConflict,
    Write,
)
from odradek.coordination.zookeeper import ZooKeeper
from odradek.testing.sim_entropy import SeededEntropy
from odradek.testing.sim_store import SimStore

Pair: TypeAlias = tuple[Session, Session]
Stores: TypeAlias = Callable[[], AbstractAsyncContextManager[Pair]]


@asynccontextmanager
async def in_memory() -> AsyncIterator[Pair]:
    store = EmbeddedStore.in_memory(lambda: 5)
    yield store.session(), store.session()


@asynccontextmanager
async def at(ensemble: Ensemble) -> AsyncIterator[Pair]:
    one, other = ZooKeeper(ensemble), ZooKeeper(ensemble)
    sessions = await one.session(), await other.session()
    try:
        yield sessions
    finally:
        for session in sessions:
            await session.close()


@asynccontextmanager
async def simulated() -> AsyncIterator[Pair]:
    store = SimStore(SeededEntropy(7), lambda: 5)
    yield await store.client().session(), await store.client().session()


EMBEDDED = ("in memory", "on disk", "on disk, waited for elsewhere")
ZOOKEEPER = ("ZooKeeper", "ZooKeeper, with TLS and a login")


@pytest.fixture(
    params=[
        *EMBEDDED,
        "simulated",
        *(pytest.param(each, marks=pytest.mark.compatibility) for each in ZOOKEEPER),
    ]
)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    """Two sessions of one empty store."""
    if request.param == "in memory":
        return in_memory
    if request.param == "simulated":
        return simulated
    if request.param in ZOOKEEPER:
        zookeeper: RealZooKeeper = request.getfixturevalue("zookeeper")
        secure = request.param != ZOOKEEPER[0]
        return lambda: at(zookeeper.secure_ensemble() if secure else zookeeper.ensemble())

    async def elsewhere(write: Callable[[], None]) -> None:
        await asyncio.sleep(0)
        write()
        await asyncio.sleep(0)

    @asynccontextmanager
    async def on_disk() -> AsyncIterator[Pair]:
        blocking = elsewhere if request.param.endswith("elsewhere") else None
        store = EmbeddedStore.open(str(tmp_path / "store"), lambda: 5, blocking)
        yield store.session(), store.session()
        store.close()

    return on_disk


def promise(stores: Stores, test: Callable[[Session, Session], Awaitable[None]]) -> None:
    async def run() -> None:
        async with stores() as (mine, other):
            await test(mine, other)

    asyncio.run(run())


async def refused(error: type[StoreError], path: str, session: Session, *operations: Operation) -> None:
    with pytest.raises(error) as refusal:
        await session.commit(*operations)
    assert refusal.value.path == path


def test_what_one_session_writes_the_other_reads(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        done = await mine.commit(Create("/a", b"1"), Create("/a/b", b"2"))
        assert [(each.path, each.version) for each in done] == [("/a", 0), ("/a/b", 0)]
        assert (await other.get("/a/b")).data == b"2"
        assert await other.children("/a") == ["b"]
        found = await other.get_many(["/a", "/nowhere", "/a/b"])
        assert [None if each is None else each.data for each in found] == [b"1", None, b"2"]
        assert (await other.get("/a")).stat.child_count == 1

    promise(stores, test)


def test_a_version_counts_the_writes_of_a_node(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/a"))
        assert [each.version for each in await mine.commit(Write("/a", b"1"), Write("/a", b"2", 1))] == [1, 2]
        await refused(VersionConflict, "/a", other, Write("/a", b"3", 1))
        await refused(VersionConflict, "/a", other, Delete("/a", 1))
        await refused(VersionConflict, "/a", other, Check("/a", 1))
        node = await other.get("/a")
        assert (node.data, node.stat.version) == (b"2", 2)
        await other.commit(Check("/a", 2), Delete("/a", 2))

    promise(stores, test)


def test_what_cannot_be_done_says_why(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/a"), Create("/a/b"), Create("/brief", ephemeral=True))
        await refused(NodeExists, "/a", mine, Create("/a"))
        await refused(NoNode, "/x", mine, Create("/x/y"))
        await refused(NoNode, "/x", mine, Write("/x", b""))
        await refused(NoNode, "/x", mine, Delete("/x"))
        await refused(NoNode, "/x", mine, Check("/x", 0))
        await refused(NodeHasChildren, "/a", mine, Delete("/a"))
        await refused(EphemeralHasNoChildren, "/brief", mine, Create("/brief/child"))
        for missing in (mine.get("/x"), mine.children("/x")):
            with pytest.raises(NoNode):
                await missing

    promise(stores, test)


def test_a_commit_takes_place_whole_or_not_at_all(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/fence"), Create("/a", b"old"), Create("/c"))
        fired: list[str] = []
        await mine.get("/a", lambda: fired.append("a"))
        operations = (Write("/a", b"new"), Create("/b"), Delete("/c"))
        await refused(VersionConflict, "/fence", other, *operations, Check("/fence", 7))
        assert (await mine.get("/a")).data == b"old"
        assert [each is None for each in await mine.get_many(["/b", "/c"])] == [True, False]
        assert fired == []
        await other.commit(*operations, Check("/fence", 0))
        await settled(lambda: fired == ["a"])
        assert [each is None for each in await mine.get_many(["/b", "/c"])] == [False, True]

    promise(stores, test)


def test_operations_of_a_commit_see_those_before_them(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/a"), Create("/a/b"), Delete("/a/b"), Delete("/a"), Create("/a", b"again"))
        assert (await other.get("/a")).data == b"again"
        assert await other.children("/a") == []

    promise(stores, test)


def test_one_commit_deletes_a_node_with_all_that_is_below_it(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        paths = ["/a", "/a/b", "/a/b/1", "/a/b/1/c", "/a/b/2", "/a/b/2/c"]
        await mine.commit(*(Create(path) for path in paths))
        await mine.commit(*(Delete(path) for path in reversed(paths)))
        assert await other.get_many(paths) == [None] * len(paths)
        await mine.commit(Create("/a"))
        assert await other.children("/a") == []

    promise(stores, test)


def test_commits_are_in_one_order(stores: Stores) -> None:
    """A broker's epoch is the place where its node was created."""

    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/a"), Create("/same"))
        await other.commit(Create("/b", ephemeral=True))
        await mine.commit(Write("/a", b"1"))
        a, same, b = await mine.get("/a"), await mine.get("/same"), await mine.get("/b")
        assert a.stat.created == same.stat.created == same.stat.changed
        assert a.stat.created < b.stat.created < a.stat.changed

    promise(stores, test)


def test_sequential_names_never_come_twice(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/q"))
        first = (await mine.commit(Create("/q/item_", sequential=True)))[0].path
        assert first == "/q/item_0000000000"
        await mine.commit(Delete(first))
        two = await other.commit(Create("/q/item_", sequential=True), Create("/q/item_", sequential=True))
        assert [each.path for each in two] == ["/q/item_0000000001", "/q/item_0000000002"]

    promise(stores, test)


def test_ephemeral_nodes_go_with_their_session(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        await mine.commit(Create("/ids"))
        await other.commit(Create("/ids/1", ephemeral=True), Create("/ids/keep"))
        assert (await mine.get("/ids/1")).stat.owner == other.id
        assert (await mine.get("/ids/keep")).stat.owner == 0
        fired: list[str] = []
        assert await mine.children("/ids", lambda: fired.append("children")) == ["1", "keep"]
        await mine.get("/ids/1", lambda: fired.append("node"))
        await other.close()
        await settled(lambda: len(fired) == 2)
        assert sorted(fired) == ["children", "node"]
        assert await mine.children("/ids") == ["keep"]
        with pytest.raises(SessionExpired):
            await other.get("/ids")
        with pytest.raises(SessionExpired):
            await other.commit(Create("/more"))

    promise(stores, test)


async def settled(reached: Callable[[], bool]) -> None:
    """Until a watch that has to cross a wire has fired."""
    for _ in range(1000):
        if reached():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("nothing happened")


def test_a_watch_on_a_node_fires_once_for_whatever_happens_to_it(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        fired: list[str] = []
        with pytest.raises(NoNode):
            await mine.get("/a", lambda: fired.append("came"))
        await other.commit(Create("/a"))
        await settled(lambda: fired == ["came"])
        await mine.get("/a", lambda: fired.append("changed"))
        await other.commit(Write("/a", b"1"))
        await other.commit(Write("/a", b"2"))
        await settled(lambda: fired == ["came", "changed"])
        await mine.get("/a", lambda: fired.append("went"))
        await other.commit(Create("/a/child"))
        await other.commit(Delete("/a/child"))
        await other.commit(Delete("/a"))
        await settled(lambda: fired == ["came", "changed", "went"])

    promise(stores, test)


def test_a_watch_on_children_fires_when_one_comes_or_goes(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        fired: list[str] = []
        await other.commit(Create("/a"), Create("/a/b"))
        await mine.children("/a", lambda: fired.append("came"))
        await other.commit(Write("/a/b", b"data"))
        await other.commit(Write("/a", b"data"))
        await other.commit(Create("/a/b/c"))
        assert fired == []
        await other.commit(Create("/a/d"))
        await settled(lambda: fired == ["came"])
        await mine.children("/a", lambda: fired.append("went"))
        await other.commit(Delete("/a/d"))
        await settled(lambda: fired == ["came", "went"])

    promise(stores, test)


def test_a_watch_has_fired_before_its_own_session_reads_the_change(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        fired: list[bool] = []
        await mine.commit(Create("/a", b"old"))
        await mine.get("/a", lambda: fired.append(True))
        await other.commit(Write("/a", b"new"))
        while (await mine.get("/a")).data == b"old":
            await asyncio.sleep(0)
        assert fired

    promise(stores, test)


def test_of_many_who_want_to_create_one_node_one_succeeds(stores: Stores) -> None:
    async def test(mine: Session, other: Session) -> None:
        async def try_it(session: Session) -> bool:
            try:
                await session.commit(Create("/controller", ephemeral=True))
            except NodeExists:
                return False
            return True

        won = await asyncio.gather(*(try_it(session) for session in (mine, other) * 5))
        assert won.count(True) == 1

    promise(stores, test)
