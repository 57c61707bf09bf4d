"""The broker as those see it who watch: /metrics, /healthz and /readyz on a listener of their own.

It listens from the very start, so that a long recovery can be told from a dead process: healthy, not ready.
What is told is looked up when somebody asks. Only rates need a tick, and they get one only if this is set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from odradek.broker.chores import Chore
from odradek.broker.group_lag import GroupLag
from odradek.broker.stage import Stage
from odradek.net.http import Answer, HttpServer
from odradek.net.port import Address
from odradek.observe.exposition import CONTENT_TYPE
from odradek.observe.rates import TrafficRates
from odradek.observe.scrape import scrape
from odradek.observe.sources import (
    CleanerFacts,
    ConnectionFacts,
    ControllerFacts,
    DirectoryFacts,
    FetchSessionFacts,
    PartitionFacts,
    ProcessFacts,
    Sources,
)
from odradek.runtime import process

if TYPE_CHECKING:
    from odradek.broker.compaction import Compaction
    from odradek.broker.node import Node
    from odradek.broker.partition import HostedPartition
    from odradek.broker.upkeep import Upkeep
    from odradek.runtime.tasks import Tasks

TICK_MS = 5_000
TICKS_A_WINDOW = 60  # of the quantiles
_KAFKAS_STATE = {Stage.STARTING: 1, Stage.RECOVERING: 2, Stage.SERVING: 3, Stage.STOPPING: 7}


class Watch:
    def __init__(self, node: Node, upkeep: Upkeep, tasks: Tasks) -> None:
        self._node = node
        self._upkeep = upkeep
        pages = {"/metrics": self.metrics, "/healthz": self._health, "/readyz": self._readiness}
        self._server = HttpServer(pages, tasks)
        self._rates: TrafficRates | None = None
        self._lag: GroupLag | None = None
        self._idle_ratio: float | None = None
        self._ticks = 0
        self._ticked_at = self._cpu_s = 0.0

    async def listen(self, address: Address) -> Address:
        return await self._server.listen(address)

    def ticking(self) -> Chore:
        """To be kept once the broker serves."""
        node = self._node
        services = node.services
        self._rates = TrafficRates(services.topic_metrics)
        self._lag = GroupLag(services.groups, services.replicas, services.clock)
        self._ticked_at, self._cpu_s = node.services.clock.monotonic(), process.thread_cpu_s()
        return Chore(name="tick rates", run=self._tick, rest_ms=lambda: TICK_MS)

    def close(self) -> None:
        self._server.close()

    # -- pages -----------------------------------------------------------------------------------------------

    def _health(self) -> Answer:
        """Whether it would help to start it anew."""
        if self._node.fault.done():
            return _unavailable(f"a bug stopped it: {self._node.fault.result()}")
        if self._node.directories.all_offline:
            return _unavailable("every data directory is offline")
        return Answer(("ok\n",))

    def _readiness(self) -> Answer:
        """Whether clients are served."""
        if self._node.stage is not Stage.SERVING:
            return _unavailable(f"it is {self._node.stage.value}")
        return self._health()

    def metrics(self) -> Answer:
        if self._rates is None:
            return _unavailable(f"it is {self._node.stage.value}")
        assert self._lag is not None
        return Answer(scrape(self._sources(self._rates, self._lag)), content_type=CONTENT_TYPE)

    # -- ticks -----------------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        assert self._rates is not None
        now, cpu_s = self._node.services.clock.monotonic(), process.thread_cpu_s()
        elapsed_s = now - self._ticked_at
        self._rates.tick(elapsed_s)
        self._idle_ratio = max(0.0, 1 - (cpu_s - self._cpu_s) / elapsed_s)
        self._ticked_at, self._cpu_s = now, cpu_s
        self._ticks += 1
        if self._ticks % TICKS_A_WINDOW == 0:
            self._node.services.request_metrics.turn()
            self._upkeep.flush_times.turn()

    # -- what is looked up -----------------------------------------------------------------------------------

    def _sources(self, rates: TrafficRates, lag: GroupLag) -> Sources:
        node, services = self._node, self._node.services
        return Sources(
            traffic=services.topic_metrics,
            rates=rates,
            requests=services.request_metrics,
            flushes=self._upkeep.flush_times,
            partitions=self._partitions,
            offline_replicas=lambda: services.replicas.offline_count,
            directories=self._directories,
            cleaner=self._cleaner,
            controller=self._controller,
            fetch_sessions=self._fetch_sessions,
            parked=lambda: {"Produce": 0, "Fetch": 0, **node.dispatcher.parked_by_api()},
            connections=self._connections,
            process=lambda: ProcessFacts(process.cpu_s(), process.resident_size(), process.open_files()),
            idle_ratio=lambda: self._idle_ratio,
            image=lambda: node.metadata.image,
            broker_state=lambda: _KAFKAS_STATE[node.stage],
            groups=lag.facts,
            client_metrics=lambda: services.client_metrics.families(services.clock.monotonic()),
        )

    @property
    def _compaction(self) -> Compaction:
        assert self._upkeep.compaction is not None
        return self._upkeep.compaction

    def _partitions(self) -> Iterator[PartitionFacts]:
        return map(_facts, list(self._node.replicas))

    def _directories(self) -> list[DirectoryFacts]:
        uncleanable = self._compaction.uncleanable
        found = []
        for directory in self._node.directories:
            logs = [log for at, log in uncleanable.items() if directory.logs.get(at) is log]
            size = sum(log.size for log in logs)
            found.append(DirectoryFacts(directory.path, directory.failure is not None, len(logs), size))
        return found

    def _cleaner(self) -> CleanerFacts:
        compaction = self._compaction
        last = compaction.last_round
        return CleanerFacts(
            since_last_look_ms=self._node.services.clock.wall_ms() - compaction.looked_ms,
            dirty_percent_max=compaction.dirtiest_ratio * 100,
            delay_s_max=compaction.overdue_ms_max / 1000,
            recopy_percent=None if last is None else last.kept_ratio * 100,
            buffer_percent=None if last is None else last.key_map_used_ratio * 100,
            clean_time_s=None if last is None else last.seconds,
        )

    def _controller(self) -> ControllerFacts | None:
        machine = self._node.controller.machine
        return None if machine is None else ControllerFacts(machine.image, len(machine.state.deleting))

    def _fetch_sessions(self) -> FetchSessionFacts:
        sessions = self._node.services.fetch_sessions
        return FetchSessionFacts(len(sessions), sessions.partition_count, sessions.evicted)

    def _connections(self) -> ConnectionFacts:
        server = self._node.server
        return ConnectionFacts(
            Counter(each.listener for each in server.connections), server.traffic().closed_idle
        )


def address_of(text: str) -> Address:
    """What odradek.metrics.listen says."""
    host, _, port = text.rpartition(":")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def _facts(partition: HostedPartition) -> PartitionFacts:
    log, leading = partition.log, partition.replica.leading
    return PartitionFacts(
        topic=partition.name.topic,
        number=partition.name.number,
        log_start=log.log_start,
        log_end=log.log_end,
        high_watermark=log.high_watermark,
        last_stable=log.last_stable_offset,
        size=log.size,
        segments=len(log.segments),
        producers=len(log.producers),
        replicas=len(partition.replica.replicas),
        in_sync=None if leading is None else len(leading.isr),
        in_sync_min=partition.isr_needed,
    )


def _unavailable(why: str) -> Answer:
    return Answer((f"{why}\n",), HTTPStatus.SERVICE_UNAVAILABLE)
