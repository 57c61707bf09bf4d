"""Logs on a lying disk, and the chores that keep them, without the broker around: for `sim_clock.run`."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from odradek.broker.compaction import Compaction
from odradek.broker.configs import Configs
from odradek.broker.group_commit import GroupCommit
from odradek.broker.housekeeping import Housekeeping
from odradek.broker.metadata import Metadata
from odradek.broker.partition import HostedPartition
from odradek.broker.replicas import Replicas
from odradek.log.directories import LogDirectories
from odradek.log.log import PartitionLog
from odradek.model.config.broker_config import BrokerConfig
from odradek.model.errors import StorageError
from odradek.model.ids import BrokerId, Partition
from odradek.model.image import ClusterImage, ConfigEntity
from odradek.observe.metrics import Histogram
from odradek.runtime.tasks import Tasks
from odradek.runtime.workers import Workers
from odradek.testing.batches import batch_of
from odradek.testing.sim_clock import SimClock
from odradek.testing.sim_disk import SimDisk
from odradek.testing.sim_workers import SimWorkers

SELF = BrokerId(0)


class KeptLogs:
    """To be made on the loop. Topics are configured with `configure` before their logs are made."""

    def __init__(
        self,
        clock: SimClock,
        settings: Mapping[str, str] | None = None,
        *,
        data_dirs: tuple[str, ...] = ("/data",),
        workers: Workers | None = None,
    ) -> None:
        self.clock = clock
        self.disk = SimDisk(Random(0))
        self.tasks = Tasks(self._faulted)
        self.metadata = Metadata(ClusterImage(cluster_id="kept"))
        config = BrokerConfig.of({"broker.id": "0", "log.dirs": ",".join(data_dirs), **(settings or {})})
        self.configs = Configs(config, lambda: self.metadata.image)
        self.directories = LogDirectories(
            self.disk,
            config.data_dirs,
            random_bytes=Random(0).randbytes,
            on_failure=lambda directory, lost: self.replicas.went_offline(directory, lost),
            delete_delay_ms=config.integer("log.segment.delete.delay.ms"),
        )
        workers = workers or SimWorkers()
        self.flush_times = Histogram()
        self.replicas = Replicas(
            SELF,
            clock,
            self.metadata,
            GroupCommit(self.tasks, workers, self._flush_failed, clock, self.flush_times),
            settings_of=self.configs.log_settings,
            isr_min_of=lambda _: 1,
            lag_ms_max=config.integer("replica.lag.time.max.ms"),
            propose_isr=lambda _partition, _isr: None,
        )
        self.replicas.directories = self.directories
        self.compaction = Compaction(
            clock,
            self.configs,
            self.directories,
            self.disk,
            processes=workers,
            random_bytes=Random(1).randbytes,
        )
        self.housekeeping = Housekeeping(
            self.tasks,
            clock,
            self.configs,
            self.directories,
            self.replicas,
            threads=workers,
            compaction=self.compaction,
            flush_times=self.flush_times,
        )
        self.directories.claim()
        self.directories.open_logs(self.configs.log_settings, (), clock.wall_ms())

    def configure(self, entity: ConfigEntity, **settings: object) -> None:
        """Set all of an entity's configuration, with `_` for the dots of its keys."""
        texts = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self.metadata.swap(self.metadata.image.with_config(entity, texts))
        self.configs.changed(entity, SELF)

    def log(self, topic: str, number: int = 0, **settings: object) -> PartitionLog:
        """A new log, of a topic so configured."""
        if settings:
            self.configure(ConfigEntity.topic(topic), **settings)
        return self.directories.create(
            Partition(topic, number), self.configs.log_settings(topic), self.clock.wall_ms()
        )

    def append(self, log: PartitionLog, *keys: bytes, value: bytes = b"value", roll: bool = False) -> None:
        """A batch a key, by now's time, seen by all replicas; then a new segment, if so wanted."""
        now_ms = self.clock.wall_ms()
        for key in keys:
            log.append(batch_of(now_ms, key=key, value=value), 0, now_ms)
        log.advance_high_watermark(log.log_end)
        if roll:
            log.roll(now_ms)

    def files(self, log: PartitionLog, ending: str) -> list[str]:
        return [name for name in self.disk.list(log.directory) if name.endswith(ending)]

    def _flush_failed(self, partition: HostedPartition, failure: StorageError) -> None:
        self.replicas.failed(partition, failure)

    def _faulted(self, task: str, error: BaseException) -> None:
        raise AssertionError(f"{task} failed") from error
