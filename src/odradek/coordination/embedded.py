"""The embedded store: the tree in this process, written down in SQLite in the data directory.

All brokers of one process share one `EmbeddedStore`, each through a session of its own. Reads are answered
from memory; a commit is on disk before anybody sees it, in a single transaction. Ephemeral nodes are never
written: sessions do not outlive the process, so after a restart they are gone as they should be. The number
of the last commit is, because a broker's epoch must grow from one start to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from odradek.coordination.store import (
    Delete,
    Done,
    Node,
    NoNode,
    Operation,
    SessionExpired,
    Stat,
    Watch,
)
from odradek.coordination.tree import Staged, Tree, TreeNode
from odradek.model.errors import StorageError

if TYPE_CHECKING:
    import sqlite3

Now: TypeAlias = Callable[[], int]
Blocking: TypeAlias = Callable[[Callable[[], None]], Awaitable[None]]  # runs what waits for a disk elsewhere


class EmbeddedStore:
    def __init__(self, tree: Tree, journal: Journal | None, now_ms: Now, blocking: Blocking | None) -> None:
        """For `in_memory` and `open`."""
        self._tree = tree
        self._journal = journal
        self._now_ms = now_ms
        self._blocking = blocking
        self._one_commit_at_a_time = asyncio.Lock()
        self._data_watches = _Watches()
        self._child_watches = _Watches()
        self._sessions = 0

    @staticmethod
    def in_memory(now_ms: Now) -> EmbeddedStore:
        return EmbeddedStore(Tree(), None, now_ms, None)

    @staticmethod
    def open(file: str, now_ms: Now, blocking: Blocking | None = None) -> EmbeddedStore:
        """The store of this file, made if there is none. Without `blocking` a commit waits for the disk in
        the caller's own thread."""
        journal = Journal.open(file)
        return EmbeddedStore(journal.load(), journal, now_ms, blocking)

    def session(self) -> EmbeddedSession:
        self._sessions += 1
        return EmbeddedSession(self, self._sessions)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    # -- for sessions --------------------------------------------------------------------------------------

    def read(self, path: str) -> TreeNode | None:
        return self._tree.find(path)

    def names(self, path: str) -> list[str]:
        return self._tree.children(path)

    def watch_data(self, path: str, session: EmbeddedSession, watch: Watch) -> None:
        self._data_watches.add(path, session, watch)

    def watch_children(self, path: str, session: EmbeddedSession, watch: Watch) -> None:
        self._child_watches.add(path, session, watch)

    async def commit(self, session: EmbeddedSession, operations: Sequence[Operation]) -> list[Done]:
        work = self._commit(session, operations)
        if self._blocking is None:
            return await work
        # Whoever stops waiting must not stop a commit that is already on its way to the disk.
        return await asyncio.shield(asyncio.ensure_future(work))

    async def end(self, session: EmbeddedSession) -> None:
        """The session is over: its watches are forgotten, its ephemeral nodes go."""
        self._data_watches.forget(session)
        self._child_watches.forget(session)
        async with self._one_commit_at_a_time:
            owned = self._tree.owned_by(session.id)
            await self._carry_out(self._tree.stage([Delete(path) for path in owned], 0, self._now_ms()))

    async def _commit(self, session: EmbeddedSession, operations: Sequence[Operation]) -> list[Done]:
        async with self._one_commit_at_a_time:
            session.check()  # it may have ended while we waited for our turn
            staged = self._tree.stage(operations, session.id, self._now_ms())
            await self._carry_out(staged)
            return staged.done

    async def _carry_out(self, staged: Staged) -> None:
        journal = self._journal
        if journal is not None and staged.changes_anything:
            if self._blocking is None:
                journal.write(staged)
            else:
                await self._blocking(lambda: journal.write(staged))
        self._tree.apply(staged)
        self._data_watches.fire(staged.touched)
        self._child_watches.fire(staged.families)


