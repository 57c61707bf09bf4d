"""What we support, who is there, who leads what."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING

from odradek.broker.context import ClientSoftware
from odradek.broker.coordinators import coordinator, create_topic
from odradek.broker.handlers.features import features
from odradek.broker.operations import NOT_ASKED_FOR, ON_CLUSTER, ON_TOPIC
from odradek.model import topic_names
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, NO_TOPIC_ID, TopicId
from odradek.model.topic_names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.wire.messages.metadata import (
    ApiVersion,
    ApiVersionsResponse,
    Coordinator,
    Cursor,
    DescribeClusterBroker,
    DescribeClusterResponse,
    DescribedPartition,
    DescribedTopic,
    DescribeTopicPartitionsResponse,
    FindCoordinatorResponse,
    MetadataResponse,
    MetadataTopic,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.services import Services
    from odradek.model.image import TopicImage
    from odradek.wire.messages.metadata import (
        ApiVersionsRequest,
        DescribeClusterRequest,
        DescribeTopicPartitionsRequest,
        FindCoordinatorRequest,
        MetadataRequest,
        MetadataRequestTopic,
    )

BROKERS, CONTROLLERS = 1, 2  # endpoint types
COORDINATED_BY = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}  # kinds of keys
MANY_KEYS_SINCE = 4  # of FindCoordinator
HAS_IDS_SINCE, BY_ID_SINCE = 10, 12  # Metadata: between them a request can say an id and may not
NO_PORT = -1


# -- ApiVersions -------------------------------------------------------------------------------------------


def api_versions(ctx: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    services = ctx.services
    if ctx.version >= 3 and not _is_software(request.client_software_name, request.client_software_version):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    ctx.connection.session = ClientSoftware(request.client_software_name, request.client_software_version)
    is_meant = request.cluster_id in (None, services.metadata.image.cluster_id)
    if not is_meant or request.node_id not in (-1, services.node_id):
        raise ApiError(ErrorCode.REBOOTSTRAP_REQUIRED)
    epoch, supported, finalized = features(services.metadata.image, ctx.version)
    return ApiVersionsResponse(
        error_code=0,
        api_keys=services.api_versions,
        supported_features=supported,
        finalized_features_epoch=epoch,
        finalized_features=finalized,
    )


def refuse_api_versions(request: ApiVersionsRequest, refusal: ApiError) -> ApiVersionsResponse:
    del request
    return ApiVersionsResponse(error_code=refusal.error.code, api_keys=())


def refuse_version(services: Services) -> ApiVersionsResponse:
    """The answer to a version of ApiVersions that is not ours, in v0: ask again with one of these."""
    ours = tuple(each for each in services.api_versions if each.api_key == 18)
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION.code, api_keys=ours)


def _is_software(*names: str) -> bool:
    """Letters, digits, dots and dashes, not at the ends: they become labels of metrics."""
    return all(
        name and name[0].isalnum() and name[-1].isalnum() and name.isascii()
        and all(each.isalnum() or each in ".-" for each in name)
        for name in names
    )  # fmt: skip


# -- Metadata ----------------------------------------------------------------------------------------------


def metadata(
    ctx: RequestContext, request: MetadataRequest
) -> MetadataResponse | Coroutine[object, object, MetadataResponse]:
    if HAS_IDS_SINCE <= ctx.version < BY_ID_SINCE:
        _check_named(request)
    missing = _to_be_created(ctx, request)
    return _create_first(ctx, request, missing) if missing else _metadata(ctx, request)


def _check_named(request: MetadataRequest) -> None:
    if any(topic.name is None or topic.topic_id != NO_TOPIC_ID for topic in request.topics or ()):
        raise ApiError(ErrorCode.INVALID_REQUEST, "topics are asked for by their names")


async def _create_first(
    ctx: RequestContext, request: MetadataRequest, missing: list[str]
) -> MetadataResponse:
    return _metadata(ctx, request, await ctx.services.topics.create_automatically(missing))


def _to_be_created(ctx: RequestContext, request: MetadataRequest) -> list[str]:
    services = ctx.services
    if not (request.allow_auto_topic_creation and request.topics and services.auto_creates_topics):
        return []
    known = services.metadata.image.topics
    named = [
        topic.name for topic in request.topics if topic.name is not None and topic.topic_id == NO_TOPIC_ID
    ]
    return [name for name in named if name not in known and topic_names.complaint(name) is None]


def _metadata(
    ctx: RequestContext, request: MetadataRequest, refused: Mapping[str, ErrorCode] = {}
) -> MetadataResponse:
    """`refused`: what should have been created and could not be."""
    metadata = ctx.services.metadata
    image = metadata.image
    return MetadataResponse(
        brokers=metadata.brokers(ctx.listener),
        cluster_id=image.cluster_id,
        controller_id=image.controller,
        topics=tuple(_topics(ctx, request, refused)),
        cluster_authorized_operations=(
            ON_CLUSTER if request.include_cluster_authorized_operations else NOT_ASKED_FOR
        ),
    )


def _topics(
    ctx: RequestContext, request: MetadataRequest, refused: Mapping[str, ErrorCode]
) -> Iterable[MetadataTopic]:
    metadata = ctx.services.metadata
    image, listener = metadata.image, ctx.listener
    asks_for_all = request.topics is None or (ctx.version == 0 and not request.topics)
    if asks_for_all:
        found = [metadata.topic(topic, listener) for topic in image.topics.values()]
    else:
        assert request.topics is not None
        told = (_asked_topic(ctx, asked, refused) for asked in request.topics)
        found = list({topic.name or topic.topic_id: topic for topic in told}.values())
    if request.include_topic_authorized_operations:
        found = [_with_operations(topic) for topic in found]
    return found


def _asked_topic(
    ctx: RequestContext, asked: MetadataRequestTopic, refused: Mapping[str, ErrorCode]
) -> MetadataTopic:
    metadata = ctx.services.metadata
    image = metadata.image
    if asked.topic_id != NO_TOPIC_ID:
        topic = image.topic_of(TopicId(asked.topic_id))
        if topic is None:
            return _no_topic(None, ErrorCode.UNKNOWN_TOPIC_ID, asked.topic_id)
        return metadata.topic(topic, ctx.listener)
    name = asked.name or ""
    known = image.topics.get(name)
    if known is not None:
        return metadata.topic(known, ctx.listener)
    if topic_names.complaint(name) is not None:
        return _no_topic(name, ErrorCode.INVALID_TOPIC_EXCEPTION)
    return _no_topic(name, refused.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))


def _no_topic(name: str | None, error: ErrorCode, id: bytes = NO_TOPIC_ID) -> MetadataTopic:
    is_internal = name is not None and topic_names.is_internal(name)
    return MetadataTopic(
        error_code=error.code, name=name, topic_id=id, is_internal=is_internal, partitions=()
    )


def _with_operations(topic: MetadataTopic) -> MetadataTopic:
    return MetadataTopic(
        error_code=topic.error_code,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=topic.partitions,
        topic_authorized_operations=NOT_ASKED_FOR if topic.name is None else ON_TOPIC,
    )


def refuse_metadata(request: MetadataRequest, refusal: ApiError) -> MetadataResponse:
    asked = request.topics or ()
    topics = tuple(_no_topic(topic.name or "", refusal.error, topic.topic_id) for topic in asked)
    return MetadataResponse(brokers=(), topics=topics)


# -- FindCoordinator ---------------------------------------------------------------------------------------


def find_coordinator(
    ctx: RequestContext, request: FindCoordinatorRequest
) -> FindCoordinatorResponse | Coroutine[object, object, FindCoordinatorResponse]:
    topic = COORDINATED_BY.get(request.key_type)
    if topic is None or topic in ctx.services.metadata.image.topics:
        return _coordinators(ctx, request)
    return _create_topic_first(ctx, request, topic)


async def _create_topic_first(
    ctx: RequestContext, request: FindCoordinatorRequest, topic: str
) -> FindCoordinatorResponse:
    await create_topic(ctx.services.topics, topic)
    return _coordinators(ctx, request)


def _coordinators(ctx: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    if ctx.version >= MANY_KEYS_SINCE:
        keys = request.coordinator_keys
        return FindCoordinatorResponse(
            coordinators=tuple(_coordinator(ctx, key, request.key_type) for key in keys)
        )
    found = _coordinator(ctx, request.key, request.key_type)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=ErrorCode.of(found.error_code).name,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _coordinator(ctx: RequestContext, key: str, key_type: int) -> Coordinator:
    topic = COORDINATED_BY.get(key_type)
    broker = None if topic is None else coordinator(ctx.services.metadata, topic, key, ctx.listener)
    if broker is None:
        error = ErrorCode.INVALID_REQUEST if topic is None else ErrorCode.COORDINATOR_NOT_AVAILABLE
        return Coordinator(
            key=key, node_id=NO_BROKER, host="", port=NO_PORT, error_code=error.code, error_message=""
        )
    return Coordinator(
        key=key,
        node_id=broker.node_id,
        host=broker.host,
        port=broker.port,
        error_code=0,
        error_message="",
    )


# -- DescribeCluster ---------------------------------------------------------------------------------------


def describe_cluster(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    if request.endpoint_type == CONTROLLERS:
        raise ApiError(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER",
        )
    if request.endpoint_type != BROKERS:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        )
    metadata = ctx.services.metadata
    return DescribeClusterResponse(
        error_code=0,
        endpoint_type=BROKERS,
        cluster_id=metadata.image.cluster_id,
        controller_id=metadata.image.controller,
        brokers=tuple(
            DescribeClusterBroker(broker_id=each.node_id, host=each.host, port=each.port, rack=each.rack)
            for each in metadata.brokers(ctx.listener)
        ),
        cluster_authorized_operations=(
            ON_CLUSTER if request.include_cluster_authorized_operations else NOT_ASKED_FOR
        ),
    )


# -- DescribeTopicPartitions -------------------------------------------------------------------------------


def describe_topic_partitions(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """In the order of their names, from the cursor on, no more partitions than asked for."""
    image = ctx.services.metadata.image
    cursor = request.cursor
    asks_for_all = not request.topics
    names = sorted(image.topics if asks_for_all else {topic.name for topic in request.topics})
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
    room = max(1, min(request.response_partition_limit, ctx.services.partitions_described_max))
    described: list[DescribedTopic] = []
    for name in names:
        first = cursor.partition_index if cursor is not None and name == cursor.topic_name else 0
        topic = image.topics.get(name)
        if topic is None:
            described.append(_undescribed(name))
            continue
        if room == 0:
            return DescribeTopicPartitionsResponse(
                topics=tuple(described), next_cursor=Cursor(topic_name=name, partition_index=first)
            )
        numbers = [number for number in sorted(topic.partitions) if number >= first]
        described.append(_described(ctx, topic, numbers[:room]))
        if len(numbers) > room:
            return DescribeTopicPartitionsResponse(
                topics=tuple(described), next_cursor=Cursor(topic_name=name, partition_index=numbers[room])
            )
        room -= len(numbers)
    return DescribeTopicPartitionsResponse(topics=tuple(described))


def refuse_describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, refusal: ApiError
) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=tuple(
            DescribedTopic(
                error_code=refusal.error.code, name=topic.name, topic_id=NO_TOPIC_ID, partitions=()
            )
            for topic in request.topics
        )
    )


def _undescribed(name: str) -> DescribedTopic:
    is_legal = topic_names.complaint(name) is None
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_legal else ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribedTopic(error_code=error.code, name=name, topic_id=NO_TOPIC_ID, partitions=())


def _described(ctx: RequestContext, topic: TopicImage, numbers: Iterable[int]) -> DescribedTopic:
    metadata = ctx.services.metadata
    partitions = []
    for number in numbers:
        partition = topic.partitions[number]
        leader, error = metadata.leader_of(partition, ctx.listener)
        partitions.append(
            DescribedPartition(
                error_code=error.code,
                partition_index=number,
                leader_id=leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=(),
                last_known_elr=(),
                offline_replicas=metadata.offline_replicas(partition),
            )
        )
    return DescribedTopic(
        error_code=0,
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic_names.is_internal(topic.name),
        partitions=tuple(partitions),
        topic_authorized_operations=ON_TOPIC,
    )


def served(versions: Iterable[tuple[int, int, int]]) -> tuple[ApiVersion, ...]:
    """The table of what is served, as it is answered: (key, oldest, newest)."""
    return tuple(
        ApiVersion(api_key=key, min_version=oldest, max_version=newest) for key, oldest, newest in versions
    )
