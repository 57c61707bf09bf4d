"""Settings of topics, brokers, loggers, groups and subscriptions to metrics: shown and changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from odradek.client.cluster import ANYONE
from odradek.client.failures import Refused, check, refusal
from odradek.model.ids import BrokerId
from odradek.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribedConfig,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster, Target


class Kind(Enum):
    """What has settings; the number is the one on the wire."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Resource(NamedTuple):
    kind: Kind
    name: str  # a broker's id; "" for what all brokers share

    @property
    def target(self) -> Target:
        """A broker knows its own settings best; whoever is asked knows the others."""
        is_own = self.kind in (Kind.BROKER, Kind.BROKER_LOGGER) and self.name
        return BrokerId(int(self.name)) if is_own else ANYONE


class Operation(Enum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    key: str
    operation: Operation
    value: str | None = None


Described = tuple[DescribedConfig, ...]


async def describe_configs(
    cluster: Cluster, resources: Iterable[Resource], *, synonyms: bool = False, documentation: bool = False
) -> dict[Resource, Described | Refused]:
    async def attempt(waiting: Sequence[Resource]) -> dict[Resource, Described | Refused]:
        found: dict[Resource, Described | Refused] = {}
        for target in dict.fromkeys(each.target for each in waiting):
            asked = [each for each in waiting if each.target == target]
            request = DescribeConfigsRequest(
                resources=tuple(
                    DescribeConfigsResource(
                        resource_type=each.kind.value, resource_name=each.name, configuration_keys=None
                    )
                    for each in asked
                ),
                include_synonyms=synonyms,
                include_documentation=documentation,
            )
            answer = await cluster.ask(target, request, DescribeConfigsResponse)
            for each in answer.results:
                resource = Resource(Kind(each.resource_type), each.resource_name)
                refused = refusal(each.error_code, each.error_message, asked=f"settings of {resource.name}")
                found[resource] = refused or each.configs
        return found

    return await cluster.settle("settings", resources, attempt)


async def alter_configs(cluster: Cluster, resource: Resource, changes: Iterable[Change]) -> None:
    asked = IncrementalAlterConfigsResource(
        resource_type=resource.kind.value,
        resource_name=resource.name,
        configs=tuple(
            IncrementalAlterableConfig(name=each.key, config_operation=each.operation.value, value=each.value)
            for each in changes
        ),
    )
    what = f"change of settings of {resource.name or 'all brokers'}"

    async def attempt() -> None:
        request = IncrementalAlterConfigsRequest(resources=(asked,), validate_only=False)
        answer = await cluster.ask(resource.target, request, IncrementalAlterConfigsResponse)
        for each in answer.responses:
            check(each.error_code, each.error_message, asked=what)

    await cluster.one(what, attempt)


async def list_resources(cluster: Cluster, kind: Kind) -> tuple[str, ...]:
    """The names of all resources of a kind that have settings of their own."""

    async def attempt() -> tuple[str, ...]:
        request = ListConfigResourcesRequest(resource_types=(kind.value,))
        answer = await cluster.ask(ANYONE, request, ListConfigResourcesResponse)
        check(answer.error_code, asked=f"resources of kind {kind.name}")
        return tuple(sorted(each.resource_name for each in answer.config_resources))

    return await cluster.one(f"resources of kind {kind.name}", attempt)
