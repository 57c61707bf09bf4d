"""What one broker's handlers may use, in one place; `node.py` puts it together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from odradek.broker.client_telemetry import ClientTelemetry
    from odradek.broker.config_changes import ConfigChanges
    from odradek.broker.configs import Configs
    from odradek.broker.controller import ControllerShell
    from odradek.broker.directory_moves import DirectoryMoves
    from odradek.broker.fetch_sessions import FetchSessions
    from odradek.broker.groups import Groups
    from odradek.broker.markers import Markers
    from odradek.broker.metadata import Metadata
    from odradek.broker.producer_ids import ProducerIdSource
    from odradek.broker.replicas import Replicas
    from odradek.broker.topics import Topics
    from odradek.broker.transactions import Transactions
    from odradek.log.directories import LogDirectories
    from odradek.model.ids import BrokerId
    from odradek.observe.client_metrics import ClientMetrics
    from odradek.observe.metrics import RequestMetrics, TopicMetrics
    from odradek.runtime.clock import Clock
    from odradek.runtime.entropy import Entropy
    from odradek.runtime.tasks import Tasks
    from odradek.wire.messages.metadata import ApiVersion


@dataclass(slots=True)
class Services:
    node_id: BrokerId
    broker_epoch: int
    loop: AbstractEventLoop
    clock: Clock
    entropy: Entropy
    tasks: Tasks
    configs: Configs
    config_changes: ConfigChanges
    metadata: Metadata
    replicas: Replicas
    topics: Topics
    controller: ControllerShell
    client_telemetry: ClientTelemetry
    directories: LogDirectories
    directory_moves: DirectoryMoves
    producer_ids: ProducerIdSource
    fetch_sessions: FetchSessions
    groups: Groups
    markers: Markers
    transactions: Transactions
    client_metrics: ClientMetrics
    request_metrics: RequestMetrics
    topic_metrics: TopicMetrics
    api_versions: tuple[ApiVersion, ...]
    # What the hot path asks of the configuration, kept at hand and renewed with it.
    fetch_bytes_max: int
    auto_creates_topics: bool
    partitions_described_max: int
