"""A topic that is asked for, by a request or because somebody looked for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.model.ids import BrokerId
from odradek.model.topic_names import CONSUMER_OFFSETS, TRANSACTION_STATE

if TYPE_CHECKING:
    from odradek.model.config.broker_config import BrokerConfig

BROKERS_DEFAULT = -1

Assignment = Mapping[int, tuple[BrokerId, ...]]


class NewTopic(NamedTuple):
    """Either `assignment` says who holds it, or the two counts do."""

    name: str
    partitions: int = BROKERS_DEFAULT
    copies: int = BROKERS_DEFAULT
    assignment: Assignment = {}
    config: Mapping[str, str | None] = {}

    @property
    def texts(self) -> dict[str, str]:
        return {key: value for key, value in self.config.items() if value is not None}


def automatic_topic(name: str, config: BrokerConfig) -> NewTopic:
    """As it is made when somebody asks for it: with the broker's defaults, or as coordinators need it."""
    if name == CONSUMER_OFFSETS:
        return NewTopic(
            name,
            config.integer("offsets.topic.num.partitions"),
            config.integer("offsets.topic.replication.factor"),
            config={
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": str(config.integer("offsets.topic.segment.bytes")),
            },
        )
    if name == TRANSACTION_STATE:
        return NewTopic(
            name,
            config.integer("transaction.state.log.num.partitions"),
            config.integer("transaction.state.log.replication.factor"),
            config={
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": str(config.integer("transaction.state.log.min.isr")),
                "segment.bytes": str(config.integer("transaction.state.log.segment.bytes")),
                "unclean.leader.election.enable": "false",
            },
        )
    return NewTopic(name)
