"""Settings of topics, brokers, loggers and client metrics: described from what is written and what holds,
altered in the store.

Any broker alters topics and what holds for every broker; what is one broker's own (its settings, its loggers)
it alters itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

from odradek.broker import loggers
from odradek.broker.config_alterations import alteration, altered, check_pairs
from odradek.broker.config_resources import (
    EVERY_BROKER,
    Configured,
    Kind,
    configured,
    id_number,
    unknown_type,
)
from odradek.broker.described import (
    Entry,
    broker_entries,
    client_metrics_entries,
    cluster_entries,
    logger_entries,
    topic_entries,
)
from odradek.model import topic_names
from odradek.model.config.topic_config import TopicConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.image import CLIENT_METRICS, ConfigEntity
from odradek.wire.messages.configs import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    ConfigResource,
    ConfigSynonym,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribedConfig,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from odradek.broker.config_alterations import Alteration
    from odradek.broker.context import RequestContext
    from odradek.wire.messages.configs import (
        AlterConfigsRequest,
        AlterConfigsResource,
        DescribeConfigsRequest,
        DescribeConfigsResource,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResource,
        ListConfigResourcesRequest,
    )

ANY_TYPE_SINCE = 1


_TYPES = frozenset(kind.value for kind in Kind)

Texts: TypeAlias = Mapping[str, str]


class Resource(Protocol):
    """What is to be altered, whichever request asks for it."""

    @property
    def resource_type(self) -> int: ...
    @property
    def resource_name(self) -> str: ...


# -- DescribeConfigs ---------------------------------------------------------------------------------------


async def describe_configs(ctx: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    results = []
    for resource in request.resources:
        try:
            entries = await _entries(ctx, resource)
            results.append(_described(resource, entries, request))
        except ApiError as refusal:
            results.append(_undescribed(resource, refusal))
    return DescribeConfigsResponse(results=tuple(results))


def refuse_describe_configs(request: DescribeConfigsRequest, refusal: ApiError) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=tuple(_undescribed(each, refusal) for each in request.resources))


async def _entries(ctx: RequestContext, resource: DescribeConfigsResource) -> Iterator[Entry]:
    changes, broker = ctx.services.config_changes, ctx.services.configs.broker
    name = resource.resource_name
    match resource.resource_type:
        case Kind.TOPIC.value:
            _check_topic_exists(ctx, name)
            (texts,) = await changes.read([ConfigEntity.topic(name)])
            return topic_entries(TopicConfig(broker, texts or {}))
        case Kind.BROKER.value:
            return _broker_entries(ctx, name)
        case Kind.BROKER_LOGGER.value:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_is_us(ctx, name, expected=str(ctx.services.node_id))
            return logger_entries(loggers.levels())
        case Kind.CLIENT_METRICS.value:
            if not name:
                raise ApiError(
                    ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty"
                )
            (texts,) = await changes.read([ConfigEntity.client_metrics(name)])
            return client_metrics_entries(texts or {})
    raise unknown_type(resource.resource_type)


def _broker_entries(ctx: RequestContext, name: str) -> Iterator[Entry]:
    image, broker = ctx.services.metadata.image, ctx.services.configs.broker
    everywhere = image.config(ConfigEntity.every_broker())
    if name == EVERY_BROKER:
        return cluster_entries(broker, everywhere)
    _check_is_us(ctx, name, expected=f"{ctx.services.node_id} or empty string,")
    return broker_entries(broker, image.config(ConfigEntity.broker(ctx.services.node_id)), everywhere)


def _check_topic_exists(ctx: RequestContext, name: str) -> None:
    complaint = topic_names.complaint(name)
    if complaint is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {complaint}")
    if name not in ctx.services.metadata.image.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _check_is_us(ctx: RequestContext, name: str, *, expected: str) -> None:
    if id_number(name, "Broker") != ctx.services.node_id:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {expected} but received {name}"
        )


def _described(
    resource: DescribeConfigsResource, entries: Iterable[Entry], request: DescribeConfigsRequest
) -> DescribeConfigsResult:
    wanted = set(resource.configuration_keys or ())
    return DescribeConfigsResult(
        error_code=0,
        error_message="",
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=tuple(
            DescribedConfig(
                name=entry.name,
                value=entry.text,
                read_only=entry.is_read_only,
                config_source=entry.source,
                is_sensitive=entry.is_sensitive,
                synonyms=_synonyms(entry) if request.include_synonyms else (),
                config_type=entry.kind,
                documentation=entry.meaning if request.include_documentation or not entry.meaning else None,
            )
            for entry in entries
            if not wanted or entry.name in wanted
        ),
    )


def _synonyms(entry: Entry) -> tuple[ConfigSynonym, ...]:
    return tuple(
        ConfigSynonym(name=each.name, value=each.text, source=each.source.value) for each in entry.synonyms
    )


def _undescribed(resource: DescribeConfigsResource, refusal: ApiError) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=refusal.error.code,
        error_message=refusal.detail,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=(),
    )


# -- AlterConfigs and IncrementalAlterConfigs --------------------------------------------------------------


async def alter_configs(ctx: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    answers = []
    asked = _asked(request.resources)
    for resource in request.resources:
        try:
            _check_once(resource, asked)
            await _replace(ctx, resource, is_tried=request.validate_only)
            answers.append(_altered(resource))
        except ApiError as refusal:
            answers.append(_altered(resource, refusal))
    return AlterConfigsResponse(responses=tuple(answers))


def refuse_alter_configs(request: AlterConfigsRequest, refusal: ApiError) -> AlterConfigsResponse:
    return AlterConfigsResponse(responses=tuple(_altered(each, refusal) for each in request.resources))


async def incremental_alter_configs(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    answers = []
    asked = _asked(request.resources)
    for resource in request.resources:
        try:
            _check_once(resource, asked)
            await _change(ctx, resource, is_tried=request.validate_only)
            answers.append(_altered(resource))
        except ApiError as refusal:
            answers.append(_altered(resource, refusal))
    return IncrementalAlterConfigsResponse(responses=tuple(answers))


def refuse_incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, refusal: ApiError
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=tuple(_altered(each, refusal) for each in request.resources)
    )


async def _replace(ctx: RequestContext, resource: AlterConfigsResource, *, is_tried: bool) -> None:
    pairs = [(each.name, each.value) for each in resource.configs]
    check_pairs(pairs, may_be_null=lambda _: False)
    if resource.resource_type == Kind.BROKER_LOGGER.value:
        raise unknown_type(resource.resource_type)
    texts = {key: text for key, text in pairs if text is not None}
    written = configured(ctx.services, resource.resource_type, resource.resource_name)
    await _write(ctx, written, lambda _: texts, is_tried=is_tried)


async def _change(ctx: RequestContext, resource: IncrementalAlterConfigsResource, *, is_tried: bool) -> None:
    alterations = _alterations(resource)
    if resource.resource_type == Kind.BROKER_LOGGER.value:
        if id_number(resource.resource_name, "Node") != ctx.services.node_id:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected node id. Expected {ctx.services.node_id}, but received {resource.resource_name}",
            )
        loggers.check(alterations)
        if not is_tried:
            loggers.alter(alterations)
        return
    written = configured(ctx.services, resource.resource_type, resource.resource_name)
    await _write(
        ctx, written, lambda texts: altered(texts, alterations, written.setting_of), is_tried=is_tried
    )


def _alterations(resource: IncrementalAlterConfigsResource) -> list[Alteration]:
    needs_none = {each.name for each in resource.configs if each.config_operation == 1}
    check_pairs([(each.name, each.value) for each in resource.configs], may_be_null=needs_none.__contains__)
    return [alteration(each.name, each.config_operation, each.value) for each in resource.configs]


async def _write(
    ctx: RequestContext, written: Configured, change: Callable[[Texts], Texts], *, is_tried: bool
) -> None:
    """Change what is written, unless the change is only to be tried."""

    def checked(texts: Texts) -> Texts:
        after = change(texts)
        written.check(after)
        return after

    changes = ctx.services.config_changes
    if is_tried:
        (texts,) = await changes.read([written.entity])
        checked(texts or {})
    else:
        await changes.change(written.entity, checked)


def _asked(resources: Iterable[Resource]) -> Counter[tuple[int, str]]:
    return Counter((each.resource_type, each.resource_name) for each in resources)


def _check_once(resource: Resource, asked: Counter[tuple[int, str]]) -> None:
    if asked[resource.resource_type, resource.resource_name] > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")


def _altered(resource: Resource, refusal: ApiError | None = None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=0 if refusal is None else refusal.error.code,
        error_message=None if refusal is None else refusal.detail or None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


# -- ListConfigResources -----------------------------------------------------------------------------------


async def list_config_resources(
    ctx: RequestContext, request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    """Before version 1 only the subscriptions to client metrics were meant."""
    if ctx.version < ANY_TYPE_SINCE:
        types = [Kind.CLIENT_METRICS.value]
    else:
        types = list(request.resource_types) or sorted(_TYPES)
    if not _TYPES.issuperset(types):
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    found = [
        ConfigResource(resource_name=name, resource_type=kind.value)
        for kind in map(Kind, dict.fromkeys(types))
        for name in await _names(ctx, kind)
    ]
    return ListConfigResourcesResponse(error_code=0, config_resources=tuple(found))


def refuse_list_config_resources(
    request: ListConfigResourcesRequest, refusal: ApiError
) -> ListConfigResourcesResponse:
    del request
    return ListConfigResourcesResponse(error_code=refusal.error.code, config_resources=())


async def _names(ctx: RequestContext, kind: Kind) -> list[str]:
    image = ctx.services.metadata.image
    match kind:
        case Kind.TOPIC:
            return list(image.topics)
        case Kind.BROKER | Kind.BROKER_LOGGER:
            return [str(id) for id in image.brokers]
        case Kind.CLIENT_METRICS:
            return await ctx.services.config_changes.names(CLIENT_METRICS)
        case Kind.GROUP:
            return []
