"""How much users, clients and addresses may: shown and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from odradek.client.cluster import ANYONE, CONTROLLER
from odradek.client.failures import check
from odradek.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribedQuota,
    QuotaAlteration,
    QuotaEntity,
    QuotaFilter,
    QuotaOperation,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

Entity: TypeAlias = Mapping[str, str | None]
"""By type (user, client-id, ip) the name; None: the default of all."""

_THIS_NAME, _THE_DEFAULT, _ANY = range(3)


async def describe_quotas(
    cluster: Cluster, entity: Entity, any_of: Iterable[str] = ()
) -> tuple[DescribedQuota, ...]:
    """What is set for this entity, with any name of the types in `any_of`, and for no other type."""
    filters = [
        QuotaFilter(entity_type=type, match_type=_THE_DEFAULT if name is None else _THIS_NAME, match=name)
        for type, name in entity.items()
    ]
    filters += [QuotaFilter(entity_type=type, match_type=_ANY, match=None) for type in any_of]

    async def attempt() -> tuple[DescribedQuota, ...]:
        request = DescribeClientQuotasRequest(components=tuple(filters), strict=True)
        answer = await cluster.ask(ANYONE, request, DescribeClientQuotasResponse)
        check(answer.error_code, answer.error_message, asked="quotas")
        return answer.entries or ()

    return await cluster.one("quotas", attempt)


async def alter_quotas(cluster: Cluster, entity: Entity, changes: Mapping[str, float | None]) -> None:
    """None takes a quota away."""
    alteration = QuotaAlteration(
        entity=tuple(QuotaEntity(entity_type=type, entity_name=name) for type, name in entity.items()),
        ops=tuple(
            QuotaOperation(key=key, value=0.0 if value is None else value, remove=value is None)
            for key, value in changes.items()
        ),
    )

    async def attempt() -> None:
        request = AlterClientQuotasRequest(entries=(alteration,), validate_only=False)
        answer = await cluster.ask(CONTROLLER, request, AlterClientQuotasResponse)
        for each in answer.entries:
            check(each.error_code, each.error_message, asked="change of quotas")

    await cluster.one("change of quotas", attempt)
