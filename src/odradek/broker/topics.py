"""Topics come, go and grow: requests become znodes, the controller does the rest, and we wait until it shows.

This runs on the controller's broker only, like Kafka's. What is written is checked here; what follows from it
(leaders, logs, what clients are told) follows from the store, whoever wrote there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from odradek.broker.cluster_store import assignment
from odradek.broker.new_topic import BROKERS_DEFAULT, Assignment, NewTopic, automatic_topic
from odradek.controller.placement import Start, next_start, place
from odradek.controller.state import NEVER_LED
from odradek.coordination.store import Create, NodeExists, NoNode, Operation, VersionConflict, Write
from odradek.coordination.znodes import ConfigZnode, DeleteTopicZnode, TopicZnode
from odradek.model import topic_names
from odradek.model.config.setting import ConfigError
from odradek.model.config.topic_config import TopicConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId, TopicId
from odradek.model.image import ConfigEntity, PartitionImage, TopicImage

if TYPE_CHECKING:
    from odradek.broker.configs import Configs
    from odradek.broker.metadata import Metadata
    from odradek.coordination.store import Session
    from odradek.runtime.entropy import Entropy

_logger = logging.getLogger("odradek.broker.topics")

AUTO_CREATION_WAIT_S = 5.0
TOPICS_A_COMMIT_MAX = 200
PARTITIONS_A_REQUEST_MAX = 10_000  # that one request may make; as Kafka's KRaft controllers have it


class NamesTaken:
    """Which names no new topic can have, asked quickly for thousands."""

    def __init__(self, topics: Iterable[str]) -> None:
        self._by_metric_name = {topic_names.metric_name(name): name for name in topics}

    def check(self, name: str) -> None:
        """Topics must differ in the name that metrics use."""
        like_it = self._by_metric_name.get(topic_names.metric_name(name), name)
        if like_it != name:
            raise ApiError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topics: {like_it}",
            )

    def add(self, name: str) -> None:
        self._by_metric_name[topic_names.metric_name(name)] = name


class Topics:
    def __init__(self, session: Session, metadata: Metadata, configs: Configs, entropy: Entropy) -> None:
        self._session = session
        self._metadata = metadata
        self._configs = configs
        self._entropy = entropy
        self._being_created: set[str] = set()

    # -- planning: what would be made, or why not --------------------------------------------------------

    def check_number(self, wanted: Iterable[NewTopic]) -> None:
        """Placing them keeps everybody else waiting."""
        _check_number(sum(max(self._partitions_of(each), 0) for each in wanted))

    def names_taken(self) -> NamesTaken:
        """For planning one topic or many at once."""
        return NamesTaken(self._metadata.image.topics)

    def plan(self, wanted: NewTopic, taken: NamesTaken) -> TopicImage:
        """The topic as it would be. `ApiError` if it cannot be; else its name is taken from now on."""
        name = wanted.name
        if name in self._metadata.image.topics:
            raise already_exists(name)
        self._check_not_null(wanted)
        if wanted.assignment:
            assigned = self._given(wanted)
        else:
            assigned = self._placed(wanted)
        complaint = topic_names.complaint(name)
        if complaint is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {complaint}")
        taken.check(name)
        if wanted.assignment:
            _check_replicas(assigned)
        self._check_config(wanted)
        taken.add(name)
        id = TopicId(self._entropy.random_bytes(16))
        return TopicImage(name, id, {number: _unled(held) for number, held in assigned.items()})

    def plan_growth(
        self, topic: TopicImage, count: int, added: Sequence[tuple[BrokerId, ...]] | None
    ) -> TopicImage:
        """The topic with `count` partitions in all, the new ones held as `added` says or as we choose."""
        if any(each.adding or each.removing for each in topic.partitions.values()):
            raise _being_reassigned(topic.name)
        known = len(topic.partitions)
        if count == known:
            raise _has_already(known)
        if count < known:
            raise ApiError(
                ErrorCode.INVALID_PARTITIONS,
                f"Topic currently has {known} partitions, which is higher than the requested {count}.",
            )
        _check_number(count - known)
        numbers = range(known, count)
        first = topic.partitions[0].replicas
        racks = self._racks()
        if added is not None:
            assigned = _check_added(numbers, added, len(first), racks)
        else:
            assigned = place(racks, numbers, len(first), next_start(list(racks), first[0]))
        return topic.with_partitions({number: _unled(held) for number, held in assigned.items()})

    # -- doing -------------------------------------------------------------------------------------------

    async def create(self, topics: Sequence[TopicImage], configs: Sequence[Mapping[str, str]]) -> list[bool]:
        """Write them all; of each, whether it was new."""
        made: list[bool] = []
        for at in range(0, len(topics), TOPICS_A_COMMIT_MAX):
            some = list(zip(topics, configs, strict=True))[at : at + TOPICS_A_COMMIT_MAX]
            try:
                await self._session.commit(
                    *(each for topic, config in some for each in _creation(topic, config))
                )
                made += [True] * len(some)
            except NodeExists:  # of another broker's making, a moment ago: find out which
                made += [await self._create_one(topic, config) for topic, config in some]
        return made

    async def create_automatically(self, names: Sequence[str]) -> dict[str, ErrorCode]:
        """With the broker's defaults, because a client asked for their metadata. Of those that cannot be
        made, why."""
        refused: dict[str, ErrorCode] = {}
        fresh = {
            name: automatic_topic(name, self._configs.broker)
            for name in dict.fromkeys(names)
            if name not in self._being_created
        }
        try:
            self.check_number(fresh.values())
        except ApiError as refusal:
            return dict.fromkeys(names, refusal.error)
        self._being_created.update(fresh)
        try:
            planned, configs, taken = [], [], self.names_taken()
            for name, wanted in fresh.items():
                try:
                    planned.append(self.plan(wanted, taken))
                    configs.append(wanted.texts)
                except ApiError as refusal:
                    _logger.warning("topic %s is not created automatically: %s", name, refusal)
                    refused[name] = refusal.error
            if planned:
                await self.create(planned, configs)
            await self.until(
                lambda: all(self.is_ready(topic.name) for topic in planned), AUTO_CREATION_WAIT_S
            )
        finally:
            self._being_created.difference_update(fresh)
        return refused

    async def request_deletion(self, names: Sequence[str]) -> None:
        """Together, so that the controller stops all their replicas at one go, not topic by topic."""
        wishes = [Create(DeleteTopicZnode.path(name)) for name in names]
        for at in range(0, len(wishes), TOPICS_A_COMMIT_MAX):
            some = wishes[at : at + TOPICS_A_COMMIT_MAX]
            try:
                await self._session.commit(*some)
            except NodeExists:  # somebody asked for one of them before
                for wish in some:
                    with suppress(NodeExists):
                        await self._session.commit(wish)

    async def is_going(self, name: str) -> bool:
        """Somebody wants it deleted."""
        return await self._session.get_many([DeleteTopicZnode.path(name)]) != [None]

    async def grow(self, topic: TopicImage) -> None:
        path = TopicZnode.path(topic.name)
        try:
            node = await self._session.get(path)
            written = len(TopicZnode.decode(path, node.data).replicas)
            if written == len(topic.partitions):
                raise _has_already(written)
            await self._session.commit(Write(path, assignment(topic), node.stat.version))
        except NoNode:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) from None
        except VersionConflict:
            raise _being_reassigned(topic.name) from None

    # -- waiting until it shows --------------------------------------------------------------------------

    def is_ready(self, name: str) -> bool:
        """Every partition has a leader that clients are told of."""
        topic = self._metadata.image.topics.get(name)
        return topic is not None and all(each.has_leader for each in topic.partitions.values())

    async def until(self, shows: Callable[[], bool], wait_s: float) -> bool:
        """Wait until the metadata shows it; False if that takes too long."""
        if shows():
            return True
        shown = asyncio.Event()

        def look() -> None:
            if shows():
                shown.set()

        with self._metadata.watched(look):
            try:
                await asyncio.wait_for(shown.wait(), wait_s)
            except TimeoutError:
                return False
        return True

    # -- inside ------------------------------------------------------------------------------------------

    async def _create_one(self, topic: TopicImage, config: Mapping[str, str]) -> bool:
        try:
            await self._session.commit(*_creation(topic, config))
        except NodeExists:
            return False
        return True

    def _check_not_null(self, wanted: NewTopic) -> None:
        nulls = [key for key, value in wanted.config.items() if value is None]
        if nulls:
            raise ApiError(
                ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(nulls)}"
            )

    def _check_config(self, wanted: NewTopic) -> None:
        try:
            TopicConfig.check(self._configs.broker, wanted.texts)
        except ConfigError as bad:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(bad)) from None

    def _placed(self, wanted: NewTopic) -> Assignment:
        count, copies = self._partitions_of(wanted), wanted.copies
        if copies == BROKERS_DEFAULT:
            copies = self._configs.broker.integer("default.replication.factor")
        if count <= 0:
            raise ApiError(ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
        racks = self._racks()
        brokers = max(len(racks), 1)
        start = Start(self._entropy.below(brokers), self._entropy.below(brokers))
        return place(racks, range(count), copies, start)

    def _partitions_of(self, wanted: NewTopic) -> int:
        if wanted.assignment:
            return len(wanted.assignment)
        if wanted.partitions == BROKERS_DEFAULT:
            return self._configs.broker.integer("num.partitions")
        return wanted.partitions

    def _given(self, wanted: NewTopic) -> Assignment:
        if wanted.partitions != BROKERS_DEFAULT or wanted.copies != BROKERS_DEFAULT:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                "Both numPartitions or replicationFactor and replicasAssignments were set. "
                "Both cannot be used at the same time.",
            )
        return dict(sorted(wanted.assignment.items()))

    def _racks(self) -> dict[BrokerId, str | None]:
        return {broker.id: broker.rack for broker in self._metadata.image.brokers.values()}


def _check_number(partitions: int) -> None:
    if partitions > PARTITIONS_A_REQUEST_MAX:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def already_exists(name: str) -> ApiError:
    return ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")


def _has_already(count: int) -> ApiError:
    return ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {count} partitions.")


def _being_reassigned(name: str) -> ApiError:
    return ApiError(
        ErrorCode.REASSIGNMENT_IN_PROGRESS, f"A partition reassignment is in progress for the topic '{name}'."
    )


def _check_replicas(given: Assignment) -> None:
    """Of a new topic. A broker that is down may be named: the partition waits for it."""
    bad = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if len({len(replicas) for replicas in given.values()}) > 1:
        raise ApiError(bad, "All partitions should have the same number of replicas")
    for number, replicas in given.items():
        if len(set(replicas)) < len(replicas):
            raise ApiError(
                bad, f"Duplicate replica assignment found: partition {number} on brokers {_listed(replicas)}"
            )
        if not replicas or min(replicas) < 0:
            raise ApiError(bad, f"Partition {number} cannot be held by brokers [{_listed(replicas)}]")
    if sorted(given) != list(range(len(given))):
        raise ApiError(bad, "partitions should be a consecutive 0-based integer sequence")


def _check_added(
    numbers: range, added: Sequence[tuple[BrokerId, ...]], copies: int, alive: Collection[BrokerId]
) -> Assignment:
    bad = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if len(added) != len(numbers):
        raise ApiError(
            bad,
            f"Increasing the number of partitions by {len(numbers)} but {len(added)} assignments provided.",
        )
    for number, replicas in zip(numbers, added, strict=True):
        if not replicas:
            raise ApiError(bad, f"Cannot have replication factor of 0 for partition id {number}.")
        if len(set(replicas)) < len(replicas):
            raise ApiError(
                bad,
                f"Duplicate brokers not allowed in replica assignment: {_listed(replicas)} for partition id "
                f"{number}.",
            )
        unknown = [each for each in replicas if each not in alive]
        if unknown:
            raise ApiError(bad, f"Unknown broker(s) in replica assignment: {_listed(unknown)}.")
        if len(replicas) != copies:
            raise ApiError(
                bad,
                f"Inconsistent replication factor between partitions, partition 0 has {copies} while "
                f"partitions [{number}] have replication factors [{len(replicas)}], respectively.",
            )
    return dict(zip(numbers, added, strict=True))


def _listed(brokers: Iterable[BrokerId]) -> str:
    return ", ".join(map(str, brokers))


def _unled(replicas: tuple[BrokerId, ...]) -> PartitionImage:
    return PartitionImage(replicas, NO_BROKER, (), NEVER_LED, NEVER_LED)


def _creation(topic: TopicImage, config: Mapping[str, str]) -> list[Operation]:
    """A topic's configuration first: whoever sees the topic must find it."""
    entity = ConfigEntity.topic(topic.name)
    return [
        Create(ConfigZnode.path(entity), ConfigZnode(dict(config)).encode()),
        Create(TopicZnode.path(topic.name), assignment(topic)),
    ]
