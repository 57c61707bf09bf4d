"""Topics come, go and grow: what is asked is checked here, written by `broker/topics.py`, and waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from odradek.broker.described import topic_entries
from odradek.broker.new_topic import NewTopic
from odradek.broker.topics import already_exists
from odradek.model.config.topic_config import TopicConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_TOPIC_ID, BrokerId, TopicId
from odradek.model.topic_names import CLUSTER_METADATA
from odradek.wire.messages.topics import (
    CreatedTopic,
    CreatedTopicConfig,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
    CreateTopicsResponse,
    DeletedTopic,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.model.image import TopicImage
    from odradek.wire.messages.topics import (
        CreatableTopic,
        CreatePartitionsRequest,
        CreatePartitionsTopic,
        CreateTopicsRequest,
        DeleteTopicsRequest,
    )

DESCRIBES_WHAT_IS_MADE_SINCE = 5
TELLS_OF_DISABLED_DELETION_SINCE = 3
BY_ID_SINCE = 6
TIMED_OUT = ApiError(ErrorCode.REQUEST_TIMED_OUT)


# -- CreateTopics ------------------------------------------------------------------------------------------


class Creation:
    """One topic of a request: what is to be made, or why it is not."""

    __slots__ = ("new", "planned", "refusal")

    def __init__(self, new: NewTopic) -> None:
        self.new = new
        self.planned: TopicImage | None = None
        self.refusal: ApiError | None = None


async def create_topics(ctx: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    ctx.require_controller()
    creations = [Creation(_new(topic)) for topic in request.topics]
    ctx.services.topics.check_number(each.new for each in creations)
    _plan(ctx, creations)
    if not request.validate_only:
        await _create(ctx, [each for each in creations if each.planned is not None], request.timeout_ms)
    configs = _Configs(ctx)
    return CreateTopicsResponse(
        topics=tuple(_created(each, configs, exists=not request.validate_only) for each in creations)
    )


def refuse_create_topics(request: CreateTopicsRequest, refusal: ApiError) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=tuple(_not_created(topic.name, refusal) for topic in request.topics))


def _new(asked: CreatableTopic) -> NewTopic:
    return NewTopic(
        asked.name,
        asked.num_partitions,
        asked.replication_factor,
        {each.partition_index: tuple(map(BrokerId, each.broker_ids)) for each in asked.assignments},
        {each.name: each.value for each in asked.configs},
    )


def _plan(ctx: RequestContext, creations: Sequence[Creation]) -> None:
    topics = ctx.services.topics
    asked = Counter(each.new.name for each in creations)
    taken = topics.names_taken()
    for each in creations:
        try:
            if asked[each.new.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Found multiple entries for this topic.")
            if each.new.name == CLUSTER_METADATA:
                raise ApiError(
                    ErrorCode.INVALID_REQUEST, f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
                )
            each.planned = topics.plan(each.new, taken)
        except ApiError as refusal:
            each.refusal = refusal


async def _create(ctx: RequestContext, creations: Sequence[Creation], timeout_ms: int) -> None:
    topics = ctx.services.topics
    planned = [each.planned for each in creations if each.planned is not None]
    made = await topics.create(planned, [each.new.texts for each in creations])
    for each, is_new in zip(creations, made, strict=True):
        if not is_new:  # of somebody else's making, and not shown yet
            each.planned, each.refusal = None, already_exists(each.new.name)
    names = [each.new.name for each in creations if each.planned is not None]
    if timeout_ms > 0:
        await topics.until(lambda: all(map(topics.is_ready, names)), timeout_ms / 1000)
    for each in creations:
        if each.planned is not None and (timeout_ms <= 0 or not topics.is_ready(each.new.name)):
            each.refusal = TIMED_OUT


class _Configs:
    """What the topics made obey. Topics of equal configurations share what is told of them."""

    def __init__(self, ctx: RequestContext) -> None:
        self._broker = ctx.services.configs.broker
        self._is_asked_for = ctx.version >= DESCRIBES_WHAT_IS_MADE_SINCE
        self._told: dict[tuple[tuple[str, str], ...], tuple[CreatedTopicConfig, ...]] = {}

    def of(self, new: NewTopic) -> tuple[CreatedTopicConfig, ...]:
        if not self._is_asked_for:
            return ()
        texts = tuple(new.texts.items())
        if texts not in self._told:
            self._told[texts] = tuple(
                CreatedTopicConfig(
                    name=entry.name,
                    value=entry.text,
                    read_only=entry.is_read_only,
                    config_source=entry.source,
                    is_sensitive=entry.is_sensitive,
                )
                for entry in topic_entries(TopicConfig(self._broker, new.texts))
            )
        return self._told[texts]


def _created(creation: Creation, configs: _Configs, *, exists: bool) -> CreatedTopic:
    planned, refusal = creation.planned, creation.refusal
    id = planned.id if planned is not None and exists else NO_TOPIC_ID
    if refusal is not None:
        return _not_created(creation.new.name, refusal, id)
    assert planned is not None
    return CreatedTopic(
        name=planned.name,
        topic_id=id,
        error_code=0,
        error_message=None,
        num_partitions=len(planned.partitions),
        replication_factor=len(planned.partitions[0].replicas),
        configs=configs.of(creation.new),
    )


def _not_created(name: str, refusal: ApiError, id: TopicId = NO_TOPIC_ID) -> CreatedTopic:
    return CreatedTopic(
        name=name, topic_id=id, error_code=refusal.error.code, error_message=refusal.detail or None
    )


# -- DeleteTopics ------------------------------------------------------------------------------------------


async def delete_topics(ctx: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    ctx.require_controller()
    _check_may_delete(ctx)
    topics, known = ctx.services.topics, ctx.services.metadata.image.topics
    asked = _asked_deletions(ctx, request)
    going = {each.name: known[each.name].id for each in asked if each.error_code == 0 and each.name}
    await topics.request_deletion(list(going))

    def is_gone(name: str | None) -> bool:
        shown = ctx.services.metadata.image.topics.get(name or "")
        return shown is None or shown.id != going[shown.name]

    if request.timeout_ms > 0:
        await topics.until(lambda: all(map(is_gone, going)), request.timeout_ms / 1000)
    late = {name for name in going if request.timeout_ms <= 0 or not is_gone(name)}
    return DeleteTopicsResponse(
        responses=tuple(
            _deletion(each.name, each.topic_id, TIMED_OUT if each.name in late else None)
            if each.error_code == 0
            else each
            for each in asked
        )
    )


def refuse_delete_topics(request: DeleteTopicsRequest, refusal: ApiError) -> DeleteTopicsResponse:
    states = [(each.name, each.topic_id) for each in request.topics]
    states += [(name, NO_TOPIC_ID) for name in request.topic_names]
    return DeleteTopicsResponse(responses=tuple(_deletion(*each, refusal) for each in states))


def _check_may_delete(ctx: RequestContext) -> None:
    if not ctx.services.configs.broker.boolean("delete.topic.enable"):
        is_known = ctx.version >= TELLS_OF_DISABLED_DELETION_SINCE
        raise ApiError(ErrorCode.TOPIC_DELETION_DISABLED if is_known else ErrorCode.INVALID_REQUEST)


def _asked_deletions(ctx: RequestContext, request: DeleteTopicsRequest) -> list[DeletedTopic]:
    """Each topic as it will be answered if all goes well, or its refusal."""
    image = ctx.services.metadata.image
    if ctx.version < BY_ID_SINCE:
        wanted: list[tuple[str | None, bytes]] = [(name, NO_TOPIC_ID) for name in request.topic_names]
    else:
        wanted = [(each.name, each.topic_id) for each in request.topics]
    found = []
    for name, id in wanted:
        refusal = None
        if name is not None and id != NO_TOPIC_ID:
            refusal = ApiError(ErrorCode.INVALID_REQUEST, "a topic has a name or an id, not both")
        elif name is None:
            name = image.topic_names.get(TopicId(id))
            refusal = None if name is not None else ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        elif name not in image.topics:
            refusal = ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        found.append(_deletion(name, id, refusal))
    return found


def _deletion(name: str | None, id: bytes, refusal: ApiError | None) -> DeletedTopic:
    if refusal is None:
        return DeletedTopic(name=name, topic_id=id, error_code=0)
    return DeletedTopic(
        name=name, topic_id=id, error_code=refusal.error.code, error_message=refusal.detail or None
    )


# -- CreatePartitions --------------------------------------------------------------------------------------


async def create_partitions(
    ctx: RequestContext, request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    ctx.require_controller()
    asked = Counter(topic.name for topic in request.topics)
    outcomes: dict[str, TopicImage | ApiError] = {}
    for topic in request.topics:
        if asked[topic.name] > 1:
            outcomes[topic.name] = ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
        else:
            outcomes[topic.name] = await _grow(ctx, topic, is_tried=request.validate_only)
    if not request.validate_only:
        await _until_grown(ctx, outcomes, request.timeout_ms)
    return CreatePartitionsResponse(results=tuple(_grown(name, each) for name, each in outcomes.items()))


def refuse_create_partitions(request: CreatePartitionsRequest, refusal: ApiError) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(results=tuple(_grown(each.name, refusal) for each in request.topics))


async def _grow(
    ctx: RequestContext, asked: CreatePartitionsTopic, *, is_tried: bool
) -> TopicImage | ApiError:
    topics = ctx.services.topics
    topic = ctx.services.metadata.image.topics.get(asked.name)
    added = asked.assignments
    try:
        if await topics.is_going(asked.name):
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is queued for deletion.")
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{asked.name}' does not exist.")
        held = None if added is None else [tuple(map(BrokerId, each.broker_ids)) for each in added]
        grown = topics.plan_growth(topic, asked.count, held)
        if not is_tried:
            await topics.grow(grown)
    except ApiError as refusal:
        return refusal
    return grown


async def _until_grown(
    ctx: RequestContext, outcomes: dict[str, TopicImage | ApiError], timeout_ms: int
) -> None:
    topics, metadata = ctx.services.topics, ctx.services.metadata
    growing = {
        name: len(each.partitions) for name, each in outcomes.items() if not isinstance(each, ApiError)
    }

    def is_grown(name: str) -> bool:
        shown = metadata.image.topics.get(name)
        return shown is not None and len(shown.partitions) >= growing[name] and topics.is_ready(name)

    if timeout_ms > 0:
        await topics.until(lambda: all(map(is_grown, growing)), timeout_ms / 1000)
    for name in growing:
        if timeout_ms <= 0 or not is_grown(name):
            outcomes[name] = TIMED_OUT


def _grown(name: str, outcome: TopicImage | ApiError) -> CreatePartitionsTopicResult:
    if not isinstance(outcome, ApiError):
        return CreatePartitionsTopicResult(name=name, error_code=0)
    return CreatePartitionsTopicResult(
        name=name, error_code=outcome.error.code, error_message=outcome.detail or None
    )
