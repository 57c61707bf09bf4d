"""Quotas and credentials as `kafka-configs --describe` prints them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from odradek.cli.formats.java_order import hash_of_text, in_map
from odradek.client.users import Mechanism
from odradek.model.config.values import write
from odradek.wire.messages.quotas import DescribedQuota
from odradek.wire.messages.sasl import DescribedScramUser

if TYPE_CHECKING:
    from odradek.cli.output import Row

_CALLED = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}  # in the order they are printed in


def quota_line(quota: DescribedQuota) -> str:
    names = {each.entity_type: each.entity_name for each in quota.entity}
    who = ", ".join(
        f"the default {called}" if names[type] is None else f"{called} '{names[type]}'"
        for type, called in _CALLED.items()
        if type in names
    )
    values = {each.key: each.value for each in quota.values}
    shown = ", ".join(
        f"{key}={write(values[key])}" for key in in_map(list(values), hash_of_text, room=len(values))
    )
    return f"Quota configs for {who} are {shown}"


def in_java_order(quotas: Collection[DescribedQuota]) -> list[DescribedQuota]:
    return in_map(quotas, _hash, room=len(quotas))


def _hash(quota: DescribedQuota) -> int:
    """A map of names by types, as the only field of an object."""
    return 31 + sum(
        hash_of_text(each.entity_type) ^ (0 if each.entity_name is None else hash_of_text(each.entity_name))
        for each in quota.entity
    )


def credential_line(user: DescribedScramUser) -> str:
    shown = ", ".join(
        f"{Mechanism(each.mechanism).text}=iterations={each.iterations}" for each in user.credential_infos
    )
    return f"SCRAM credential configs for user-principal '{user.user}' are {shown}"


def quota_as_json(quota: DescribedQuota) -> Row:
    entity: Row = {each.entity_type: each.entity_name for each in quota.entity}
    quotas: Row = {each.key: each.value for each in quota.values}
    return {"entity": entity, "quotas": quotas}


def credential_as_json(user: DescribedScramUser) -> Row:
    credentials: Row = {Mechanism(each.mechanism).text: each.iterations for each in user.credential_infos}
    return {"user": user.user, "scram_iterations": credentials}
