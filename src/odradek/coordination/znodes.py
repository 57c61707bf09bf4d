"""Every znode of Kafka 3.9 but those of security: one class each, its path, how it is written and read.

Each has `encode` and `decode`; one of a kind has `PATH`, the others `path`. What is numbered by the store
(`config_change_`, `isr_change_`, `log_dir_event_`) has `PARENT` and `PREFIX`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.coordination.json import BadZnode, Fields, JsonToWrite, write
from odradek.model.ids import NO_BROKER, NO_TOPIC_ID, BrokerId, Partition, TopicId, id_bytes, id_text
from odradek.model.image import ConfigEntity
from odradek.model.listeners import Endpoint, SecurityProtocol, parse_endpoints

BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE = "/brokers/seqid"  # its data's version is the number that was given out last
TOPICS = "/brokers/topics"
DELETE_TOPICS = "/admin/delete_topics"

PERSISTENT = (  # there from the first start on, parents before children
    *("/consumers", "/brokers", BROKER_IDS, TOPICS, BROKER_SEQUENCE),
    *("/config", "/config/changes", "/config/topics", "/config/clients", "/config/users"),
    *("/config/brokers", "/config/ips"),
    *("/admin", DELETE_TOPICS, "/isr_change_notification", "/latest_producer_id_block"),
    *("/log_dir_event_notification", "/cluster"),
)


@dataclass(frozen=True, slots=True)
class ControllerZnode:
    """Who is the controller; ephemeral."""

    broker: BrokerId
    timestamp_ms: int
    kraft_epoch: int = -1

    PATH = "/controller"

    def encode(self) -> bytes:
        return write(
            {
                "version": 2,
                "brokerid": self.broker,
                "timestamp": str(self.timestamp_ms),
                "kraftControllerEpoch": self.kraft_epoch,
            }
        )

    @staticmethod
    def decode(path: str, data: bytes) -> ControllerZnode:
        fields = Fields.of(path, data)
        return ControllerZnode(
            BrokerId(fields.integer("brokerid")),
            fields.digits("timestamp"),
            fields.integer("kraftControllerEpoch", -1),
        )


@dataclass(frozen=True, slots=True)
class ControllerEpochZnode:
    """How many controllers there have been. Its own version is what a controller's writes are fenced by."""

    epoch: int

    PATH = "/controller_epoch"

    def encode(self) -> bytes:
        return str(self.epoch).encode()

    @staticmethod
    def decode(path: str, data: bytes) -> ControllerEpochZnode:
        if not (data.isdigit() and len(data) <= 10):
            raise BadZnode(path, f"should be a whole number, is {data!r:.100}")
        return ControllerEpochZnode(int(data))


@dataclass(frozen=True, slots=True)
class BrokerZnode:
    """A broker that lives, and how it is reached; ephemeral. Where it was created is the broker's epoch."""

    endpoints: tuple[Endpoint, ...]
    rack: str | None
    timestamp_ms: int
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    jmx_port: int = -1

    @staticmethod
    def path(id: BrokerId) -> str:
        return f"{BROKER_IDS}/{id}"

    def encode(self) -> bytes:
        plain = next((each for each in self.endpoints if each.protocol is SecurityProtocol.PLAINTEXT), None)
        return write(
            {
                "features": {
                    name: {"min_version": low, "max_version": high}
                    for name, (low, high) in self.features.items()
                },
                "listener_security_protocol_map": {
                    each.listener: each.protocol.name for each in self.endpoints
                },
                "endpoints": [str(each) for each in self.endpoints],
                **({} if self.rack is None else {"rack": self.rack}),
                "jmx_port": self.jmx_port,
                "port": plain.port if plain else -1,
                "host": plain.host if plain else None,
                "version": 5,
                "timestamp": str(self.timestamp_ms),
            }
        )

    @staticmethod
    def decode(path: str, data: bytes) -> BrokerZnode:
        fields = Fields.of(path, data)
        features = fields.within("features")
        return BrokerZnode(
            _endpoints(path, fields),
            fields.optional_text("rack"),
            fields.digits("timestamp"),
            {name: _range(features.within(name)) for name in features.names()},
            fields.integer("jmx_port", -1),
        )


