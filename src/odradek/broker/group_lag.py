"""How far the groups that are coordinated here are behind, told to who watches.

In records: from the committed offset to the high watermark. In seconds: the age of the oldest record that is
not consumed yet, 0 without any; the time of its batch's first record counts, so only a header is read. Only
the leader of a partition knows both, so a coordinator tells of the partitions that it leads itself; of the
others it tells the offset.

A scrape reads at most READS_MAX headers: who stayed where it was is remembered, and where more have moved on
they take turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.log.log import ReadUpTo
from odradek.model.errors import ApiError, StorageError
from odradek.model.ids import Partition
from odradek.observe.sources import GroupFacts, ProgressFacts
from odradek.wire.batch import HEADER_SIZE, LOG_APPEND_TIME, read_header

if TYPE_CHECKING:
    from odradek.broker.groups import Groups
    from odradek.broker.partition import HostedPartition
    from odradek.broker.replicas import Replicas
    from odradek.groups.offsets import Place
    from odradek.runtime.clock import Clock

READS_MAX = 2_000


class GroupLag:
    def __init__(
        self, groups: Groups, replicas: Replicas, clock: Clock, *, reads_max: int = READS_MAX
    ) -> None:
        self._groups = groups
        self._replicas = replicas
        self._clock = clock
        self._reads_max = reads_max
        self._known: dict[Place, tuple[int, int]] = {}  # the offset, and the time of what stands there
        self._asked = 1  # how many times had to be read, if all could have been
        self._turn = 0  # whose it is to be read first, of those

    def facts(self) -> Iterator[GroupFacts]:
        """Group by group; others may be served in between."""
        known: dict[Place, tuple[int, int]] = {}
        turns = _Turns(self._turn, self._asked, self._reads_max)
        for hosted in list(self._groups.shards):
            for group in hosted.shard:
                progress = [
                    self._progress(place, value.offset, known, turns)
                    for place, value in hosted.shard.offsets.of(group.id)
                ]
                yield GroupFacts(group.id, group.state.value, len(group.members), progress)
        self._known = known
        self._asked = max(turns.asked, 1)
        self._turn = (self._turn + self._reads_max) % self._asked

    def _progress(
        self, place: Place, offset: int, known: dict[Place, tuple[int, int]], turns: _Turns
    ) -> ProgressFacts:
        partition = self._replicas.find(Partition(place.topic, place.partition))
        if partition is None or partition.replica.leading is None:
            return ProgressFacts(place.topic, place.partition, offset, None, None)
        lag = partition.log.high_watermark - offset
        if lag <= 0:
            return ProgressFacts(place.topic, place.partition, offset, lag, 0.0)
        before = self._known.get(place)
        if before is not None and before[0] == offset:
            known[place] = before
        elif turns.is_mine():
            timestamp = self._timestamp(partition, offset)
            if timestamp is not None:
                known[place] = (offset, timestamp)
        found = known.get(place)
        seconds = None if found is None else max(self._clock.wall_ms() - found[1], 0) / 1000
        return ProgressFacts(place.topic, place.partition, offset, lag, seconds)

    def _timestamp(self, partition: HostedPartition, offset: int) -> int | None:
        """Of the batch that holds the offset; of the log's first where that is gone."""
        log = partition.log
        try:
            found = log.read(max(offset, log.log_start), 1, ReadUpTo.HIGH_WATERMARK).slice
            if found is None:
                return None
            header = read_header(found.file.read(found.position, HEADER_SIZE))
        except ApiError:
            return None
        except StorageError as failure:
            self._replicas.failed(partition, failure)
            return None
        return header.max_timestamp if header.attributes & LOG_APPEND_TIME else header.base_timestamp


class _Turns:
    """Lets the next `count` of those who ask, in a circle of as many as asked the last time."""

    def __init__(self, first: int, circle: int, count: int) -> None:
        self._first = first
        self._circle = circle
        self._count = count
        self._given = 0
        self.asked = 0

    def is_mine(self) -> bool:
        is_mine = self._given < self._count and (
            (self.asked - self._first) % max(self._circle, self._count) < self._count
        )
        self.asked += 1
        self._given += is_mine
        return is_mine
