"""What can be configured: where its settings are written, which it knows, and which it cannot have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from odradek.model.config import client_metrics
from odradek.model.config.client_metrics import Subscription
from odradek.model.config.registry import TOPIC_SETTINGS, broker_setting
from odradek.model.config.setting import ConfigError, Setting
from odradek.model.config.topic_config import TopicConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.image import ConfigEntity

if TYPE_CHECKING:
    from odradek.broker.services import Services
    from odradek.model.config.broker_config import BrokerConfig

EVERY_BROKER = ""

Texts: TypeAlias = Mapping[str, str]


class Kind(Enum):
    """What can be configured; the number is the one on the wire."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Configured(NamedTuple):
    entity: ConfigEntity
    setting_of: Callable[[str], Setting | None]
    check: Callable[[Texts], None]  # `ApiError` if it cannot be configured so


def configured(services: Services, kind: int, name: str) -> Configured:
    """A topic, this broker, every broker, or a subscription. What is kept in no store is refused."""
    match kind:
        case Kind.TOPIC.value:
            return _topic(services, name)
        case Kind.BROKER.value:
            return _broker(services, name)
        case Kind.CLIENT_METRICS.value:
            if not name:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
            entity = ConfigEntity.client_metrics(name)
            return Configured(entity, lambda key: client_metrics.SETTINGS.get(key), _check_client_metrics)
    raise unknown_type(kind)


def unknown_type(number: int) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {number}")


def id_number(name: str, whose: str) -> int:
    """The number that a broker's resource is named after."""
    try:
        return int(name)
    except ValueError:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"{whose} id must be an integer, but it is: {name}"
        ) from None


def _topic(services: Services, name: str) -> Configured:
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    if name not in services.metadata.image.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    broker = services.configs.broker
    return Configured(
        ConfigEntity.topic(name),
        lambda key: TOPIC_SETTINGS.get(key),
        lambda texts: _check_topic(broker, name, texts),
    )


def _broker(services: Services, name: str) -> Configured:
    entity = ConfigEntity.every_broker()
    if name != EVERY_BROKER:
        if id_number(name, "Node") != services.node_id:
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected broker id, expected {services.node_id}, but received {name}",
            )
        entity = ConfigEntity.broker(services.node_id)
    broker = services.configs.broker
    return Configured(entity, broker_setting, lambda texts: _check_broker(broker, name, texts))


def _check_topic(broker: BrokerConfig, name: str, texts: Texts) -> None:
    try:
        TopicConfig.check(broker, texts)
    except ConfigError as bad:
        if str(bad).startswith("Invalid value"):
            raise _bad_value("TOPIC", name, str(bad)) from None
        raise ApiError(ErrorCode.INVALID_CONFIG, str(bad)) from None


def _check_broker(broker: BrokerConfig, name: str, texts: Texts) -> None:
    try:
        broker.check_dynamic(texts, per_broker=name != EVERY_BROKER)
    except ConfigError as bad:
        raise ApiError(ErrorCode.INVALID_REQUEST, str(bad)) from None
    # Secrets would have to be encrypted before they are written, and are not yet.
    if any((setting := broker_setting(key)) is not None and setting.is_sensitive for key in texts):
        raise _bad_value("BROKER", name, "Password encoder secret not configured")


def _check_client_metrics(texts: Texts) -> None:
    try:
        Subscription.of(texts)
    except ConfigError as bad:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(bad)) from None


def _bad_value(kind: str, name: str, complaint: str) -> ApiError:
    where = f"Invalid config value for resource ConfigResource(type={kind}, name='{name}')"
    return ApiError(ErrorCode.INVALID_CONFIG, f"{where}: {complaint}")