@dataclass(frozen=True, slots=True)
class TopicZnode:
    """A topic's partitions, who holds each, and who is coming and going in a reassignment."""

    id: TopicId
    replicas: Mapping[int, tuple[BrokerId, ...]]
    adding: Mapping[int, tuple[BrokerId, ...]] = field(default_factory=dict)
    removing: Mapping[int, tuple[BrokerId, ...]] = field(default_factory=dict)

    @staticmethod
    def path(topic: str) -> str:
        return f"{TOPICS}/{topic}"

    @staticmethod
    def partition_path(partition: Partition) -> str:
        return f"{TOPICS}/{partition.topic}/partitions/{partition.number}"

    @staticmethod
    def partitions_path(topic: str) -> str:
        return f"{TOPICS}/{topic}/partitions"

    def encode(self) -> bytes:
        id = {} if self.id == NO_TOPIC_ID else {"topic_id": id_text(self.id)}
        return write(
            {
                "partitions": _by_number(self.replicas),
                **id,
                "adding_replicas": _by_number(self.adding),
                "removing_replicas": _by_number(self.removing),
                "version": 3,
            }
        )

    @staticmethod
    def decode(path: str, data: bytes) -> TopicZnode:
        """Of version 1 and 2 as well, which know no id, and of version 1, which knows no reassignment."""
        fields = Fields.of(path, data)
        id = fields.optional_text("topic_id")
        try:
            topic_id = NO_TOPIC_ID if id is None else TopicId(id_bytes(id))
        except ValueError as bad:
            raise BadZnode(path, f"topic_id: {bad}") from None
        return TopicZnode(
            topic_id,
            _numbered(path, fields.within("partitions")),
            _numbered(path, fields.within("adding_replicas")),
            _numbered(path, fields.within("removing_replicas")),
        )


@dataclass(frozen=True, slots=True)
class PartitionStateZnode:
    """Who leads, in which epoch, with whom in sync."""

    leader: BrokerId
    leader_epoch: int
    isr: tuple[BrokerId, ...]
    controller_epoch: int
    recovering: bool = False  # the leader was elected uncleanly and has not settled what the log holds

    @staticmethod
    def path(partition: Partition) -> str:
        return f"{TOPICS}/{partition.topic}/partitions/{partition.number}/state"

    def encode(self) -> bytes:
        return write(
            {
                "controller_epoch": self.controller_epoch,
                "leader": self.leader,
                "version": 1,
                "leader_epoch": self.leader_epoch,
                "isr": self.isr,
                **({"leader_recovery_state": 1} if self.recovering else {}),
            }
        )

    @staticmethod
    def decode(path: str, data: bytes) -> PartitionStateZnode:
        fields = Fields.of(path, data)
        return PartitionStateZnode(
            BrokerId(fields.integer("leader")),
            fields.integer("leader_epoch"),
            _brokers(fields.integers("isr")),
            fields.integer("controller_epoch"),
            fields.integer("leader_recovery_state", 0) == 1,
        )


@dataclass(frozen=True, slots=True)
class ClusterIdZnode:
    id: str

    PATH = "/cluster/id"

    def encode(self) -> bytes:
        return write({"version": "1", "id": self.id})

    @staticmethod
    def decode(path: str, data: bytes) -> ClusterIdZnode:
        return ClusterIdZnode(Fields.of(path, data).text("id"))


# -- configuration -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConfigZnode:
    """What was set for one entity. Every topic has one, empty at first."""

    config: Mapping[str, str]

    @staticmethod
    def path(entity: ConfigEntity) -> str:
        return f"/config/{entity.kind}/{entity.name}"

    def encode(self) -> bytes:
        return write({"version": 1, "config": self.config})

    @staticmethod
    def decode(path: str, data: bytes) -> ConfigZnode:
        config = Fields.of(path, data).within("config")
        return ConfigZnode({name: config.text(name) for name in config.names()})


@dataclass(frozen=True, slots=True)
class ConfigChangeZnode:
    """Something was set for this entity: brokers read it again. It is removed after a quarter of an hour."""

    entity: ConfigEntity

    PARENT = "/config/changes"
    PREFIX = "/config/changes/config_change_"

    def encode(self) -> bytes:
        return write({"version": 2, "entity_path": f"{self.entity.kind}/{self.entity.name}"})

    @staticmethod
    def decode(path: str, data: bytes) -> ConfigChangeZnode:
        fields = Fields.of(path, data)
        if fields.integer("version") == 1:
            return ConfigChangeZnode(ConfigEntity(fields.text("entity_type"), fields.text("entity_name")))
        kind, slash, name = fields.text("entity_path").partition("/")
        if not (kind and slash and name):
            raise fields.bad("entity_path", "a kind and a name")
        return ConfigChangeZnode(ConfigEntity(kind, name))


# -- requests to the controller and notices to it ----------------------------------------------------------


class DeleteTopicZnode(NamedTuple):
    """The wish that a topic be deleted; it holds nothing."""

    topic: str

    @staticmethod
    def path(topic: str) -> str:
        return f"{DELETE_TOPICS}/{topic}"


@dataclass(frozen=True, slots=True)
class ReassignPartitionsZnode:
    """The wish that partitions be held by others, in the older way that tools still use."""

    replicas: Mapping[Partition, tuple[BrokerId, ...]]

    PATH = "/admin/reassign_partitions"

    def encode(self) -> bytes:
        partitions: list[JsonToWrite] = [
            {"topic": each.topic, "partition": each.number, "replicas": replicas}
            for each, replicas in self.replicas.items()
        ]
        return write({"version": 1, "partitions": partitions})

    @staticmethod
    def decode(path: str, data: bytes) -> ReassignPartitionsZnode:
        return ReassignPartitionsZnode(
            {_partition(each): _brokers(each.integers("replicas")) for each in _partitions(path, data)}
        )


