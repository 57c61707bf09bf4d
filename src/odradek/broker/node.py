"""Builds one broker from its configuration, starts its parts in order, stops them in reverse.

The only place where everything meets. Constructors do nothing; `start` does, and whatever it has started when
it fails is stopped again.
"""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from odradek.broker import registration
from odradek.broker.channels import Channels
from odradek.broker.client_telemetry import ClientTelemetry
from odradek.broker.cluster_store import ClusterStore
from odradek.broker.config_changes import ConfigChanges
from odradek.broker.configs import Configs
from odradek.broker.controller import ControllerShell
from odradek.broker.directory_moves import DirectoryMoves
from odradek.broker.dispatch import Dispatcher
from odradek.broker.doors import Doors
from odradek.broker.fetch_sessions import FetchSessions
from odradek.broker.group_commit import GroupCommit
from odradek.broker.groups import Groups
from odradek.broker.listeners import server_settings
from odradek.broker.markers import Markers
from odradek.broker.metadata import Metadata
from odradek.broker.producer_ids import ProducerIdSource
from odradek.broker.registry import routes
from odradek.broker.replicas import Replicas
from odradek.broker.services import Services
from odradek.broker.stage import Stage
from odradek.broker.topics import Topics
from odradek.broker.transactions import Transactions
from odradek.broker.upkeep import Upkeep
from odradek.coordination.store import StoreError
from odradek.log.checkpoint import MetaProperties
from odradek.log.directories import LogDirectories
from odradek.log.recoveries import recover_logs, shares
from odradek.model.ids import BrokerId
from odradek.model.image import ClusterImage, ConfigEntity
from odradek.net.server import Server
from odradek.observe.client_metrics import ClientMetrics
from odradek.observe.metrics import RequestMetrics, TopicMetrics
from odradek.runtime.tasks import Tasks
from odradek.wire.messages.metadata import ApiVersion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from odradek.broker.partition import HostedPartition
    from odradek.broker.registry import Route
    from odradek.coordination.store import Session
    from odradek.log.disk import Disk
    from odradek.log.recoveries import Outcome, Recovery
    from odradek.model.config.broker_config import BrokerConfig
    from odradek.model.errors import StorageError
    from odradek.model.listeners import Endpoint
    from odradek.net.port import Address, Network
    from odradek.runtime.clock import Clock
    from odradek.runtime.entropy import Entropy
    from odradek.runtime.workers import Workers

_logger = logging.getLogger("odradek.broker.node")

STOP_WITHIN_S = 10.0
RECOVERED_ON_A_THREAD_MAX = 64 * 1024 * 1024  # bytes that are read before another process would have started

OpenSession: TypeAlias = "Callable[[], Awaitable[Session]]"  # after the data directories are known to be ours


@dataclass(frozen=True, slots=True)
class World:
    """What a broker lives in: each a port, real or lying."""

    clock: Clock
    entropy: Entropy
    disk: Disk
    network: Network
    threads: Workers
    processes: Workers


class NodeFault(Exception):
    """A bug stopped the node. The message names the task it was met in."""


