"""All data directories of a broker: where a log lives, where a new one goes, what a failed disk takes along.

A disk's failure is its own: the directory goes offline, the logs elsewhere serve on. Every method here tells
`on_failure` itself before it passes the error on; whoever meets a `StorageError` while using a log tells
`failed`. The node stops when none is left (`all_offline`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from odradek.log.checkpoint import NO_BROKER_EPOCH, ForeignDirectory, MetaProperties
from odradek.log.directory import DataDirectory, SettingsOf
from odradek.log.disk import Disk
from odradek.log.log import PartitionLog, ReadUpTo
from odradek.log.log_name import LogName, Standing
from odradek.log.recoveries import Outcome, Recovery
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId

Result = TypeVar("Result")
Id = TypeVar("Id", int, str)
OnFailure = Callable[[DataDirectory, list[Partition]], None]  # which serving logs were lost with it

_logger = logging.getLogger("odradek.log")


class LogDirectories:
    """`log.dirs`, by absolute path."""

    def __init__(
        self,
        disk: Disk,
        paths: Sequence[str],
        *,
        random_bytes: Callable[[int], bytes],
        on_failure: OnFailure,
        delete_delay_ms: int = 60_000,
    ) -> None:
        self._all = [DataDirectory(disk, path, random_bytes) for path in paths]
        self._on_failure = on_failure
        self._delete_delay_ms = delete_delay_ms

    def __iter__(self) -> Iterator[DataDirectory]:
        """All of them, those offline too."""
        return iter(self._all)

    @property
    def online(self) -> list[DataDirectory]:
        return [directory for directory in self._all if directory.failure is None]

    @property
    def all_offline(self) -> bool:
        return not self.online

    # -- from cold to open -----------------------------------------------------------------------------------

    def claim(self) -> MetaProperties:
        """Lock and read them all, and say whose they are as far as they know. `ForeignDirectory` if one is in
        use or they disagree: then none is kept."""
        try:
            self._on_each(DataDirectory.claim)
            return MetaProperties(
                _agreed({each.path: each.meta.broker_id for each in self.online}, "broker"),
                _agreed({each.path: each.meta.cluster_id for each in self.online}, "cluster"),
            )
        except ForeignDirectory:
            self.release()
            raise

    def sign(self, meta: MetaProperties) -> None:
        """From now on they are this broker's. `ForeignDirectory` if one is another's: then none is kept."""
        try:
            self._on_each(lambda directory: directory.sign(meta))
        except ForeignDirectory:
            self.release()
            raise

    def recoveries(self, settings_of: SettingsOf) -> list[Recovery]:
        """What the last stop left to be done before `open_logs`: with `recover_logs`, on every core."""
        found = self._on_each(lambda directory: directory.recoveries(settings_of))
        return [recovery for each in found for recovery in each]

    def open_logs(self, settings_of: SettingsOf, outcomes: Sequence[Outcome], now_ms: int) -> None:
        """Open every log. `outcomes` are those of all the `recoveries`."""
        due_ms = now_ms + self._delete_delay_ms
        self._on_each(lambda directory: directory.open_logs(settings_of, outcomes, now_ms, due_ms))
        self._settle_moves(now_ms)

    # -- logs ------------------------------------------------------------------------------------------------

    def log(self, partition: Partition) -> PartitionLog | None:
        home = self.home(partition)
        return None if home is None else home.logs[partition]

    def future(self, partition: Partition) -> PartitionLog | None:
        """The copy that is to replace the log, while it moves between directories."""
        return next((each.futures[partition] for each in self._all if partition in each.futures), None)

    def home(self, partition: Partition) -> DataDirectory | None:
        return next((each for each in self._all if partition in each.logs), None)

    def create(
        self,
        partition: Partition,
        settings: LogSettings,
        now_ms: int,
        *,
        topic_id: TopicId | None = None,
        path: str | None = None,
    ) -> PartitionLog:
        """A new log, in the directory at `path` or in the one that holds the fewest."""
        assert self.home(partition) is None
        self.abandon_future(partition, now_ms)
        directory = self._least_loaded() if path is None else self._at(path)
        with self._blaming(directory):
            return directory.create(LogName(partition), topic_id, settings, now_ms)

    def delete(self, partitions: Iterable[Partition], now_ms: int) -> None:
        """Logs and their futures go: renamed now, removed when nobody can be reading them.
        Where a disk fails instead, they are lost with it, and back if it comes back."""
        going = set(partitions)
        self._on_each(lambda directory: self._delete_from(directory, going, now_ms))

    def remove_due(self, now_ms: int) -> None:
        """Deleted logs go for good, here and now."""
        self._on_each(lambda directory: directory.take_deleted(now_ms).run())

    def cut(self, offsets: Mapping[Partition, int]) -> None:
        """Forget everything from these offsets on, in the logs that are here and in their futures."""
        for directory in self.online:
            with self._blaming(directory):
                directory.cut(offsets)

    def start_over(self, partition: Partition, offset: int, now_ms: int) -> None:
        """Forget everything, to go on at `offset`. A move, if there is one, is given up."""
        self.abandon_future(partition, now_ms)
        directory, _ = self._serving(partition)
        with self._blaming(directory):
            directory.start_over(partition, offset)

    # -- moving between directories --------------------------------------------------------------------------

    def create_future(self, partition: Partition, path: str, now_ms: int) -> None:
        """Begin a move to another directory: `fill_future` until nothing is left, then `promote_future`."""
        source, log = self._serving(partition)
        target = self._at(path)
        assert target is not source
        assert self.future(partition) is None
        topic_id = source.topic_id(LogName(partition))
        with self._blaming(target):
            name = LogName(partition, Standing.FUTURE)
            future = target.create(name, topic_id, log.settings, now_ms)
            future.truncate_fully_and_start_at(log.log_start)

    def fill_future(self, partition: Partition, max_bytes: int, now_ms: int) -> int:
        """Copy about so many bytes more; answers how many offsets the future still lacks."""
        _, log = self._serving(partition)
        target = next(each for each in self._all if partition in each.futures)
        future = target.futures[partition]
        with self._blaming(target):
            if future.log_end < log.log_start:
                future.truncate_fully_and_start_at(log.log_start)
            if future.log_end < log.log_end:
                part = log.read(future.log_end, max_bytes, ReadUpTo.LOG_END).slice
                if (
                    part is not None
                ):  # else the last offsets were compacted away, and only the next batch helps
                    future.append_as_follower(part.read(), now_ms)
            future.advance_high_watermark(log.high_watermark)
            future.advance_log_start(log.log_start)
        return log.log_end - future.log_end

    def promote_future(self, partition: Partition, now_ms: int) -> PartitionLog:
        """The future log has caught up and serves from now on; the other one goes. Between the two renames a
        crash leaves both, equal: `open_logs` tells them apart."""
        source, log = self._serving(partition)
        target = next(each for each in self._all if partition in each.futures)
        assert target.futures[partition].log_end == log.log_end
        with self._blaming(target):
            promoted = target.promote(partition, now_ms)
            cleaned_until = source.cleaned_until(partition)
            if cleaned_until is not None:
                target.note_cleaned(partition, cleaned_until)
        with suppress(StorageError), self._blaming(source):
            source.delete([LogName(partition)], now_ms + self._delete_delay_ms)
        return promoted

    def abandon_future(self, partition: Partition, now_ms: int) -> None:
        for directory in self.online:
            if partition in directory.futures:
                with self._blaming(directory):
                    name = LogName(partition, Standing.FUTURE)
                    directory.delete([name], now_ms + self._delete_delay_ms)

    # -- chores, each on its own schedule --------------------------------------------------------------------

    def checkpoint_recovery_points(self) -> None:
        self._on_each(DataDirectory.checkpoint_recovery_points)

    def checkpoint_high_watermarks(self) -> None:
        self._on_each(DataDirectory.checkpoint_high_watermarks)

    def checkpoint_log_starts(self) -> None:
        self._on_each(DataDirectory.checkpoint_log_starts)

    # -- the end ---------------------------------------------------------------------------------------------

    def close(self, now_ms: int, broker_epoch: int = NO_BROKER_EPOCH) -> None:
        """A clean stop of every directory that still works."""
        self._on_each(lambda directory: directory.close(now_ms, broker_epoch))
        self.release()

    def release(self) -> None:
        """Let go of every lock."""
        for directory in self._all:
            directory.release()

    def failed(self, path: str, reason: str) -> None:
        """Using something at `path` (a log's directory, say) raised `StorageError`."""
        for directory in self.online:
            if path == directory.path or path.startswith(f"{directory.path}/"):
                self._fail(directory, reason)

    # -- inside ----------------------------------------------------------------------------------------------

    def _on_each(self, act: Callable[[DataDirectory], Result]) -> list[Result]:
        """With every directory online; one that fails meanwhile goes offline and answers nothing."""
        results = []
        for directory in self.online:
            with suppress(StorageError), self._blaming(directory):
                results.append(act(directory))
        return results

    @contextmanager
    def _blaming(self, directory: DataDirectory) -> Iterator[None]:
        try:
            yield
        except StorageError as error:
            self._fail(directory, str(error))
            raise

    def _fail(self, directory: DataDirectory, reason: str) -> None:
        _logger.error("%s is offline: %s", directory.path, reason)
        self._on_failure(directory, directory.fail(reason))

    def _serving(self, partition: Partition) -> tuple[DataDirectory, PartitionLog]:
        directory = self.home(partition)
        assert directory is not None, f"{partition} is not here"
        return directory, directory.logs[partition]

    def _at(self, path: str) -> DataDirectory:
        directory = next(each for each in self._all if each.path == path)
        if directory.failure is not None:
            raise StorageError(f"{path} is offline: {directory.failure}")
        return directory

    def _least_loaded(self) -> DataDirectory:
        if not self.online:
            raise StorageError("every data directory is offline")
        return min(self.online, key=len)

    def _delete_from(self, directory: DataDirectory, going: set[Partition], now_ms: int) -> None:
        names = [LogName(each) for each in directory.logs if each in going]
        names += [LogName(each, Standing.FUTURE) for each in directory.futures if each in going]
        if names:
            directory.delete(names, now_ms + self._delete_delay_ms)

    def _settle_moves(self, now_ms: int) -> None:
        """Moves that the last stop interrupted: of two serving logs the longer one stays, and a future keeps
        what it has in common with its log."""
        homes: dict[Partition, DataDirectory] = {}
        for directory in self.online:
            for partition, log in list(directory.logs.items()):
                other = homes.setdefault(partition, directory)
                if other is not directory:
                    loser = directory if log.log_end <= other.logs[partition].log_end else other
                    homes[partition] = other if loser is directory else directory
                    _logger.warning("%s was being moved; what is in %s goes", partition, loser.path)
                    with suppress(StorageError), self._blaming(loser):
                        loser.delete([LogName(partition)], now_ms + self._delete_delay_ms)
        for directory in self.online:
            for partition in list(directory.futures):
                if partition in homes:
                    with suppress(StorageError), self._blaming(directory):
                        self._resume_move(partition, homes[partition], directory, now_ms)

    def _resume_move(
        self, partition: Partition, source: DataDirectory, target: DataDirectory, now_ms: int
    ) -> None:
        name, log, future = (
            LogName(partition, Standing.FUTURE),
            source.logs[partition],
            target.futures[partition],
        )
        is_same_topic = target.topic_id(name) == source.topic_id(LogName(partition))
        # Of a compacted log nobody can tell what a crash took from the middle.
        if is_same_topic and (target.was_clean or not future.settings.compacted):
            target.cut({partition: _common_end(future, log)})
        else:
            target.delete([name], now_ms + self._delete_delay_ms)
            if is_same_topic:
                self.create_future(partition, target.path, now_ms)


def _common_end(future: PartitionLog, log: PartitionLog) -> int:
    """Up to where a future holds what its log does. Either may have lost its end, or have been cut while the
    other's disk was away; batches of one epoch are the same in both."""
    end = min(future.log_end, log.log_end)
    for epoch, start_offset in reversed(future.epochs.entries):
        known, until = log.end_of_epoch(epoch)
        if known == epoch:
            return min(end, until)
        end = min(end, start_offset)
    return end


def _agreed(said: dict[str, Id | None], whose: str) -> Id | None:
    """What all say who say something."""
    ids = {path: id for path, id in said.items() if id is not None}
    if len(set(ids.values())) > 1:
        told = ", ".join(f"{path} of {whose} {id}" for path, id in ids.items())
        raise ForeignDirectory(f"the data directories disagree whose they are: {told}")
    return next(iter(ids.values()), None)