@dataclass(frozen=True, slots=True)
class PreferredElectionZnode:
    """The wish that the first replica lead."""

    partitions: tuple[Partition, ...]

    PATH = "/admin/preferred_replica_election"

    def encode(self) -> bytes:
        return _encoded_partitions(self.partitions)

    @staticmethod
    def decode(path: str, data: bytes) -> PreferredElectionZnode:
        return PreferredElectionZnode(tuple(_partition(each) for each in _partitions(path, data)))


@dataclass(frozen=True, slots=True)
class IsrChangeZnode:
    """A leader of before AlterPartition changed the state of these itself."""

    partitions: tuple[Partition, ...]

    PARENT = "/isr_change_notification"
    PREFIX = "/isr_change_notification/isr_change_"

    def encode(self) -> bytes:
        return _encoded_partitions(self.partitions)

    @staticmethod
    def decode(path: str, data: bytes) -> IsrChangeZnode:
        return IsrChangeZnode(tuple(_partition(each) for each in _partitions(path, data)))


@dataclass(frozen=True, slots=True)
class LogDirEventZnode:
    """A log directory of this broker failed."""

    broker: BrokerId

    PARENT = "/log_dir_event_notification"
    PREFIX = "/log_dir_event_notification/log_dir_event_"

    def encode(self) -> bytes:
        return write({"version": 1, "broker": self.broker, "event": 1})

    @staticmethod
    def decode(path: str, data: bytes) -> LogDirEventZnode:
        return LogDirEventZnode(BrokerId(Fields.of(path, data).integer("broker")))


# -- the rest ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProducerIdBlockZnode:
    """The block of producer ids that was given out last. The node is there, and empty, before the first."""

    broker: BrokerId
    first: int
    last: int

    PATH = "/latest_producer_id_block"

    def encode(self) -> bytes:
        block = {"block_start": str(self.first), "block_end": str(self.last)}
        return write({"version": 1, "broker": self.broker, **block})

    @staticmethod
    def decode(path: str, data: bytes) -> ProducerIdBlockZnode:
        fields = Fields.of(path, data)
        return ProducerIdBlockZnode(
            BrokerId(fields.integer("broker", NO_BROKER)),
            fields.digits("block_start"),
            fields.digits("block_end"),
        )


@dataclass(frozen=True, slots=True)
class FeatureZnode:
    """Which features the whole cluster uses, at which level. Status 1: they may be used."""

    features: Mapping[str, int]
    status: int = 1

    PATH = "/feature"

    def encode(self) -> bytes:
        return write({"features": self.features, "version": 2, "status": self.status})

    @staticmethod
    def decode(path: str, data: bytes) -> FeatureZnode:
        fields = Fields.of(path, data)
        features = fields.within("features")
        return FeatureZnode(
            {name: features.integer(name) for name in features.names()}, fields.integer("status")
        )


# -- parts -------------------------------------------------------------------------------------------------


def _endpoints(path: str, fields: Fields) -> tuple[Endpoint, ...]:
    told = fields.within("listener_security_protocol_map")
    try:
        protocols = {name: SecurityProtocol[told.text(name)] for name in told.names()}
        return parse_endpoints(",".join(fields.texts("endpoints")), protocols or SecurityProtocol.__members__)
    except KeyError as unknown:
        raise BadZnode(path, f"{unknown.args[0]!r} is not a security protocol") from None
    except ValueError as bad:
        raise BadZnode(path, f"endpoints: {bad}") from None


def _range(fields: Fields) -> tuple[int, int]:
    return fields.integer("min_version"), fields.integer("max_version")


def _brokers(ids: tuple[int, ...]) -> tuple[BrokerId, ...]:
    return tuple(BrokerId(id) for id in ids)


def _by_number(replicas: Mapping[int, tuple[BrokerId, ...]]) -> dict[str, tuple[int, ...]]:
    return {str(number): brokers for number, brokers in replicas.items()}


def _numbered(path: str, fields: Fields) -> dict[int, tuple[BrokerId, ...]]:
    found = {}
    for name in fields.names():
        if not (name.isascii() and name.isdigit() and len(name) <= 10):
            raise BadZnode(path, f"{name!r} is not the number of a partition")
        found[int(name)] = _brokers(fields.integers(name))
    return dict(sorted(found.items()))


def _partitions(path: str, data: bytes) -> list[Fields]:
    return Fields.of(path, data).each("partitions")


def _partition(fields: Fields) -> Partition:
    return Partition(fields.text("topic"), fields.integer("partition"))


def _encoded_partitions(partitions: tuple[Partition, ...]) -> bytes:
    told: list[JsonToWrite] = [{"topic": each.topic, "partition": each.number} for each in partitions]
    return write({"version": 1, "partitions": told})
