"""What is ZooKeeper's own: a root, who may do what, and everything that can happen to a session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from tests.coordination.conftest import LOGIN, RealZooKeeper
from tests.coordination.faulty_link import FaultyLink

from odradek.cli.zookeeper_servers import Servers
from odradek.coordination.ensemble import COMMIT_SIZE_MAX, Ensemble, Login, servers_and_root
from odradek.coordination.store import (
    ConnectionLost,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Session,
    SessionExpired,
    StoreError,
    Write,
)
from odradek.coordination.zookeeper import ZooKeeper, ZooKeeperSession
from odradek.model.config.setting import ConfigError
from odradek.net.tls import Keystore, ServerTls, TlsSettings
from odradek.testing.certificates import identity

pytestmark = pytest.mark.compatibility

Result = TypeVar("Result")
WITHIN_S = 20.0


def run(test: Coroutine[object, object, Result]) -> Result:
    async def bounded() -> Result:
        async with asyncio.timeout(WITHIN_S):
            return await test

    return asyncio.run(bounded())


async def happens(what: Callable[[], bool]) -> None:
    while not what():
        await asyncio.sleep(0.002)


# -- where things are --------------------------------------------------------------------------------------


def test_everything_lies_below_the_root_and_is_named_without_it(zookeeper: RealZooKeeper) -> None:
    async def test() -> None:
        ensemble = zookeeper.ensemble()
        below, above = (
            await ZooKeeper(ensemble).session(),
            await ZooKeeper(replace(ensemble, root="")).session(),
        )
        done = await below.commit(Create("/a"), Create("/a/n_", sequential=True), Create("/a/b", b"1"))
        assert [each.path for each in done] == ["/a", "/a/n_0000000000", "/a/b"]
        assert (await above.get(f"{ensemble.root}/a/b")).data == b"1"
        assert (await above.get("/")).stat.child_count >= 2
        with pytest.raises(NoNode) as missing:
            await below.get("/a/c")
        assert missing.value.path == "/a/c"
        assert (await above.read(f"{ensemble.root}/a"))[0] is None  # as Kafka leaves them
        await asyncio.gather(below.close(), above.close())

    run(test())


@pytest.mark.parametrize(
    ("connection", "servers", "root"),
    [
        ("zk1:2181", ("zk1:2181",), ""),
        ("zk1:2181, zk2:2182/kafka/one/", ("zk1:2181", "zk2:2182"), "/kafka/one"),
        ("[::1]:2181/", ("[::1]:2181",), ""),
    ],
)
def test_a_connection_string_names_servers_and_a_root(
    connection: str, servers: tuple[str, ...], root: str
) -> None:
    assert servers_and_root(connection) == (servers, root)


@pytest.mark.parametrize("connection", ["", "zk1:2181,,zk2:2181", ":2181", "zk1:port", "zk1:99999"])
def test_a_connection_string_that_names_none_is_refused(connection: str) -> None:
    with pytest.raises(ConfigError, match=r"zookeeper\.connect"):
        servers_and_root(connection)


# -- who may do what ---------------------------------------------------------------------------------------


def test_only_brokers_change_what_a_broker_made(zookeeper: RealZooKeeper) -> None:
    async def test() -> None:
        ensemble = zookeeper.secure_ensemble()
        ours = await ZooKeeper(ensemble).session()
        theirs = await ZooKeeper(replace(zookeeper.ensemble(), root=ensemble.root)).session()
        await ours.commit(Create("/topics", b"all"), Create("/consumers"), Create("/config"))
        await ours.commit(Create("/config/users"), Create("/config/users/alice", b"secret"))
        assert (await theirs.get("/topics")).data == b"all"
        await theirs.commit(Create("/consumers/one"))
        for change in (Write("/topics", b""), Create("/topics/x"), Delete("/topics")):
            with pytest.raises(StoreError, match="does not allow"):
                await theirs.commit(change)
        with pytest.raises(StoreError, match=r"/config/users/alice: .* does not allow"):
            await theirs.get("/config/users/alice")
        assert (await ours.get("/config/users/alice")).data == b"secret"
        with pytest.raises(StoreError, match=f"{ensemble.root}/deeper: .* does not allow"):
            await ZooKeeper(replace(zookeeper.ensemble(), root=f"{ensemble.root}/deeper")).session()
        await asyncio.gather(ours.close(), theirs.close())

    run(test())


def test_whoever_is_not_let_in_is_told_why(zookeeper: RealZooKeeper, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_text(identity("another authority").certificate_pem)
    for ensemble, complaint in (
        (zookeeper.secure_ensemble(login=Login(LOGIN.username, "wrong")), "does not accept our login"),
        (zookeeper.secure_ensemble(trusted=other), "certificate verify failed"),
        (Ensemble(("127.0.0.1:1",)), r"127\.0\.0\.1:1: .*refused"),
        (Ensemble(("no.such.host.invalid:1",)), r"no\.such\.host\.invalid:1"),
    ):
        with pytest.raises(ConnectionLost, match=complaint):
            run(ZooKeeper(replace(ensemble, connection_timeout_ms=700)).session())


# -- bounds ------------------------------------------------------------------------------------------------


def test_a_commit_too_large_is_refused_before_it_breaks_the_connection(zookeeper: RealZooKeeper) -> None:
    async def test() -> None:
        session = await ZooKeeper(zookeeper.ensemble()).session()
        with pytest.raises(StoreError, match=r"/b: .* bytes"):
            await session.commit(Create("/a"), Create("/b", bytes(COMMIT_SIZE_MAX)))
        await session.commit(Create("/a"), Create("/b", bytes(COMMIT_SIZE_MAX - 200)))
        assert len((await session.get("/b")).data) == COMMIT_SIZE_MAX - 200
        await session.close()

    run(test())


def test_many_nodes_are_read_at_once_through_tls_too(zookeeper: RealZooKeeper) -> None:
    """What TLS has read ahead must not lie about until the next ping."""
    keystore = Keystore(kind="PEM", location=str(zookeeper.home / "server.pem"))

    async def test() -> None:
        async with FaultyLink(zookeeper.plain, ServerTls(TlsSettings(keystore))) as link:
            ensemble = zookeeper.secure_ensemble()
            servers = (link.address.replace("127.0.0.1", "localhost"),)
            session = await ZooKeeper(replace(ensemble, servers=servers, session_timeout_ms=30_000)).session()
            paths = [f"/n{number}" for number in range(10)]
            await session.commit(*(Create(path, path.encode()) for path in paths[::2]))
            for _ in range(20):
                found = await session.get_many(paths)
                assert [node and node.data.decode() for node in found[::2]] == paths[::2]
                assert set(found[1::2]) == {None}
            await session.close()

    started = time.monotonic()
    run(test())
    assert time.monotonic() - started < 5


# -- the connection ----------------------------------------------------------------------------------------


def test_a_commit_whose_answer_is_lost_may_have_taken_place(zookeeper: RealZooKeeper) -> None:
    async def test() -> None:
        async with FaultyLink(zookeeper.plain) as link:
            session = await ZooKeeper(zookeeper.ensemble(link.address)).session()
            link.lose_answers()
            waiting = asyncio.create_task(session.commit(Create("/a")))
            await link.requests_seen.wait()
            link.cut()
            with pytest.raises(ConnectionLost):
                await waiting
            link.heal()
            with pytest.raises(NodeExists):
                await session.commit(Create("/a"))
            await session.close()

    run(test())


def test_what_only_reads_is_asked_again_and_watches_fire(zookeeper: RealZooKeeper) -> None:
    async def test() -> None:
        async with FaultyLink(zookeeper.plain) as link:
            session = await ZooKeeper(zookeeper.ensemble(link.address)).session()
            id, fired = session.id, []
            await session.commit(Create("/a", b"1"), Create("/mine", ephemeral=True))
            await session.get("/a", lambda: fired.append("a"))
            link.lose_answers()
            reading = asyncio.create_task(session.get_many(["/a", "/b"]))
            await link.requests_seen.wait()
            assert fired == []
            link.cut()
            await happens(lambda: fired == ["a"])
            late = asyncio.create_task(session.children("/"))
            await asyncio.sleep(0)
            link.heal()
            found = await reading
            assert [node and node.data for node in found] == [b"1", None]
            assert await late == ["a", "mine"]
            assert session.id == id == (await session.get("/mine")).stat.owner
            await session.close()

    run(test())


def test_a_session_that_hears_nothing_for_its_time_is_over_by_our_clock(zookeeper: RealZooKeeper) -> None:
    async def test() -> None:
        async with FaultyLink(zookeeper.plain) as link:
            ensemble = zookeeper.ensemble(link.address, session_timeout_ms=600)
            client, told = ZooKeeper(ensemble), asyncio.Event()
            session = await client.session()
            observer = await ZooKeeper(replace(ensemble, servers=(zookeeper.plain,))).session()
            session.on_expired(told.set)
            await session.commit(Create("/mine", ephemeral=True))
            link.hold()
            held = time.monotonic()
            waiting = asyncio.create_task(session.get("/mine"))
            committing = asyncio.create_task(session.commit(Create("/late")))
            await told.wait()
            assert time.monotonic() - held > 0.3  # by our own clock: no word comes through
            await over(session)
            for task, outcome in ((waiting, SessionExpired), (committing, ConnectionLost)):
                with pytest.raises(outcome):
                    await task
            async with asyncio.timeout(2):
                while "mine" in await observer.children("/"):
                    await asyncio.sleep(0.01)
            link.heal()
            next_session = await client.session()
            assert next_session.id != session.id
            await asyncio.gather(next_session.close(), observer.close())

    run(test())


async def over(session: Session) -> None:
    told: list[str] = []
    session.on_expired(lambda: told.append("late"))
    assert told == ["late"]
    for call in (session.get("/"), session.children("/"), session.get_many(["/"]), session.commit()):
        with pytest.raises(SessionExpired):
            await call


def test_a_session_that_the_ensemble_ended_does_nothing_more(zookeeper: RealZooKeeper) -> None:
    """kazoo goes on with a new session by itself. While our loop is busy it has all the time for it; what was
    meant for the old one must not be done in the new one."""

    async def test() -> None:
        ensemble = replace(zookeeper.ensemble(), servers=(zookeeper.plain, zookeeper.plain))
        client, told, fired = ZooKeeper(ensemble), asyncio.Event(), []
        session = await client.session()
        await session.commit(Create("/a"), Create("/mine", ephemeral=True))
        await session.get("/a", lambda: fired.append("a"))
        session.on_expired(told.set)
        end_at_the_ensemble(zookeeper.plain, session)
        time.sleep(0.3)
        with pytest.raises((ConnectionLost, SessionExpired)):
            await session.commit(Create("/late"))
        await told.wait()
        await over(session)
        next_session = await client.session()
        assert next_session.id != session.id
        assert await next_session.children("/") == ["a"]
        await next_session.close()

    run(test())


def end_at_the_ensemble(server: str, session: ZooKeeperSession) -> None:
    """Whoever knows a session's secret may close it. The one whose it is takes it back meanwhile: so until
    there is only a new one to be had."""
    had = session.id
    while had == session.id:
        other = KazooClient(server, client_id=session._credentials)
        with suppress(KazooTimeoutError):
            other.start()
        had = other.client_id[0] if other.client_id else had
        other.stop()
        other.close()


def test_an_ensemble_that_stops_and_comes_back_finds_its_sessions(
    zookeeper_jars: str, zookeeper: RealZooKeeper, tmp_path: Path
) -> None:
    async def test() -> None:
        servers = Servers(tmp_path, 1, 0, jars=zookeeper_jars, settings={"tickTime": "500"})
        await servers.start()
        try:
            ensemble = Ensemble((servers.addresses[0],), session_timeout_ms=10_000)
            patient, hasty = ZooKeeper(ensemble), ZooKeeper(replace(ensemble, session_timeout_ms=2_000))
            lasting, brief = await patient.session(), await hasty.session()
            told = asyncio.Event()
            brief.on_expired(told.set)
            await lasting.commit(Create("/a", b"1"), Create("/lasting", ephemeral=True))
            await brief.commit(Create("/brief", ephemeral=True))
            servers.processes[1].kill()
            await servers.processes[1].wait()
            reading = asyncio.create_task(lasting.get("/a"))
            await told.wait()
            again = asyncio.create_task(hasty.session())
            await servers.launch(servers.servers[0])
            assert (await reading).data == b"1"
            resumed = await again
            assert resumed.id == brief.id == (await lasting.get("/brief")).stat.owner
            await over(brief)
            await resumed.commit(Write("/brief", b"still ours"))
            await asyncio.gather(lasting.close(), resumed.close())
        finally:
            await servers.stop()

    run(test())


def test_a_session_outlives_the_server_that_it_spoke_to(zookeeper_jars: str, tmp_path: Path) -> None:
    async def test() -> None:
        servers = Servers(tmp_path, 3, 0, jars=zookeeper_jars)
        await servers.start()
        try:
            session = await ZooKeeper(Ensemble(tuple(servers.addresses))).session()
            await session.commit(Create("/mine", ephemeral=True))
            for number, process in list(servers.processes.items())[:2]:
                process.kill()
                await process.wait()
                written = False
                while not written:
                    try:
                        await session.commit(Write("/mine", str(number).encode()))
                        written = True
                    except ConnectionLost:
                        continue
                if number == 1:
                    await servers.launch(servers.servers[0])
                    await servers.serves(servers.servers[0])
            node = await session.get("/mine")
            assert (node.data, node.stat.owner) == (b"2", session.id)
            await session.close()
        finally:
            await servers.stop()

    run(test())
