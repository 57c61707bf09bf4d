"""The partitions we host; the controller's orders make us leader or follower of each.

Also the broker's side of what a partition asks of its surroundings: the time, a flush, a change of its
in-sync set. A failed disk is met here: its partitions go offline, everything else serves on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from odradek.broker.partition import HostedPartition
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.model.ids import NO_TOPIC_ID, BrokerId, Partition, TopicId
from odradek.replication.replica import Order, Replica

if TYPE_CHECKING:
    from odradek.broker.fetch_sessions import Wanted
    from odradek.broker.group_commit import GroupCommit
    from odradek.broker.metadata import Metadata
    from odradek.log.directories import LogDirectories
    from odradek.log.directory import DataDirectory
    from odradek.log.settings import LogSettings
    from odradek.runtime.clock import Clock

_logger = logging.getLogger("odradek.broker.replicas")

ProposeIsr = Callable[[HostedPartition, frozenset[BrokerId]], None]
TopicSettings = Callable[[str], "LogSettings"]
IsrMin = Callable[[str], int]
Obeyed = Callable[[HostedPartition], None]


class Replicas:
    def __init__(
        self,
        self_id: BrokerId,
        clock: Clock,
        metadata: Metadata,
        commits: GroupCommit,
        *,
        settings_of: TopicSettings,
        isr_min_of: IsrMin,
        lag_ms_max: int,
        propose_isr: ProposeIsr,
    ) -> None:
        self._self_id = self_id
        self._clock = clock
        self._metadata = metadata
        self._commits = commits
        self._settings_of = settings_of
        self._isr_min_of = isr_min_of
        self._lag_ms_max = lag_ms_max
        self._propose_isr = propose_isr
        self._by_topic: dict[str, dict[int, HostedPartition]] = {}
        self._by_id: dict[TopicId, dict[int, HostedPartition]] = {}
        self._offline: set[Partition] = set()
        self.directories: LogDirectories | None = None
        self.preferred_directories: dict[Partition, str] = {}  # of partitions that are still to come
        self._obeyed: list[Obeyed] = []

    def __iter__(self) -> Iterator[HostedPartition]:
        for partitions in self._by_topic.values():
            yield from partitions.values()

    @property
    def offline_count(self) -> int:
        """Partitions that would be here, had their disk not failed."""
        return len(self._offline)

    # -- for handlers ------------------------------------------------------------------------------------

    def hosted(self, topic: str, number: int) -> HostedPartition:
        try:
            return self._by_topic[topic][number]
        except KeyError:
            raise self._not_hosted(Partition(topic, number)) from None

    def find(self, name: Partition) -> HostedPartition | None:
        return self._by_topic.get(name.topic, {}).get(name.number)

    def hosted_by_id(self, id: bytes, number: int) -> HostedPartition:
        try:
            return self._by_id[TopicId(id)][number]
        except KeyError:
            name = self._metadata.image.topic_names.get(TopicId(id))
            if name is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID) from None
            raise self._not_hosted(Partition(name, number)) from None

    def those_of(self, wanted: Collection[Wanted]) -> list[HostedPartition]:
        """Those of them that are here."""
        found = []
        for each in wanted:
            partitions = (
                self._by_topic.get(each.topic) if each.topic else self._by_id.get(TopicId(each.topic_id))
            )
            partition = partitions.get(each.index) if partitions is not None else None
            if partition is not None:
                found.append(partition)
        return found

    def failed(self, partition: HostedPartition, failure: StorageError) -> ApiError:
        """Using this partition's log met a failed disk. What to tell the client."""
        assert self.directories is not None
        self.directories.failed(partition.log.directory, str(failure))
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure))

    def on_order(self, obeyed: Obeyed) -> None:
        """Be called when a partition did as the controller ordered, or left this broker."""
        self._obeyed.append(obeyed)

    # -- for the controller's orders ---------------------------------------------------------------------

    def obey(self, name: Partition, id: TopicId, order: Order) -> HostedPartition:
        """Host this partition as ordered; its log is made if there is none."""
        if name in self._offline:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the disk that holds {name} has failed")
        partition = self._by_topic.get(name.topic, {}).get(name.number)
        if partition is not None and NO_TOPIC_ID not in (id, partition.id) and id != partition.id:
            raise ApiError(ErrorCode.INCONSISTENT_TOPIC_ID, f"{name} is here with another topic id")
        if partition is None:
            partition = self._host(name, id)
        partition.obey(order)
        self._tell(partition)
        return partition

    def stop(self, names: Iterable[Partition], *, delete: bool) -> None:
        """Host these no more; with `delete`, their logs go too."""
        assert self.directories is not None
        stopped = []
        for name in names:
            partition = self._by_topic.get(name.topic, {}).pop(name.number, None)
            if partition is None:
                continue
            stopped.append(name)
            if not self._by_topic[name.topic]:
                del self._by_topic[name.topic]
                self._by_id.pop(partition.id, None)
            partition.retire()
            self._tell(partition)
        if delete:
            self.directories.delete(stopped, self._clock.wall_ms())

    def stop_strays(self, told: Collection[Partition]) -> None:
        """The controller named all that is ours: whatever else is here was moved away while we were not."""
        strays = [partition.name for partition in self if partition.name not in told]
        if strays:
            _logger.warning("hosting no more what is not ours: %s", ", ".join(map(str, strays)))
            self.stop(strays, delete=False)

    def went_offline(self, directory: DataDirectory, lost: list[Partition]) -> None:
        """Its logs cannot be used any more."""
        del directory
        self._offline.update(lost)
        self.stop(lost, delete=False)

    def reconfigure(self, topic: str) -> None:
        """The topic's configuration changed."""
        for partition in self._by_topic.get(topic, {}).values():
            partition.log.configure(self._settings_of(topic))
            partition.isr_min = self._isr_min_of(topic)

    # -- for partitions ----------------------------------------------------------------------------------

    def now_ms(self) -> int:
        return self._clock.wall_ms()

    def flush_soon(self, partition: HostedPartition) -> None:
        self._commits.add(partition)

    def propose_isr(self, partition: HostedPartition, isr: frozenset[BrokerId]) -> None:
        self._propose_isr(partition, isr)

    # -- inside ------------------------------------------------------------------------------------------

    def _host(self, name: Partition, id: TopicId) -> HostedPartition:
        directories = self.directories
        assert directories is not None
        log = directories.log(name)
        if log is None:
            log = directories.create(
                name,
                self._settings_of(name.topic),
                self.now_ms(),
                topic_id=id,
                path=self.preferred_directories.pop(name, None),
            )
        replica = Replica(self._self_id, self._lag_ms_max)
        partition = HostedPartition(name, id, log, replica, self)
        partition.isr_min = self._isr_min_of(name.topic)
        partitions = self._by_topic.setdefault(name.topic, {})
        partitions[name.number] = partition
        if id != NO_TOPIC_ID:
            self._by_id[id] = partitions
        return partition

    def _tell(self, partition: HostedPartition) -> None:
        for obeyed in self._obeyed:
            obeyed(partition)

    def _not_hosted(self, name: Partition) -> ApiError:
        if name in self._offline:
            return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the disk that holds {name} has failed")
        if self._metadata.image.partition(name) is not None:
            return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{name} is not on this broker")
        return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
