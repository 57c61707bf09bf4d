"""The table of what this broker serves, and where it is served.

A request of a family declared in `wire/messages/<family>.py` is handled by `handlers/<family>.py`, by the
function of its name; that file is imported when the first such request comes. A handler module may have a
`refuse_<name>` for answers that have no place of their own for an error of the whole request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from odradek.wire.apis import API_BY_KEY, Api
from odradek.wire.schema import declaration

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.model.errors import ApiError

Handle = Callable[["RequestContext", object], object]
Refuse = Callable[[object, "ApiError"], object]

# key: the oldest and the newest version that is served, and, where it differs, the oldest that is advertised.
_SERVED: Final[dict[int, tuple[int, ...]]] = {
    0: (3, 13, 0),  # Produce; librdkafka reads from versions 0-2 which codecs we know
    1: (4, 18),  # Fetch
    2: (0, 11),  # ListOffsets
    3: (0, 13),  # Metadata
    8: (1, 10),  # OffsetCommit
    9: (1, 10),  # OffsetFetch
    10: (0, 6),  # FindCoordinator
    11: (0, 9),  # JoinGroup
    12: (0, 4),  # Heartbeat
    13: (0, 5),  # LeaveGroup
    14: (0, 5),  # SyncGroup
    15: (0, 6),  # DescribeGroups
    16: (0, 5),  # ListGroups
    18: (0, 5),  # ApiVersions
    21: (0, 2),  # DeleteRecords
    23: (0, 4),  # OffsetForLeaderEpoch
    19: (0, 7),  # CreateTopics
    20: (0, 6),  # DeleteTopics
    22: (0, 6),  # InitProducerId
    24: (0, 5),  # AddPartitionsToTxn
    25: (0, 4),  # AddOffsetsToTxn
    26: (0, 5),  # EndTxn
    27: (0, 1),  # WriteTxnMarkers
    28: (0, 6),  # TxnOffsetCommit
    32: (0, 4),  # DescribeConfigs
    33: (0, 2),  # AlterConfigs
    34: (0, 2),  # AlterReplicaLogDirs
    35: (0, 5),  # DescribeLogDirs
    37: (0, 3),  # CreatePartitions
    42: (0, 3),  # DeleteGroups
    43: (0, 2),  # ElectLeaders
    44: (0, 1),  # IncrementalAlterConfigs
    45: (0, 1),  # AlterPartitionReassignments
    46: (0, 0),  # ListPartitionReassignments
    47: (0, 0),  # OffsetDelete
    57: (0, 2),  # UpdateFeatures
    60: (0, 2),  # DescribeCluster
    61: (0, 0),  # DescribeProducers
    65: (0, 0),  # DescribeTransactions
    66: (0, 2),  # ListTransactions
    71: (0, 0),  # GetTelemetrySubscriptions
    72: (0, 0),  # PushTelemetry
    74: (0, 1),  # ListConfigResources
    75: (0, 0),  # DescribeTopicPartitions
}


class Route:
    """One API as this broker serves it."""

    def __init__(self, api: Api, oldest: int, newest: int, oldest_advertised: int) -> None:
        self.api = api
        self.versions = range(oldest, newest + 1)
        self.oldest_advertised = oldest_advertised
        self.name = re.sub(r"(?<!^)(?=[A-Z])", "_", api.name).lower()

    @cached_property
    def handle(self) -> Handle:
        return cast("Handle", getattr(self._module, self.name))

    @cached_property
    def refuse(self) -> Refuse:
        own = getattr(self._module, f"refuse_{self.name}", None)
        return cast("Refuse", own) if own is not None else self._refuse

    @cached_property
    def _module(self) -> object:
        return import_module(f"odradek.broker.handlers.{self.api.family}")

    def _refuse(self, request: object, refusal: ApiError) -> object:
        """The answer with nothing in it but the error."""
        del request
        values = {field.name: field.default for field in declaration(self.api.response).fields}
        assert "error_code" in values, f"{self.api} has no place for an error, and no refusal of its own"
        values["error_code"] = refusal.error.code
        if "error_message" in values:
            values["error_message"] = refusal.detail or None
        return self.api.response(**values)


def routes() -> Mapping[int, Route]:
    return {
        key: Route(API_BY_KEY[key], oldest, newest, *(advertised or [oldest]))
        for key, (oldest, newest, *advertised) in _SERVED.items()
    }
