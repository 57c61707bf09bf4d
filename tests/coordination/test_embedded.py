"""What is the embedded store's own: a file, a restart, a process that dies."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import pytest

from odradek.coordination.embedded import EmbeddedSession, EmbeddedStore, Journal
from odradek.coordination.store import Check, Create, Delete, NodeExists, SessionExpired, Write
from odradek.model.errors import StorageError

T = TypeVar("T")


def done(call: Coroutine[object, object, T]) -> T:
    """The embedded store answers without a wait: no loop turns here."""
    with pytest.raises(StopIteration) as stop:
        call.send(None)
    result: T = stop.value.value
    return result


def opened(path: Path) -> EmbeddedStore:
    return EmbeddedStore.open(str(path / "store.sqlite"), lambda: 5)


def test_what_was_committed_is_there_after_a_restart(tmp_path: Path) -> None:
    store = opened(tmp_path)
    session = store.session()
    done(session.commit(Create("/a", b"1"), Create("/a/b", b"2"), Create("/gone"), Create("/q")))
    done(session.commit(Write("/a", b"3"), Delete("/gone"), Create("/q/n", sequential=True)))
    before = done(session.get("/a"))
    store.close()
    session = opened(tmp_path).session()
    assert done(session.get("/a")) == before
    assert done(session.children("/")) == ["a", "q"]
    assert done(session.commit(Create("/q/n", sequential=True)))[0].path == "/q/n0000000001"


def test_ephemeral_nodes_do_not_survive_and_epochs_grow(tmp_path: Path) -> None:
    store = opened(tmp_path)
    session = store.session()
    done(session.commit(Create("/ids")))
    done(session.commit(Create("/ids/0", ephemeral=True)))
    first = done(session.get("/ids/0")).stat.created
    store.close()
    session = opened(tmp_path).session()
    assert done(session.get("/ids")).stat.child_count == 0
    done(session.commit(Create("/ids/0", ephemeral=True)))
    assert done(session.get("/ids/0")).stat.created > first


def test_a_file_belongs_to_one_process(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(StorageError, match="locked"):
        opened(tmp_path)
    store.close()
    opened(tmp_path).close()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_bytes(b"not a database " * 100)
    with pytest.raises(StorageError, match=r"store\.sqlite"):
        opened(tmp_path)


def test_a_commit_that_the_disk_refuses_has_not_happened(tmp_path: Path) -> None:
    journal = Journal.open(str(tmp_path / "store.sqlite"))
    session = EmbeddedStore(journal.load(), journal, lambda: 5, None).session()
    done(session.commit(Create("/a", b"old")))
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="full"):
        done_with_failure(session.commit(Write("/a", bytes(1 << 20))))
    assert done(session.get("/a")).data == b"old"
    done(session.commit(Write("/a", b"new")))
    journal.close()
    assert done(opened(tmp_path).session().get("/a")).data == b"new"


def done_with_failure(call: Coroutine[object, object, object]) -> None:
    call.send(None)


def test_an_expired_session_is_told_and_stays_expired() -> None:
    store = EmbeddedStore.in_memory(lambda: 5)
    mine, other = store.session(), store.session()
    told: list[str] = []
    done(mine.commit(Create("/x", ephemeral=True)))
    done(mine.get("/x", lambda: told.append("own watch")))
    mine.on_expired(lambda: told.append("expired"))
    done(mine.expire())
    mine.on_expired(lambda: told.append("late"))
    assert told == ["expired", "late"]
    assert done(other.children("/")) == []
    with pytest.raises(SessionExpired):
        done_with_failure(mine.get("/x"))


def test_a_commit_on_its_way_to_the_disk_is_not_stopped_by_who_waits(tmp_path: Path) -> None:
    async def run() -> None:
        under_way, go_on = asyncio.Event(), asyncio.Event()

        async def blocking(write: Callable[[], None]) -> None:
            under_way.set()
            await go_on.wait()
            write()

        store = EmbeddedStore.open(str(tmp_path / "store"), lambda: 5, blocking)
        session = store.session()
        waiting = asyncio.create_task(session.commit(Create("/a")))
        await under_way.wait()
        waiting.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(NodeExists):
            await session.commit(Create("/a"))
        store.close()

    asyncio.run(run())


def test_a_session_that_ends_while_it_waits_for_its_turn_commits_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async def blocking(write: Callable[[], None]) -> None:
            await asyncio.sleep(0)
            write()

        store = EmbeddedStore.open(str(tmp_path / "store"), lambda: 5, blocking)
        first, second = store.session(), store.session()
        under_way = asyncio.create_task(first.commit(Create("/a")))
        waiting = asyncio.create_task(second.commit(Create("/ghost", ephemeral=True)))
        await asyncio.sleep(0)
        await second.close()
        await under_way
        with pytest.raises(SessionExpired):
            await waiting
        assert await first.children("/") == ["a"]
        store.close()

    asyncio.run(run())


def test_a_thousand_topics_are_one_commit(tmp_path: Path) -> None:
    store = opened(tmp_path)
    session = store.session()
    done(session.commit(Create("/topics")))
    operations = []
    for topic in range(1000):
        for path in ("", "/partitions", "/partitions/0", "/partitions/0/state"):
            operations.append(Create(f"/topics/t{topic}{path}", b"{}"))
    done(session.commit(*operations, Check("/topics", 0)))
    assert len(done(session.children("/topics"))) == 1000
    store.close()
    with sqlite3.connect(tmp_path / "store.sqlite") as file:
        assert file.execute("SELECT count(*) FROM node").fetchone() == (4002,)
    file.close()


def test_a_watch_set_twice_fires_once() -> None:
    store = EmbeddedStore.in_memory(lambda: 5)
    session: EmbeddedSession = store.session()
    fired: list[int] = []

    def watch() -> None:
        fired.append(1)

    done(session.commit(Create("/a")))
    done(session.get("/a", watch))
    done(session.get("/a", watch))
    done(session.commit(Write("/a", b"")))
    assert fired == [1]
