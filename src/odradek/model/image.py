"""The cluster at one moment: its brokers, topics, partitions and configurations; immutable.

An update makes a new image that shares everything it did not change. What is copied is one dictionary of
references (16 us for 5,000 topics), so changes that come together are given together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from odradek.model.ids import NO_BROKER, NO_TOPIC_ID, BrokerId, Partition, TopicId
from odradek.model.listeners import Endpoint


class BrokerImage(NamedTuple):
    """A broker that is registered, under one epoch: it gets another whenever it registers anew."""

    id: BrokerId
    epoch: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None

    def endpoint(self, listener: str) -> Endpoint | None:
        return next((each for each in self.endpoints if each.listener == listener), None)


class PartitionImage(NamedTuple):
    """Who holds a partition, who leads it in which epoch, and who is in sync.

    `epoch` grows by one with every change of leader or in-sync set: it is the version of the state's znode.
    """

    replicas: tuple[BrokerId, ...]
    leader: BrokerId
    isr: tuple[BrokerId, ...]
    leader_epoch: int = 0
    epoch: int = 0
    adding: tuple[BrokerId, ...] = ()
    removing: tuple[BrokerId, ...] = ()
    offline: tuple[BrokerId, ...] = ()  # replicas whose broker or log directory is gone
    recovering: bool = False  # its leader was elected uncleanly and has not settled what the log holds

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_BROKER


class TopicImage(NamedTuple):
    name: str
    id: TopicId
    partitions: Mapping[int, PartitionImage]

    def with_partitions(self, changed: Mapping[int, PartitionImage]) -> TopicImage:
        return self._replace(partitions={**self.partitions, **changed})


CLIENT_METRICS = "client-metrics"
_NOTHING: Mapping[str, str] = MappingProxyType({})


class ConfigEntity(NamedTuple):
    """What a configuration belongs to, in the words of its znode: `/config/<kind>/<name>`."""

    kind: str  # topics, brokers, users, clients, ips, client-metrics
    name: str

    @staticmethod
    def topic(name: str) -> ConfigEntity:
        return ConfigEntity("topics", name)

    @staticmethod
    def broker(id: BrokerId) -> ConfigEntity:
        return ConfigEntity("brokers", str(id))

    @staticmethod
    def every_broker() -> ConfigEntity:
        return ConfigEntity("brokers", "<default>")

    @staticmethod
    def client_metrics(subscription: str) -> ConfigEntity:
        return ConfigEntity(CLIENT_METRICS, subscription)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterImage:
    cluster_id: str
    controller: BrokerId = NO_BROKER
    controller_epoch: int = 0
    brokers: Mapping[BrokerId, BrokerImage] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    topic_names: Mapping[TopicId, str] = field(default_factory=dict)
    configs: Mapping[ConfigEntity, Mapping[str, str]] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)

    # -- asking --------------------------------------------------------------------------------------------

    def topic_of(self, id: TopicId) -> TopicImage | None:
        name = self.topic_names.get(id)
        return None if name is None else self.topics.get(name)

    def partition(self, partition: Partition) -> PartitionImage | None:
        topic = self.topics.get(partition.topic)
        return None if topic is None else topic.partitions.get(partition.number)

    def config(self, entity: ConfigEntity) -> Mapping[str, str]:
        """What was set for this entity; empty when nothing was."""
        return self.configs.get(entity, _NOTHING)

    # -- changing ------------------------------------------------------------------------------------------

    def with_brokers(self, came: Iterable[BrokerImage], gone: Iterable[BrokerId] = ()) -> ClusterImage:
        brokers = {**self.brokers, **{each.id: each for each in came}}
        for id in gone:
            brokers.pop(id, None)
        return replace(self, brokers=brokers)

    def with_controller(self, controller: BrokerId, epoch: int) -> ClusterImage:
        return replace(self, controller=controller, controller_epoch=epoch)

    def with_topics(self, topics: Iterable[TopicImage]) -> ClusterImage:
        """With these topics in place of those of the same name, whose ids are forgotten where they differ."""
        changed = {topic.name: topic for topic in topics}
        names = self.topic_names
        if any(self.topic_names.get(topic.id) != topic.name for topic in changed.values()):
            names = dict(self.topic_names)
            for topic in changed.values():
                self._forget_id(names, topic.name)
                if topic.id != NO_TOPIC_ID:
                    names[topic.id] = topic.name
        return replace(self, topics={**self.topics, **changed}, topic_names=names)

    def without_topics(self, gone: Iterable[str]) -> ClusterImage:
        topics, names, configs = dict(self.topics), dict(self.topic_names), dict(self.configs)
        for name in gone:
            self._forget_id(names, name)
            topics.pop(name, None)
            configs.pop(ConfigEntity.topic(name), None)
        return replace(self, topics=topics, topic_names=names, configs=configs)

    def with_partitions(self, changed: Mapping[Partition, PartitionImage]) -> ClusterImage:
        """With these partitions, all of them of topics that are known."""
        by_topic: dict[str, dict[int, PartitionImage]] = {}
        for partition, state in changed.items():
            by_topic.setdefault(partition.topic, {})[partition.number] = state
        topics = {name: self.topics[name].with_partitions(states) for name, states in by_topic.items()}
        return replace(self, topics={**self.topics, **topics})

    def with_config(self, entity: ConfigEntity, config: Mapping[str, str] | None) -> ClusterImage:
        """With everything that is set for `entity`; None when it has no configuration any more."""
        return self.with_configs({entity: config})

    def with_configs(self, changed: Mapping[ConfigEntity, Mapping[str, str] | None]) -> ClusterImage:
        configs = dict(self.configs)
        for entity, config in changed.items():
            if config is None:
                configs.pop(entity, None)
            else:
                configs[entity] = config
        return replace(self, configs=configs)

    def _forget_id(self, names: dict[TopicId, str], topic: str) -> None:
        known = self.topics.get(topic)
        if known is not None:
            names.pop(known.id, None)
