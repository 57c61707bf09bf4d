"""Settings of topics, brokers, loggers and client metrics: described from what is written and what holds,
altered in the store.

Any broker alters topics and what holds for every broker; what is one broker's own (its settings, its loggers)
it alters itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from odradek.broker import loggers
from odradek.broker.config_alterations import alteration, altered, check_pairs
from odradek.broker.described import (
    Entry,
    broker_entries,
    client_metrics_entries,
    cluster_entries,
    logger_entries,
    topic_entries,
)
from odradek.model import topic_names
from odradek.model.config import client_metrics
from odradek.model.config.client_metrics import Subscription
from odradek.model.config.registry import TOPIC_SETTINGS, broker_setting
from odradek.model.config.setting import ConfigError
from odradek.model.config.topic_config import TopicConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId
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
    from odradek.broker.config_alterations import Alteration, SettingOf
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
EVERY_BROKER = ""


class Kind(Enum):
    """What can be configured; the number is the one on the wire."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


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
    raise _unknown_type(resource.resource_type)


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
    if _number(name, "Broker") != ctx.services.node_id:
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
        raise _unknown_type(resource.resource_type)
    texts = {key: text for key, text in pairs if text is not None}
    await _write(ctx, resource, lambda _: texts, is_tried=is_tried)


async def _change(ctx: RequestContext, resource: IncrementalAlterConfigsResource, *, is_tried: bool) -> None:
    alterations = _alterations(resource)
    if resource.resource_type == Kind.BROKER_LOGGER.value:
        if _number(resource.resource_name, "Node") != ctx.services.node_id:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected node id. Expected {ctx.services.node_id}, but received {resource.resource_name}",
            )
        loggers.check(alterations)
        if not is_tried:
            loggers.alter(alterations)
        return
    setting_of = _setting_of(resource.resource_type)
    await _write(ctx, resource, lambda texts: altered(texts, alterations, setting_of), is_tried=is_tried)


def _setting_of(resource_type: int) -> SettingOf:
    if resource_type == Kind.TOPIC.value:
        return lambda key: TOPIC_SETTINGS.get(key)
    if resource_type == Kind.CLIENT_METRICS.value:
        return lambda key: client_metrics.SETTINGS.get(key)
    return broker_setting


def _alterations(resource: IncrementalAlterConfigsResource) -> list[Alteration]:
    needs_none = {each.name for each in resource.configs if each.config_operation == 1}
    check_pairs([(each.name, each.value) for each in resource.configs], may_be_null=needs_none.__contains__)
    return [alteration(each.name, each.config_operation, each.value) for each in resource.configs]


async def _write(
    ctx: RequestContext, resource: Resource, change: Callable[[Texts], Texts], *, is_tried: bool
) -> None:
    """Change what is written of a resource, unless the change is only to be tried."""
    entity, check = _entity(ctx, resource)

    def checked(texts: Texts) -> Texts:
        after = change(texts)
        check(after)
        return after

    changes = ctx.services.config_changes
    if is_tried:
        (texts,) = await changes.read([entity])
        checked(texts or {})
    else:
        await changes.change(entity, checked)


def _entity(ctx: RequestContext, resource: Resource) -> tuple[ConfigEntity, Callable[[Texts], None]]:
    """Where it is written, and what refuses what it cannot have."""
    name = resource.resource_name
    match resource.resource_type:
        case Kind.TOPIC.value:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
            if name not in ctx.services.metadata.image.topics:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
            return ConfigEntity.topic(name), lambda texts: _check_topic(ctx, name, texts)
        case Kind.BROKER.value:
            if name == EVERY_BROKER:
                return ConfigEntity.every_broker(), lambda texts: _check_broker(ctx, name, texts)
            if _number(name, "Node") != ctx.services.node_id:
                raise ApiError(
                    ErrorCode.INVALID_REQUEST,
                    f"Unexpected broker id, expected {ctx.services.node_id}, but received {name}",
                )
            entity = ConfigEntity.broker(BrokerId(int(name)))
            return entity, lambda texts: _check_broker(ctx, name, texts)
        case Kind.CLIENT_METRICS.value:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
            return ConfigEntity.client_metrics(name), _check_client_metrics
    raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")


def _check_topic(ctx: RequestContext, name: str, texts: Texts) -> None:
    try:
        TopicConfig.check(ctx.services.configs.broker, texts)
    except ConfigError as bad:
        if str(bad).startswith("Invalid value"):
            raise _bad_value("TOPIC", name, str(bad)) from None
        raise ApiError(ErrorCode.INVALID_CONFIG, str(bad)) from None


def _check_broker(ctx: RequestContext, name: str, texts: Texts) -> None:
    try:
        ctx.services.configs.broker.check_dynamic(texts, per_broker=name != EVERY_BROKER)
    except ConfigError as bad:
        raise ApiError(ErrorCode.INVALID_REQUEST, str(bad)) from None
    if any((setting := broker_setting(key)) is not None and setting.is_sensitive for key in texts):
        raise _bad_value("BROKER", name, "Password encoder secret not configured")


def _bad_value(kind: str, name: str, complaint: str) -> ApiError:
    where = f"Invalid config value for resource ConfigResource(type={kind}, name='{name}')"
    return ApiError(ErrorCode.INVALID_CONFIG, f"{where}: {complaint}")


def _check_client_metrics(texts: Texts) -> None:
    try:
        Subscription.of(texts)
    except ConfigError as bad:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(bad)) from None


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


# -- parts -------------------------------------------------------------------------------------------------


def _number(name: str, whose: str) -> int:
    try:
        return int(name)
    except ValueError:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"{whose} id must be an integer, but it is: {name}"
        ) from None


def _unknown_type(number: int) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {number}")
