"""What `odradek configs` does for users, clients and addresses: quotas, and credentials for SCRAM."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from odradek.cli.config_entities import Entity
from odradek.cli.failures import Misused
from odradek.cli.output import json_line
from odradek.client.quotas import alter_quotas, describe_quotas
from odradek.client.users import ITERATIONS_MIN, Credential, Mechanism, alter_scram_user, scram_users

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.runtime.entropy import Entropy

_WIRE_TYPES = {"users": "user", "clients": "client-id", "ips": "ip"}
_RATES = {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
_CONNECTION_RATES = {"connection_creation_rate"}
_MECHANISMS = {each.text: each for each in Mechanism}
_CREDENTIAL = re.compile(r"(?:iterations=(\d+),)?password=(.*)")


async def describe(cluster: Cluster, entities: Sequence[Entity], *, in_json: bool) -> None:
    from odradek.cli.formats.quotas import (
        credential_as_json,
        credential_line,
        in_java_order,
        quota_as_json,
        quota_line,
    )

    _check_addresses(entities)
    named, any_of = _filters(entities)
    for quota in in_java_order(await describe_quotas(cluster, named, any_of)):
        click.echo(json_line(quota_as_json(quota)) if in_json else quota_line(quota))
    user = entities[0]
    if [each.type for each in entities] != ["users"] or user.name == "":
        return
    for each in sorted(
        await scram_users(cluster, None if user.name is None else [user.name]), key=lambda found: found.user
    ):
        click.echo(json_line(credential_as_json(each)) if in_json else credential_line(each))


async def alter(
    cluster: Cluster, entities: Sequence[Entity], added: Mapping[str, str], deleted: Sequence[str]
) -> None:
    _check_addresses(entities)
    if [each.type for each in entities] == ["users"] and set(_MECHANISMS) & {*added, *deleted}:
        await _alter_credentials(cluster, entities[0], added, deleted)
        return
    _check_known(entities, added, "added")
    _check_known(entities, deleted, "deleted")
    named, _ = _filters(entities)
    known = {
        value.key
        for quota in await describe_quotas(cluster, named)
        if {each.entity_type: each.entity_name for each in quota.entity} == named
        for value in quota.values
    }
    unknown = [each for each in deleted if each not in known]
    if unknown:
        raise Misused(f"Invalid config(s): {','.join(unknown)}")
    changes: dict[str, float | None] = {key: _rate(key, value) for key, value in added.items()}
    await alter_quotas(cluster, named, {**changes, **dict.fromkeys(deleted)})


async def _alter_credentials(
    cluster: Cluster, user: Entity, added: Mapping[str, str], deleted: Sequence[str]
) -> None:
    if not user.name:
        raise Misused(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials "
            "using --bootstrap-server."
        )
    if _RATES & {*added, *deleted}:
        raise Misused(
            "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' "
            "using --bootstrap-server."
        )
    _check_known([user], added, "added")
    _check_known([user], deleted, "deleted")
    given = [_credential(_MECHANISMS[key], value, cluster.entropy) for key, value in added.items()]
    await alter_scram_user(cluster, user.name, given, [_MECHANISMS[each] for each in deleted])


def _credential(mechanism: Mechanism, text: str, entropy: Entropy) -> Credential:
    """iterations=8192,password=secret"""
    said = _CREDENTIAL.fullmatch(text)
    if said is None:
        raise Misused(f"Invalid credential property {mechanism.name}={text}")
    iterations = int(said[1] or ITERATIONS_MIN)
    if iterations < ITERATIONS_MIN:
        raise Misused(
            f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {mechanism.text}"
        )
    return Credential.of(mechanism, said[2], iterations, entropy)


def _filters(entities: Sequence[Entity]) -> tuple[dict[str, str | None], list[str]]:
    """Entities with a name or for the default; and types that any name will do of."""
    named = {_WIRE_TYPES[each.type]: each.name or None for each in entities if each.name is not None}
    return named, [_WIRE_TYPES[each.type] for each in entities if each.name is None]


def _check_known(entities: Sequence[Entity], names: Collection[str], done: str) -> None:
    types = {each.type for each in entities}
    known = _CONNECTION_RATES if types == {"ips"} else _RATES
    if types == {"users"}:
        known = known | set(_MECHANISMS)
    unknown = [each for each in names if each not in known]
    if not unknown:
        return
    kind, listed = "quota", f"{'Set' if done == 'added' else 'ArrayBuffer'}({', '.join(unknown)})"
    if types == {"ips"}:
        kind, listed = "connection quota", ",".join(unknown)
    elif types == {"users"}:
        kind = "quota and SCRAM credential"
    of = "clients" if "clients" in types else entities[0].type
    raise Misused(
        f"Only {kind} configs can be {done} for '{of}' using --bootstrap-server. "
        f"Unexpected config names: {listed}"
    )


def _check_addresses(entities: Sequence[Entity]) -> None:
    for each in entities:
        if each.type == "ips" and each.name and not _is_address(each.name):
            raise Misused(
                f"The entity name for ips must be a valid IP or resolvable host, but it is: {each.name}"
            )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _rate(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Misused(f"Cannot parse quota configuration value for {key}: {text}") from None
