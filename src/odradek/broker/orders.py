"""The controller's orders as messages: what it decided, in the words brokers are told it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from odradek.model.ids import NO_TOPIC_ID, BrokerId, Partition, TopicId
from odradek.wire.messages.cluster import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)

if TYPE_CHECKING:
    from odradek.controller.effects import StopReplicas, TellEverybody, TellReplicas
    from odradek.model.image import ClusterImage, PartitionImage

INCREMENTAL, FULL = 1, 2


def leader_and_isr(image: ClusterImage, controller: BrokerId, order: TellReplicas) -> LeaderAndIsrRequest:
    topics = [
        LeaderAndIsrTopicState(
            topic_name=name,
            topic_id=_topic_id(image, name),
            partition_states=tuple(
                _replica_state(image, each, order.states[each], is_new=each in order.new)
                for each in partitions
            ),
        )
        for name, partitions in _by_topic(order.states)
    ]
    return LeaderAndIsrRequest(
        controller_id=controller,
        controller_epoch=image.controller_epoch,
        broker_epoch=image.brokers[order.broker].epoch,
        type=FULL if order.full else INCREMENTAL,
        topic_states=tuple(topics),
        live_leaders=_live_leaders(image, order.states.values()),
    )


def update_metadata(
    image: ClusterImage, controller: BrokerId, broker: BrokerId, order: TellEverybody
) -> UpdateMetadataRequest:
    states = order.states
    return UpdateMetadataRequest(
        controller_id=controller,
        controller_epoch=image.controller_epoch,
        broker_epoch=image.brokers[broker].epoch,
        type=INCREMENTAL,
        topic_states=tuple(
            UpdateMetadataTopicState(
                topic_name=name,
                topic_id=_topic_id(image, name),
                partition_states=tuple(
                    UpdateMetadataPartitionState(
                        partition_index=each.number,
                        controller_epoch=image.controller_epoch,
                        leader=states[each].leader,
                        leader_epoch=states[each].leader_epoch,
                        isr=states[each].isr,
                        zk_version=states[each].epoch,
                        replicas=states[each].replicas,
                        offline_replicas=states[each].offline,
                    )
                    for each in partitions
                ),
            )
            for name, partitions in _by_topic(states)
        ),
        live_brokers=_live_brokers(image),
    )


def stop_replica(image: ClusterImage, controller: BrokerId, order: StopReplicas) -> StopReplicaRequest:
    return StopReplicaRequest(
        controller_id=controller,
        controller_epoch=image.controller_epoch,
        broker_epoch=image.brokers[order.broker].epoch,
        topic_states=tuple(
            StopReplicaTopicState(
                topic_name=name,
                partition_states=tuple(
                    StopReplicaPartitionState(
                        partition_index=each.number,
                        leader_epoch=order.epochs[each],
                        delete_partition=order.delete,
                    )
                    for each in partitions
                ),
            )
            for name, partitions in _by_topic(order.epochs)
        ),
    )


def _replica_state(
    image: ClusterImage, partition: Partition, state: PartitionImage, *, is_new: bool
) -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        partition_index=partition.number,
        controller_epoch=image.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        partition_epoch=state.epoch,
        replicas=state.replicas,
        adding_replicas=state.adding,
        removing_replicas=state.removing,
        is_new=is_new,
        leader_recovery_state=int(state.recovering),
    )


def _live_leaders(
    image: ClusterImage, states: Iterable[PartitionImage]
) -> tuple[LeaderAndIsrLiveLeader, ...]:
    leaders = {state.leader for state in states}
    return tuple(
        LeaderAndIsrLiveLeader(broker_id=broker.id, host_name=endpoint.host, port=endpoint.port)
        for broker in image.brokers.values()
        if broker.id in leaders
        for endpoint in broker.endpoints[:1]
    )


def _live_brokers(image: ClusterImage) -> tuple[UpdateMetadataBroker, ...]:
    return tuple(
        UpdateMetadataBroker(
            id=broker.id,
            endpoints=tuple(
                UpdateMetadataEndpoint(
                    port=endpoint.port,
                    host=endpoint.host,
                    listener=endpoint.listener,
                    security_protocol=endpoint.protocol.value,
                )
                for endpoint in broker.endpoints
            ),
            rack=broker.rack,
        )
        for broker in image.brokers.values()
    )


def _topic_id(image: ClusterImage, topic: str) -> TopicId:
    known = image.topics.get(topic)
    return NO_TOPIC_ID if known is None else known.id


def _by_topic(partitions: Iterable[Partition]) -> Iterator[tuple[str, list[Partition]]]:
    found: dict[str, list[Partition]] = {}
    for partition in sorted(partitions):
        found.setdefault(partition.topic, []).append(partition)
    yield from found.items()
