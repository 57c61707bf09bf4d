"""The versioned tree itself, in memory: what the nodes are, and what a commit would make of them.

`stage` works out a commit on the side and raises where it cannot be done; `apply` puts a staged commit in
place. Between the two somebody may write it down. The rules are ZooKeeper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from odradek.coordination.store import (
    ANY_VERSION,
    Check,
    Create,
    Delete,
    Done,
    EphemeralHasNoChildren,
    NodeExists,
    NodeHasChildren,
    NoNode,
    Operation,
    Stat,
    VersionConflict,
    Write,
)

ROOT = "/"


class TreeNode(NamedTuple):
    data: bytes
    stat: Stat
    next_child: int = 0  # the number that the next sequential child gets


@dataclass(slots=True)
class Staged:
    """One commit, worked out and not yet in place."""

    number: int
    now_ms: int
    session: int
    nodes: dict[str, TreeNode | None] = field(default_factory=dict)  # None: it goes
    done: list[Done] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)  # came, changed or went
    families: list[str] = field(default_factory=list)  # a child came or went

    @property
    def changes_anything(self) -> bool:
        return bool(self.nodes)


class Tree:
    def __init__(self) -> None:
        self._nodes: dict[str, TreeNode] = {ROOT: TreeNode(b"", Stat(0, 0, 0, 0, 0))}
        self._children: dict[str, set[str]] = {ROOT: set()}
        self._owned: dict[int, set[str]] = {}
        self.last_commit = 0

    @staticmethod
    def restored(nodes: Iterable[tuple[str, TreeNode]], last_commit: int) -> Tree:
        """A tree that was written down, parents before children, without its ephemeral nodes."""
        tree = Tree()
        for path, node in nodes:
            tree._put(path, node)
        for path, names in tree._children.items():
            node = tree._nodes[path]
            tree._nodes[path] = node._replace(stat=node.stat._replace(child_count=len(names)))
        tree.last_commit = last_commit
        return tree

    # -- reading -------------------------------------------------------------------------------------------

    def find(self, path: str) -> TreeNode | None:
        return self._nodes.get(path)

    def children(self, path: str) -> list[str]:
        if path not in self._nodes:
            raise NoNode(path)
        return sorted(self._children[path])

    def owned_by(self, session: int) -> list[str]:
        """The session's ephemeral nodes."""
        return sorted(self._owned.get(session, ()))

    # -- changing ------------------------------------------------------------------------------------------

    def stage(self, operations: Sequence[Operation], session: int, now_ms: int) -> Staged:
        staged = Staged(self.last_commit + 1, now_ms, session)
        for operation in operations:
            match operation:
                case Create():
                    self._create(staged, operation)
                case Write():
                    self._write(staged, operation)
                case Delete():
                    self._delete(staged, operation)
                case Check(path, version):
                    staged.done.append(Done(path, self._expect(staged, path, version).stat.version))
                case _:
                    assert_never(operation)
        return staged

    def apply(self, staged: Staged) -> None:
        if not staged.changes_anything:
            return
        assert staged.number == self.last_commit + 1, "staged on another tree than this"
        self.last_commit = staged.number
        gone = [path for path, node in staged.nodes.items() if node is None]
        for path, node in staged.nodes.items():
            if node is not None:
                self._put(path, node)
        for path in sorted(gone, reverse=True):  # children before their parents
            self._remove(path)

    def _put(self, path: str, node: TreeNode) -> None:
        if path not in self._nodes:
            self._children[path] = set()
            self._children[parent_of(path)].add(name_of(path))
            if node.stat.owner:
                self._owned.setdefault(node.stat.owner, set()).add(path)
        self._nodes[path] = node

    def _remove(self, path: str) -> None:
        node = self._nodes.pop(path, None)
        if node is None:
            return  # made and deleted by one commit
        del self._children[path]
        self._children[parent_of(path)].discard(name_of(path))
        if node.stat.owner:
            self._owned[node.stat.owner].discard(path)

    # -- staging one operation -----------------------------------------------------------------------------

    def _create(self, staged: Staged, wanted: Create) -> None:
        above = parent_of(wanted.path)
        parent = self._expect(staged, above, ANY_VERSION)
        if parent.stat.owner:
            raise EphemeralHasNoChildren(above)
        path = f"{wanted.path}{parent.next_child:010d}" if wanted.sequential else wanted.path
        if self._staged(staged, path) is not None:
            raise NodeExists(path)
        owner = staged.session if wanted.ephemeral else 0
        stat = Stat(staged.number, staged.number, 0, staged.now_ms, staged.now_ms, owner)
        staged.nodes[path] = TreeNode(wanted.data, stat)
        staged.nodes[above] = TreeNode(parent.data, _with_children(parent, 1), parent.next_child + 1)
        staged.done.append(Done(path, 0))
        staged.touched.append(path)
        staged.families.append(above)

    def _write(self, staged: Staged, wanted: Write) -> None:
        node = self._expect(staged, wanted.path, wanted.version)
        version = node.stat.version + 1
        stat = node.stat._replace(changed=staged.number, changed_ms=staged.now_ms, version=version)
        staged.nodes[wanted.path] = TreeNode(wanted.data, stat, node.next_child)
        staged.done.append(Done(wanted.path, version))
        staged.touched.append(wanted.path)

    def _delete(self, staged: Staged, wanted: Delete) -> None:
        node = self._expect(staged, wanted.path, wanted.version)
        if node.stat.child_count:
            raise NodeHasChildren(wanted.path)
        above = parent_of(wanted.path)
        parent = self._expect(staged, above, ANY_VERSION)
        staged.nodes[wanted.path] = None
        staged.nodes[above] = parent._replace(stat=_with_children(parent, -1))
        staged.done.append(Done(wanted.path, node.stat.version))
        staged.touched.append(wanted.path)
        staged.families += (above, wanted.path)

    def _expect(self, staged: Staged, path: str, version: int) -> TreeNode:
        node = self._staged(staged, path)
        if node is None:
            raise NoNode(path)
        if version not in (ANY_VERSION, node.stat.version):
            raise VersionConflict(path, version)
        return node

    def _staged(self, staged: Staged, path: str) -> TreeNode | None:
        return staged.nodes[path] if path in staged.nodes else self._nodes.get(path)


def parent_of(path: str) -> str:
    assert path.startswith(ROOT), path
    assert path != ROOT, "the root is always there"
    return path.rpartition("/")[0] or ROOT


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def _with_children(node: TreeNode, more: int) -> Stat:
    return node.stat._replace(child_count=node.stat.child_count + more)
