"""The table of APIs: each one's key and name, the file that declares it, and what follows from that.

Versions, and the first flexible one, are stated once, by the request's class. A family's file is imported
when one of its APIs is first asked for.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar

from odradek.wire.codec import decoder, encoder
from odradek.wire.schema import NEWEST, declaration

if TYPE_CHECKING:
    from collections.abc import Callable

Codec = TypeVar("Codec")

_API_VERSIONS: Final = 18
_CONTROLLED_SHUTDOWN: Final = 7


class _ByVersion(dict[int, Codec]):
    """Codecs by version, each made when it is first looked up."""

    def __init__(self, made: Callable[[int], Codec]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, version: int) -> Codec:
        codec = self[version] = self._made(version)
        return codec


class Api:
    """One kind of request and its response."""

    def __init__(self, key: int, name: str, family: str) -> None:
        self.key = key
        self.name = name
        self.family = family  # the file of wire/messages/ that declares it
        # Of all versions of all APIs, only one has a header without the client's id.
        self.client_id_since = 1 if key == _CONTROLLED_SHUTDOWN else 0
        # The hot path's way to a codec is one look-up; only the first for a version compiles.
        self.request_decoders = _ByVersion(lambda version: decoder(self.request, version))
        self.request_encoders = _ByVersion(lambda version: encoder(self.request, version))
        self.response_decoders = _ByVersion(lambda version: decoder(self.response, version))
        self.response_encoders = _ByVersion(lambda version: encoder(self.response, version))

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def request(self) -> type[object]:
        return self._declared("Request")

    @cached_property
    def response(self) -> type[object]:
        return self._declared("Response")

    @cached_property
    def versions(self) -> range:
        """All that we can read and write; a broker may offer fewer."""
        versions = declaration(self.request).versions
        assert versions is not None
        return versions

    @cached_property
    def flexible(self) -> int:
        """The first flexible version; above all versions where there is none."""
        first = declaration(self.request).flexible
        return NEWEST if first is None else first

    def response_is_tagged(self, version: int) -> bool:
        """Whether the response's header has tagged fields."""
        return version >= self.flexible and self.key != _API_VERSIONS

    def _declared(self, kind: str) -> type[object]:
        found = getattr(import_module(f"odradek.wire.messages.{self.family}"), self.name + kind)
        assert isinstance(found, type)
        return found


_FAMILIES: Final[dict[str, dict[int, str]]] = {
    "produce": {
        0: "Produce",
    },
    "fetch": {
        1: "Fetch",
    },
    "offsets": {
        2: "ListOffsets",
        21: "DeleteRecords",
        23: "OffsetForLeaderEpoch",
    },
    "metadata": {
        3: "Metadata",
        10: "FindCoordinator",
        18: "ApiVersions",
        60: "DescribeCluster",
        75: "DescribeTopicPartitions",
    },
    "cluster": {
        4: "LeaderAndIsr",
        5: "StopReplica",
        6: "UpdateMetadata",
        7: "ControlledShutdown",
        56: "AlterPartition",
    },
    "group_offsets": {
        8: "OffsetCommit",
        9: "OffsetFetch",
        28: "TxnOffsetCommit",
        47: "OffsetDelete",
    },
    "groups": {
        11: "JoinGroup",
        12: "Heartbeat",
        13: "LeaveGroup",
        14: "SyncGroup",
        15: "DescribeGroups",
        16: "ListGroups",
        42: "DeleteGroups",
    },
    "sasl": {
        17: "SaslHandshake",
        36: "SaslAuthenticate",
        50: "DescribeUserScramCredentials",
        51: "AlterUserScramCredentials",
    },
    "topics": {
        19: "CreateTopics",
        20: "DeleteTopics",
        37: "CreatePartitions",
    },
    "transactions": {
        22: "InitProducerId",
        24: "AddPartitionsToTxn",
        25: "AddOffsetsToTxn",
        26: "EndTxn",
        27: "WriteTxnMarkers",
        61: "DescribeProducers",
        65: "DescribeTransactions",
        66: "ListTransactions",
    },
    "acls": {
        29: "DescribeAcls",
        30: "CreateAcls",
        31: "DeleteAcls",
    },
    "configs": {
        32: "DescribeConfigs",
        33: "AlterConfigs",
        44: "IncrementalAlterConfigs",
        74: "ListConfigResources",
    },
    "reassign": {
        34: "AlterReplicaLogDirs",
        35: "DescribeLogDirs",
        43: "ElectLeaders",
        45: "AlterPartitionReassignments",
        46: "ListPartitionReassignments",
    },
    "tokens": {
        38: "CreateDelegationToken",
        39: "RenewDelegationToken",
        40: "ExpireDelegationToken",
        41: "DescribeDelegationToken",
    },
    "quotas": {
        48: "DescribeClientQuotas",
        49: "AlterClientQuotas",
    },
    "quorum": {
        55: "DescribeQuorum",
        64: "UnregisterBroker",
        80: "AddRaftVoter",
        81: "RemoveRaftVoter",
        94: "UnregisterController",
    },
    "features": {
        57: "UpdateFeatures",
    },
    "forwarding": {
        58: "Envelope",
        67: "AllocateProducerIds",
    },
    "consumer_groups": {
        68: "ConsumerGroupHeartbeat",
        69: "ConsumerGroupDescribe",
    },
    "telemetry": {
        71: "GetTelemetrySubscriptions",
        72: "PushTelemetry",
    },
    "share_groups": {
        76: "ShareGroupHeartbeat",
        77: "ShareGroupDescribe",
        78: "ShareFetch",
        79: "ShareAcknowledge",
    },
    "share_state": {
        83: "InitializeShareGroupState",
        84: "ReadShareGroupState",
        85: "WriteShareGroupState",
        86: "DeleteShareGroupState",
        87: "ReadShareGroupStateSummary",
    },
    "streams_groups": {
        88: "StreamsGroupHeartbeat",
        89: "StreamsGroupDescribe",
        93: "StreamsGroupTopologyDescriptionUpdate",
    },
    "share_offsets": {
        90: "DescribeShareGroupOffsets",
        91: "AlterShareGroupOffsets",
        92: "DeleteShareGroupOffsets",
    },
}

API_BY_KEY: Final = {
    key: Api(key, name, family) for family, names in _FAMILIES.items() for key, name in names.items()
}
