"""Orders from the controller, and proposals to it. Orders of a controller that was replaced are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.broker.orders import FULL
from odradek.controller.effects import LEADER_WHILE_DELETED
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.model.ids import BrokerId, Partition, TopicId
from odradek.model.image import BrokerImage, ClusterImage, PartitionImage, TopicImage
from odradek.model.listeners import Endpoint, SecurityProtocol
from odradek.replication.replica import Order
from odradek.wire.messages.cluster import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    StopReplicaPartitionError,
    StopReplicaResponse,
    UpdateMetadataResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.services import Services
    from odradek.wire.messages.cluster import (
        LeaderAndIsrPartitionState,
        LeaderAndIsrRequest,
        LeaderAndIsrTopicState,
        StopReplicaRequest,
        UpdateMetadataRequest,
        UpdateMetadataTopicState,
    )

NO_BROKER_EPOCH = -1
TURN_S = 0.005  # how long orders are obeyed at a stretch


# -- LeaderAndIsr ------------------------------------------------------------------------------------------


async def leader_and_isr(ctx: RequestContext, request: LeaderAndIsrRequest) -> LeaderAndIsrResponse:
    return await lead_and_follow(ctx.services, request)


async def lead_and_follow(services: Services, request: LeaderAndIsrRequest) -> LeaderAndIsrResponse:
    """For the controller in this very process as well. Making a log takes milliseconds of disk, and an order
    may name thousands: others get their turn in between."""
    _check_sender(services, request.controller_epoch, request.broker_epoch)
    if request.type == FULL:
        told = {
            Partition(topic.topic_name, state.partition_index)
            for topic in request.topic_states
            for state in topic.partition_states
        }
        services.replicas.stop_strays(told)
    topics = []
    began = services.clock.monotonic()
    for topic in request.topic_states:
        errors = []
        for state in topic.partition_states:
            if services.clock.monotonic() - began > TURN_S:
                await asyncio.sleep(0)
                began = services.clock.monotonic()
            error = _obey(services, topic, state)
            errors.append(
                LeaderAndIsrPartitionError(partition_index=state.partition_index, error_code=error.code)
            )
        topics.append(LeaderAndIsrTopicError(topic_id=topic.topic_id, partition_errors=tuple(errors)))
    return LeaderAndIsrResponse(error_code=0, topics=tuple(topics))


def _obey(services: Services, topic: LeaderAndIsrTopicState, state: LeaderAndIsrPartitionState) -> ErrorCode:
    name = Partition(topic.topic_name, state.partition_index)
    order = Order(
        leader=BrokerId(state.leader),
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch,
        isr=frozenset(map(BrokerId, state.isr)),
        replicas=tuple(map(BrokerId, state.replicas)),
    )
    try:
        services.replicas.obey(name, TopicId(topic.topic_id), order)
    except ApiError as refusal:
        return refusal.error
    except StorageError:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE


# -- StopReplica -------------------------------------------------------------------------------------------


def stop_replica(ctx: RequestContext, request: StopReplicaRequest) -> StopReplicaResponse:
    return stop_hosting(ctx.services, request)


def stop_hosting(services: Services, request: StopReplicaRequest) -> StopReplicaResponse:
    _check_sender(services, request.controller_epoch, request.broker_epoch)
    orders = [
        (Partition(topic.topic_name, state.partition_index), state.delete_partition)
        for topic in request.topic_states
        for state in topic.partition_states
    ]
    services.replicas.stop([name for name, delete in orders if not delete], delete=False)
    services.replicas.stop([name for name, delete in orders if delete], delete=True)
    return StopReplicaResponse(
        error_code=0,
        partition_errors=tuple(
            StopReplicaPartitionError(topic_name=name.topic, partition_index=name.number, error_code=0)
            for name, _ in orders
        ),
    )


# -- UpdateMetadata ----------------------------------------------------------------------------------------


def update_metadata(ctx: RequestContext, request: UpdateMetadataRequest) -> UpdateMetadataResponse:
    return take_in(ctx.services, request)


def take_in(services: Services, request: UpdateMetadataRequest) -> UpdateMetadataResponse:
    _check_sender(services, request.controller_epoch, request.broker_epoch)
    image = services.metadata.image
    brokers = list(_brokers(request, image))
    alive = {broker.id for broker in brokers}
    if brokers != list(image.brokers.values()):
        image = image.with_brokers(brokers, [each for each in image.brokers if each not in alive])
    image = image.with_controller(BrokerId(request.controller_id), request.controller_epoch)
    topics = [_topic(image, topic) for topic in request.topic_states]
    image = image.with_topics(topic for topic in topics if topic.partitions)
    image = image.without_topics(topic.name for topic in topics if not topic.partitions)
    services.metadata.swap(image)
    return UpdateMetadataResponse(error_code=0)


def _brokers(request: UpdateMetadataRequest, image: ClusterImage) -> Iterator[BrokerImage]:
    for broker in request.live_brokers:
        id = BrokerId(broker.id)
        known = image.brokers.get(id)
        yield BrokerImage(
            id,
            known.epoch if known is not None else NO_BROKER_EPOCH,
            tuple(
                Endpoint(each.listener, SecurityProtocol(each.security_protocol), each.host, each.port)
                for each in broker.endpoints
            ),
            broker.rack,
        )


def _topic(image: ClusterImage, told: UpdateMetadataTopicState) -> TopicImage:
    """The topic after this; without partitions when all of it is being deleted."""
    known = image.topics.get(told.topic_name)
    id = TopicId(told.topic_id)
    partitions = dict(known.partitions) if known is not None and known.id == id else {}
    for state in told.partition_states:
        if state.leader == LEADER_WHILE_DELETED:
            partitions.pop(state.partition_index, None)
            continue
        partitions[state.partition_index] = PartitionImage(
            replicas=tuple(map(BrokerId, state.replicas)),
            leader=BrokerId(state.leader),
            isr=tuple(map(BrokerId, state.isr)),
            leader_epoch=state.leader_epoch,
            epoch=state.zk_version,
            offline=tuple(map(BrokerId, state.offline_replicas)),
        )
    return TopicImage(told.topic_name, id, partitions)


def _check_sender(services: Services, controller_epoch: int, broker_epoch: int) -> None:
    known = services.metadata.image.controller_epoch
    if controller_epoch < known:
        raise ApiError(ErrorCode.STALE_CONTROLLER_EPOCH, f"{controller_epoch}, there was already {known}")
    if broker_epoch not in (NO_BROKER_EPOCH, services.broker_epoch):
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH, f"{broker_epoch}, this broker's is {services.broker_epoch}"
        )