class EmbeddedSession:
    def __init__(self, store: EmbeddedStore, id: int) -> None:
        self._store = store
        self._id = id
        self._over = False
        self._on_expired: list[Watch] = []

    @property
    def id(self) -> int:
        return self._id

    async def get(self, path: str, watch: Watch | None = None) -> Node:
        self.check()
        if watch is not None:
            self._store.watch_data(path, self, watch)
        node = self._find(path)
        if node is None:
            raise NoNode(path)
        return node

    async def get_many(self, paths: Sequence[str]) -> list[Node | None]:
        self.check()
        return [self._find(path) for path in paths]

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        self.check()
        names = self._store.names(path)
        if watch is not None:
            self._store.watch_children(path, self, watch)
        return names

    async def commit(self, *operations: Operation) -> list[Done]:
        self.check()
        return await self._store.commit(self, operations)

    def on_expired(self, watch: Watch) -> None:
        if self._over:
            watch()
        else:
            self._on_expired.append(watch)

    async def close(self) -> None:
        if not self._over:
            self._over = True
            await self._store.end(self)

    async def expire(self) -> None:
        """What a ZooKeeper does to a session it has not heard from; here only a test does it."""
        await self.close()
        for watch in self._on_expired:
            watch()
        self._on_expired.clear()

    def check(self) -> None:
        if self._over:
            raise SessionExpired

    def _find(self, path: str) -> Node | None:
        node = self._store.read(path)
        return None if node is None else Node(node.data, node.stat)


class _Watches:
    """Watches by path, each good for one firing and counted once however often it was set."""

    def __init__(self) -> None:
        self._by_path: dict[str, dict[tuple[EmbeddedSession, Watch], None]] = {}

    def add(self, path: str, session: EmbeddedSession, watch: Watch) -> None:
        self._by_path.setdefault(path, {})[session, watch] = None

    def fire(self, paths: Sequence[str]) -> None:
        for path in paths:
            for _, watch in self._by_path.pop(path, {}):
                watch()

    def forget(self, session: EmbeddedSession) -> None:
        for path, watches in list(self._by_path.items()):
            kept = {each: None for each in watches if each[0] is not session}
            if kept:
                self._by_path[path] = kept
            else:
                del self._by_path[path]


class Journal:
    """The persistent nodes in a SQLite file. No other process may have it open."""

    _SCHEMA = """
        CREATE TABLE IF NOT EXISTS node (
            path TEXT PRIMARY KEY, data BLOB NOT NULL, created INTEGER NOT NULL, changed INTEGER NOT NULL,
            version INTEGER NOT NULL, created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL,
            next_child INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS latest (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
    """

    def __init__(self, file: str, connection: sqlite3.Connection) -> None:
        self._file = file
        self._connection = connection

    @staticmethod
    def open(file: str) -> Journal:
        import sqlite3

        try:
            connection = sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # a commit that was reported survives a power cut
            connection.executescript(Journal._SCHEMA)
        except sqlite3.Error as failure:
            raise StorageError(f"{file}: {failure}") from failure
        return Journal(file, connection)

    def load(self) -> Tree:
        rows = self._connection.execute(
            "SELECT path, data, created, changed, version, created_ms, changed_ms, next_child FROM node"
            " ORDER BY path"  # a parent's path is a prefix of its child's, so it comes first
        )
        nodes = [(path, TreeNode(data, Stat(*stat), next_child)) for path, data, *stat, next_child in rows]
        latest = self._connection.execute("SELECT number FROM latest").fetchone()
        return Tree.restored(nodes, latest[0] if latest else 0)

    def write(self, staged: Staged) -> None:
        import sqlite3

        kept, gone = [], []
        for path, node in staged.nodes.items():
            if node is None:
                gone.append((path,))
            elif not node.stat.owner:
                stat = node.stat
                times = (stat.created, stat.changed, stat.version, stat.created_ms, stat.changed_ms)
                kept.append((path, node.data, *times, node.next_child))
        try:
            self._connection.execute("BEGIN")
            self._connection.executemany("DELETE FROM node WHERE path = ?", gone)
            self._connection.executemany("REPLACE INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?)", kept)
            self._connection.execute("REPLACE INTO latest VALUES (1, ?)", (staged.number,))
            self._connection.execute("COMMIT")
        except sqlite3.Error as failure:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise StorageError(f"{self._file}: {failure}") from failure

    def close(self) -> None:
        self._connection.close()