class Node:
    def __init__(self, config: BrokerConfig, world: World, open_session: OpenSession) -> None:
        self._world = world
        self._open_session = open_session
        self._tasks = Tasks(self._faulted)
        self._started: list[str] = []
        self.stage = Stage.STARTING
        self.upkeep = Upkeep(self, world, self._tasks)
        self.fault: asyncio.Future[NodeFault] = asyncio.get_running_loop().create_future()
        self.metadata = Metadata(ClusterImage(cluster_id=""))
        self.configs = Configs(config, lambda: self.metadata.image)
        self.directories = LogDirectories(
            world.disk,
            config.data_dirs,
            random_bytes=world.entropy.random_bytes,
            on_failure=lambda directory, lost: self.replicas.went_offline(directory, lost),
            delete_delay_ms=config.integer("log.segment.delete.delay.ms"),
        )
        self.id = config.broker_id

    # -- start -------------------------------------------------------------------------------------------

    async def start(self) -> list[Address]:
        """Where it listens, once clients are served."""
        await self.upkeep.open_for_watchers()
        self._started.append("upkeep")
        claimed = self.directories.claim()
        self._started.append("directories")
        self._session = await self._open_session()
        self._started.append("session")
        await registration.make_paths(self._session)
        cluster_id = await registration.cluster_id(self._session, self._world.entropy.random_bytes)
        self.id = await self._own_id(claimed)
        self.directories.sign(MetaProperties(self.id, cluster_id))
        self.metadata.swap(replace(self.metadata.image, cluster_id=cluster_id))
        self.config_changes = ConfigChanges(
            self.id, self._session, self.metadata, self.configs, self._world.clock
        )
        await self.config_changes.load()
        await self._open_logs()
        self._build(cluster_id)
        self._listen()
        self.services.broker_epoch = await registration.register(
            self._session,
            self.id,
            self.doors.advertised,
            self.configs.broker.optional_string("broker.rack"),
            self._world.clock.wall_ms(),
        )
        self.config_changes.start(self._tasks)
        self.services.directory_moves.resume()
        self.controller.start()
        await self.services.topics.until(lambda: self.id in self.metadata.image.brokers, 60)
        self.server.open()
        self.stage = Stage.SERVING
        _logger.info(
            "broker %d of cluster %s serves %s, with data in %s",
            self.id,
            self.metadata.image.cluster_id,
            ", ".join(map(str, self.doors.addresses)),
            ", ".join(self.configs.broker.data_dirs),
        )
        self.upkeep.start()
        return self.doors.addresses

    async def _own_id(self, claimed: MetaProperties) -> BrokerId:
        config = self.configs.broker
        if config.broker_id >= 0:
            return config.broker_id
        if claimed.broker_id is not None:
            return BrokerId(claimed.broker_id)
        return await registration.next_broker_id(self._session, config.integer("reserved.broker.max.id"))

    async def _open_logs(self) -> None:
        self.stage = Stage.RECOVERING
        recoveries = self.directories.recoveries(self.configs.log_settings)
        outcomes = await self._recover(recoveries)
        self.directories.open_logs(self.configs.log_settings, outcomes, self._world.clock.wall_ms())

    async def _recover(self, recoveries: list[Recovery]) -> list[Outcome]:
        if not recoveries:
            return []
        size = sum(each.size for each in recoveries)
        _logger.info("the last stop was no clean one: recovering %d logs, %d bytes", len(recoveries), size)
        worth_processes = size > RECOVERED_ON_A_THREAD_MAX
        workers = self._world.processes if worth_processes else self._world.threads
        parts = shares(recoveries, (os.cpu_count() or 1) if worth_processes else 1)
        done = await asyncio.gather(*(workers.start(recover_logs, self._world.disk, each) for each in parts))
        return [outcome for outcomes in done for outcome in outcomes]

    def _build(self, cluster_id: str) -> None:
        world, config = self._world, self.configs.broker
        commits = GroupCommit(
            self._tasks, world.threads, self._log_failed, world.clock, self.upkeep.flush_times
        )
        self.replicas = Replicas(
            self.id,
            world.clock,
            self.metadata,
            commits,
            settings_of=self.configs.log_settings,
            isr_min_of=lambda topic: self.configs.topic(topic).integer("min.insync.replicas"),
            lag_ms_max=config.integer("replica.lag.time.max.ms"),
            propose_isr=self._propose_isr,
        )
        self.replicas.directories = self.directories
        self.configs.on_topic(self.replicas.reconfigure)
        self.controller = ControllerShell(
            self.id,
            ClusterStore(self._session, cluster_id, world.clock.wall_ms),
            Channels(lambda: self.services),
            self._tasks,
            lambda topic: self.configs.topic(topic).boolean("unclean.leader.election.enable"),
            self._learn_configs,
        )
        table = routes()
        self.services = self._make_services(table)
        self.dispatcher = Dispatcher(table, self.services)

    def _make_services(self, table: Mapping[int, Route]) -> Services:
        world, config = self._world, self.configs.broker
        client_metrics = ClientMetrics()
        groups = Groups(config, self.metadata, replicas=self.replicas, clock=world.clock, tasks=self._tasks)
        markers = Markers(self.replicas, self.metadata, world.clock, groups.shards)
        return Services(
            node_id=self.id,
            broker_epoch=-1,
            loop=asyncio.get_running_loop(),
            clock=world.clock,
            entropy=world.entropy,
            tasks=self._tasks,
            configs=self.configs,
            config_changes=self.config_changes,
            metadata=self.metadata,
            replicas=self.replicas,
            controller=self.controller,
            directories=self.directories,
            directory_moves=DirectoryMoves(self.directories, self.replicas, world.clock, self._tasks),
            producer_ids=ProducerIdSource(self.id, self._session),
            client_telemetry=ClientTelemetry(
                lambda: self.metadata.image, self.configs, client_metrics, world.clock
            ),
            client_metrics=client_metrics,
            topics=Topics(self._session, self.metadata, self.configs, world.entropy),
            fetch_sessions=FetchSessions(
                world.entropy, config.integer("max.incremental.fetch.session.cache.slots")
            ),
            groups=groups,
            markers=markers,
            transactions=Transactions(
                config, self.metadata, markers, replicas=self.replicas, clock=world.clock, tasks=self._tasks
            ),
            request_metrics=RequestMetrics(),
            topic_metrics=TopicMetrics(),
            api_versions=tuple(
                ApiVersion(api_key=key, min_version=route.oldest_advertised, max_version=route.versions[-1])
                for key, route in sorted(table.items())
            ),
            fetch_bytes_max=config.integer("fetch.max.bytes"),
            auto_creates_topics=config.boolean("auto.create.topics.enable"),
            partitions_described_max=config.integer("max.request.partition.size.limit"),
        )

    def _listen(self) -> None:
        config = self.configs.broker
        # Clients that wait for us already must not see a cluster that does not know its own topics yet.
        self.server = Server(self._world.network, self.dispatcher, server_settings(config), is_held=True)
        self._started.append("server")
        self.doors = Doors(self.server, self._advertise_anew)
        self.doors.open(config)
        self.configs.on_broker(self.doors.reconfigure)

    def _advertise_anew(self, endpoints: list[Endpoint]) -> None:
        self._tasks.start(self._advertise(endpoints), name="advertising anew")

    async def _advertise(self, endpoints: list[Endpoint]) -> None:
        rack = self.configs.broker.optional_string("broker.rack")
        try:
            await registration.advertise(self._session, self.id, endpoints, rack, self._world.clock.wall_ms())
        except StoreError as failure:
            _logger.error("nobody is told where this broker listens now: %s", failure)

    # -- stop --------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Take no more requests, answer what waits, make everything durable, and say that it was."""
        self.stage = Stage.STOPPING
        if "server" in self._started:
            self.server.finish()
            self.dispatcher.stop()
            await self.server.stop(STOP_WITHIN_S)
            self.services.groups.shards.close()
            self.services.transactions.shards.close()
        if "upkeep" in self._started:
            await self.upkeep.stop()
        await self._tasks.stop()
        if "session" in self._started:
            await self._session.close()
        if "directories" in self._started:
            self.directories.close(self._world.clock.wall_ms())
            _logger.info("broker %d has stopped cleanly", self.id)
        self._started.clear()

    def loop_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """The exception handler of whoever owns the loop: what a callback raised, such as a request that is
        handled in one, is as much a bug as what a task raised."""
        error = context.get("exception")
        if isinstance(error, BaseException) and "handle" in context:
            self._faulted(str(context["message"]), error)
        else:
            loop.default_exception_handler(context)

    def _faulted(self, task: str, error: BaseException) -> None:
        if not self.fault.done():
            fault = NodeFault(f"{task} failed: {error!r}")
            fault.__cause__ = error
            self.fault.set_result(fault)

    def _log_failed(self, partition: HostedPartition, failure: StorageError) -> None:
        self.replicas.failed(partition, failure)

    async def _learn_configs(self, topics: Iterable[str]) -> None:
        await self.config_changes.read_again(map(ConfigEntity.topic, topics))

    def _propose_isr(self, partition: HostedPartition, isr: frozenset[BrokerId]) -> None:
        """A cluster of one broker has nobody to let in or to put out."""
        raise AssertionError(f"{partition.name} proposed {sorted(isr)}")
