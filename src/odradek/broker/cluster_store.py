"""The coordination store in the words of a cluster: what is written of brokers, topics and partitions.

Everything the controller writes stands in one commit with a check of its fence, the version of
`/controller_epoch`. Commits are cut to a bounded number of nodes, because an ensemble refuses large ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

from odradek.controller.state import NEVER_LED
from odradek.coordination import znodes
from odradek.coordination.store import (
    Check,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Operation,
    Session,
    VersionConflict,
    Watch,
    Write,
)
from odradek.coordination.znodes import (
    BrokerZnode,
    ConfigZnode,
    ControllerEpochZnode,
    ControllerZnode,
    DeleteTopicZnode,
    PartitionStateZnode,
    TopicZnode,
)
from odradek.model.ids import NO_BROKER, BrokerId, Partition
from odradek.model.image import BrokerImage, ClusterImage, ConfigEntity, PartitionImage, TopicImage

OPERATIONS_MAX = 500  # in one commit
READS_MAX = 500  # at once
NOT_ELECTED = -1

Item = TypeVar("Item")
TopicWatch: TypeAlias = Callable[[str], Watch]


class ClusterStore:
    def __init__(self, session: Session, cluster_id: str, now_ms: Callable[[], int]) -> None:
        self.session = session
        self._cluster_id = cluster_id
        self._now_ms = now_ms
        self._has_partitions: set[str] = set()  # topics that have a node for their partitions

    # -- the controller's election -------------------------------------------------------------------------

    async def elect(self, self_id: BrokerId, vacant: Watch) -> int:
        """Become controller: the fence of what it writes, or NOT_ELECTED when there is one; then `vacant` is
        called when there may be none any more."""
        try:
            await self.session.get(ControllerZnode.PATH, vacant)
            return NOT_ELECTED
        except NoNode:
            pass
        epoch, version = await self._controller_epoch()
        try:
            done = await self.session.commit(
                Create(
                    ControllerZnode.PATH, ControllerZnode(self_id, self._now_ms()).encode(), ephemeral=True
                ),
                Write(ControllerEpochZnode.PATH, ControllerEpochZnode(epoch + 1).encode(), version),
            )
        except (NodeExists, VersionConflict):
            vacant()  # somebody was faster: look again
            return NOT_ELECTED
        return done[1].version

    async def resign(self, self_id: BrokerId) -> None:
        """Leave the place to whoever is next, if it is ours."""
        try:
            node = await self.session.get(ControllerZnode.PATH)
            if ControllerZnode.decode(ControllerZnode.PATH, node.data).broker == self_id:
                await self.session.commit(Delete(ControllerZnode.PATH, node.stat.version))
        except (NoNode, VersionConflict):
            return

    async def _controller_epoch(self) -> tuple[int, int]:
        try:
            node = await self.session.get(ControllerEpochZnode.PATH)
        except NoNode:
            await self.session.commit(Create(ControllerEpochZnode.PATH, ControllerEpochZnode(0).encode()))
            node = await self.session.get(ControllerEpochZnode.PATH)
        return ControllerEpochZnode.decode(ControllerEpochZnode.PATH, node.data).epoch, node.stat.version

    # -- reading -------------------------------------------------------------------------------------------

    async def load(
        self, self_id: BrokerId, *, brokers: Watch, topics: Watch, grown: TopicWatch
    ) -> ClusterImage:
        """Everything a controller starts from; from now on it is told of changes."""
        epoch, _ = await self._controller_epoch()
        self._has_partitions.clear()
        image = ClusterImage(cluster_id=self._cluster_id).with_controller(self_id, epoch)
        image = image.with_brokers(await self.brokers(brokers))
        return image.with_topics(await self.topics(await self.topic_names(topics), grown))

    async def brokers(self, watch: Watch | None = None) -> tuple[BrokerImage, ...]:
        """Those that are registered now. `watch` is called when one comes, goes or moves."""
        found = []
        for name in await self.session.children(znodes.BROKER_IDS, watch):
            id = BrokerId(int(name))
            path = BrokerZnode.path(id)
            try:
                node = await self.session.get(path, watch)
            except NoNode:
                continue
            told = BrokerZnode.decode(path, node.data)
            found.append(BrokerImage(id, node.stat.created, told.endpoints, told.rack))
        return tuple(sorted(found))

    async def topic_names(self, watch: Watch | None = None) -> list[str]:
        return await self.session.children(znodes.TOPICS, watch)

    async def topics(self, names: Sequence[str], watch: TopicWatch) -> list[TopicImage]:
        """These topics as they are written, those that are gone left out. `watch(name)` is called when a
        topic's assignment changes."""
        assigned: dict[str, TopicZnode] = {}
        for name in names:
            path = TopicZnode.path(name)
            try:
                node = await self.session.get(path, watch(name))
            except NoNode:
                continue
            assigned[name] = TopicZnode.decode(path, node.data)
        partitions = [
            Partition(name, number) for name, topic in assigned.items() for number in topic.replicas
        ]
        states = await self._states(partitions)
        return [
            TopicImage(
                name,
                topic.id,
                {
                    number: _partition(topic, number, states.get(Partition(name, number)))
                    for number in topic.replicas
                },
            )
            for name, topic in assigned.items()
        ]

    async def deletions(self, watch: Watch) -> list[str]:
        """Topics that somebody wants deleted."""
        return await self.session.children(znodes.DELETE_TOPICS, watch)

    async def _states(
        self, partitions: Iterable[Partition]
    ) -> dict[Partition, tuple[PartitionStateZnode, int]]:
        found = {}
        for some in _cut(partitions, READS_MAX):
            paths = [PartitionStateZnode.path(each) for each in some]
            for partition, path, node in zip(some, paths, await self.session.get_many(paths), strict=True):
                if node is not None:
                    self._has_partitions.add(partition.topic)
                    state = PartitionStateZnode.decode(path, node.data)
                    found[partition] = (state, node.stat.version)
        return found

    # -- writing, as controller ----------------------------------------------------------------------------

    async def write_states(
        self, fence: int, controller_epoch: int, states: Mapping[Partition, PartitionImage]
    ) -> None:
        operations: list[Operation] = []
        for partition, state in states.items():
            data = PartitionStateZnode(
                state.leader, state.leader_epoch, state.isr, controller_epoch, state.recovering
            ).encode()
            path = PartitionStateZnode.path(partition)
            if state.epoch > 0:
                operations.append(Write(path, data, state.epoch - 1))
                continue
            if partition.topic not in self._has_partitions:
                self._has_partitions.add(partition.topic)
                operations.append(Create(TopicZnode.partitions_path(partition.topic)))
            operations += [Create(TopicZnode.partition_path(partition)), Create(path, data)]
        await self._fenced(fence, operations)

    async def write_assignments(self, fence: int, topics: Iterable[TopicImage]) -> None:
        await self._fenced(fence, [Write(TopicZnode.path(topic.name), assignment(topic)) for topic in topics])

    async def remove_topics(self, fence: int, topics: Iterable[str]) -> None:
        """All that is written of them, the wish to delete them last."""
        operations: list[Operation] = []
        for topic in topics:
            operations += [Delete(path) for path in await self._tree(TopicZnode.path(topic))]
            operations += [
                Delete(path)
                for path in (
                    ConfigZnode.path(ConfigEntity.topic(topic)),
                    DeleteTopicZnode.path(topic),
                )
                if await self._exists(path)
            ]
            self._has_partitions.discard(topic)
        await self._fenced(fence, operations)

    async def _fenced(self, fence: int, operations: Sequence[Operation]) -> None:
        for some in _cut(operations, OPERATIONS_MAX):
            await self.session.commit(Check(ControllerEpochZnode.PATH, fence), *some)

    async def _tree(self, path: str) -> list[str]:
        """The node and all below it, children first; nothing if it is not there."""
        try:
            names = await self.session.children(path)
        except NoNode:
            return []
        return [each for name in names for each in await self._tree(f"{path}/{name}")] + [path]

    async def _exists(self, path: str) -> bool:
        return (await self.session.get_many([path])) != [None]


def assignment(topic: TopicImage) -> bytes:
    """The topic's own node: who holds what, and who is coming and going."""
    partitions = topic.partitions.items()
    return TopicZnode(
        topic.id,
        {number: state.replicas for number, state in partitions},
        {number: state.adding for number, state in partitions if state.adding},
        {number: state.removing for number, state in partitions if state.removing},
    ).encode()


def _partition(
    topic: TopicZnode, number: int, written: tuple[PartitionStateZnode, int] | None
) -> PartitionImage:
    image = PartitionImage(
        replicas=topic.replicas[number],
        leader=NO_BROKER,
        isr=(),
        leader_epoch=NEVER_LED,
        epoch=NEVER_LED,
        adding=topic.adding.get(number, ()),
        removing=topic.removing.get(number, ()),
    )
    if written is None:
        return image
    state, version = written
    return image._replace(
        leader=state.leader,
        isr=state.isr,
        leader_epoch=state.leader_epoch,
        epoch=version,
        recovering=state.recovering,
    )


def _cut(items: Iterable[Item], count: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, count)):
        yield some
