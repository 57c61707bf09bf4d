"""What brokers can be asked, as `kafka-broker-api-versions` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.cli.failures import message, said_as
from odradek.client.failures import ClientError
from odradek.wire.apis import API_BY_KEY

if TYPE_CHECKING:
    from odradek.cli.output import Row
    from odradek.wire.messages.metadata import ApiVersion, ApiVersionsResponse, MetadataBroker

_NEWEST_OF_KAFKA_3_9 = 87  # APIs that came later are shown where a broker offers them
_NAMES_OF_KAFKA_3_9 = {74: "ListClientMetricsResources"}


def broker_text(broker: MetadataBroker, offer: ApiVersionsResponse | ClientError) -> str:
    rack = "null" if broker.rack is None else broker.rack
    who = f"{broker.host}:{broker.port} (id: {broker.node_id} rack: {rack}) -> "
    if isinstance(offer, ClientError):
        return f"{who}ERROR: {said_as(offer)}: {message(offer)}"
    return f"{who}(\n\t" + ",\n\t".join(_apis(offer)) + "\n)"


def as_json(broker: MetadataBroker, offer: ApiVersionsResponse | ClientError) -> Row:
    who: Row = {"broker": broker.node_id, "host": broker.host, "port": broker.port, "rack": broker.rack}
    if isinstance(offer, ClientError):
        return {**who, "error": message(offer)}
    apis: list[Row] = [
        {"key": each.api_key, "name": _name(each.api_key), "min": each.min_version, "max": each.max_version}
        for each in sorted(offer.api_keys, key=lambda each: each.api_key)
    ]
    return {**who, "apis": apis}


def api_rows(broker: MetadataBroker, offer: ApiVersionsResponse | ClientError) -> Iterator[Row]:
    if isinstance(offer, ClientError):
        yield {"broker": broker.node_id, "api": message(offer), "key": None, "versions": None}
        return
    for each in sorted(offer.api_keys, key=lambda each: each.api_key):
        yield {
            "broker": broker.node_id,
            "api": _name(each.api_key),
            "key": each.api_key,
            "versions": _versions(each.api_key, each),
        }


def _apis(offer: ApiVersionsResponse) -> Iterator[str]:
    offered = {each.api_key: each for each in offer.api_keys}
    known = {key for key in API_BY_KEY if key <= _NEWEST_OF_KAFKA_3_9}
    for key in sorted(known | set(offered)):
        each = offered.get(key)
        yield f"{_name(key)}({key}): {'UNSUPPORTED' if each is None else _versions(key, each)}"


def _versions(key: int, offer: ApiVersion) -> str:
    oldest, newest = offer.min_version, offer.max_version
    versions = str(oldest) if oldest == newest else f"{oldest} to {newest}"
    if key not in API_BY_KEY:
        return versions
    ours = API_BY_KEY[key].versions
    usable = min(newest, ours[-1])
    return f"{versions} [usable: {usable if usable >= max(oldest, ours[0]) else 'none'}]"


def _name(key: int) -> str:
    return _NAMES_OF_KAFKA_3_9.get(key) or (API_BY_KEY[key].name if key in API_BY_KEY else "UNKNOWN")
