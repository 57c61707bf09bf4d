"""One data directory: whose it is, which logs live in it, and what its checkpoint files say of them.

It is claimed (locked, and what it says of itself read), signed, and its logs are opened; after a crash they
are recovered in between, wherever the caller likes (`log/recoveries.py`).

Two orders matter. The note of a clean stop is durably gone before anything is written, and durably there only
after everything else is. And the recovery points on disk never promise more than a log holds: a log is cut
through its directory, which corrects the file before anything new can be appended.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from odradek.log import checkpoint
from odradek.log.checkpoint import ForeignDirectory, Malformed, MetaProperties
from odradek.log.disk import Disk, Lock, Space
from odradek.log.log import PartitionLog
from odradek.log.log_name import LogName, Standing
from odradek.log.offset_file import Draft, OffsetFile
from odradek.log.open_files import OpenFiles
from odradek.log.recoveries import Outcome, Recovery
from odradek.log.recovery import NOTHING_KNOWN, Known
from odradek.log.removal import Removal
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId

LOCK = ".lock"
NOBODY = MetaProperties(None, None)

SettingsOf = Callable[[str], LogSettings]  # of a topic

_logger = logging.getLogger("odradek.log")


class DataDirectory:
    """One entry of `log.dirs`. Whatever raises `StorageError` here should take it offline: see `fail`."""

    def __init__(self, disk: Disk, path: str, random_bytes: Callable[[int], bytes]) -> None:
        self.path = path
        self.meta = NOBODY  # whose it is
        self.was_clean = False  # how the last broker left it
        self.failure: str | None = None  # why it is offline
        self.logs: dict[Partition, PartitionLog] = {}
        self.futures: dict[Partition, PartitionLog] = {}
        self._disk = disk
        self._files = OpenFiles(disk)
        self._random_bytes = random_bytes
        self._lock: Lock | None = None
        self._recovery_points = OffsetFile(disk, self._at(checkpoint.RECOVERY_POINTS))
        self._log_starts = OffsetFile(disk, self._at(checkpoint.LOG_STARTS))
        self._high_watermarks = OffsetFile(disk, self._at(checkpoint.HIGH_WATERMARKS))
        self._cleaned_until = OffsetFile(disk, self._at(checkpoint.CLEANED_UNTIL))
        self._deleted: dict[str, int] = {}  # path of what was a log -> when it is to be removed

    def __len__(self) -> int:
        """How many logs it holds."""
        return len(self.logs) + len(self.futures)

    def space(self) -> Space:
        """Of the file system it lies in."""
        return self._disk.space(self.path)

    # -- from cold to open ---------------------------------------------------------------------------------

    def claim(self) -> None:
        """Lock it, made if need be, and read what it says of itself."""
        self._disk.make_directory(self.path)
        self._lock = self._disk.lock(self._at(LOCK))
        if self._lock is None:
            raise ForeignDirectory(f"{self.path}: another broker uses it; its {LOCK} is held")
        self.meta = checkpoint.read_meta(self._disk, self._at(checkpoint.META_PROPERTIES)) or NOBODY
        stopped = checkpoint.read_clean_shutdown(self._disk, self._at(checkpoint.CLEAN_SHUTDOWN))
        self.was_clean = stopped is not None
        self._recovery_points.says = self._read_if_sound(checkpoint.RECOVERY_POINTS)
        self._log_starts.says = self._read_if_sound(checkpoint.LOG_STARTS)
        self._cleaned_until.says = self._read_if_sound(checkpoint.CLEANED_UNTIL)
        self._high_watermarks.says = checkpoint.read_offsets(self._disk, self._at(checkpoint.HIGH_WATERMARKS))

    def sign(self, meta: MetaProperties) -> None:
        """From now on it is this broker's; it was before, or nobody's."""
        for whose, mine, theirs in zip(("broker", "cluster"), self.meta, meta, strict=True):
            if mine is not None and mine != theirs:
                raise ForeignDirectory(f"{self.path}: belongs to {whose} {mine}, not to {whose} {theirs}")
        if meta != self.meta:
            checkpoint.write_meta(self._disk, self._at(checkpoint.META_PROPERTIES), meta)
            self.meta = meta

    def recoveries(self, settings_of: SettingsOf) -> list[Recovery]:
        """What is to be recovered before the logs are opened: nothing after a clean stop."""
        if self.was_clean:
            return []
        found = []
        for name, path in self._names(Standing.SERVING, Standing.FUTURE):
            known = self._known(name.partition)
            size = self._bytes_above(path, known.recovery_point)
            found.append(Recovery(path, settings_of(name.partition.topic), known, size))
        return found

    def open_logs(
        self, settings_of: SettingsOf, outcomes: Sequence[Outcome], now_ms: int, deleted_due_ms: int
    ) -> None:
        """Open every log. `outcomes` are those of its `recoveries`, and others'. What was deleted before the
        last stop will be removed at `deleted_due_ms`."""
        self._check(outcomes)
        self._disk.remove(self._at(checkpoint.CLEAN_SHUTDOWN))
        self._disk.sync_directory(self.path)
        for name, path in self._names(Standing.SERVING, Standing.FUTURE):
            known = self._known(name.partition)
            log = self._open(path, settings_of(name.partition.topic), now_ms, known)
            self._logs(name.standing)[name.partition] = log
        for _, path in self._names(Standing.DELETED):
            self._deleted[path] = deleted_due_ms
        self._correct()

    # -- logs come and go ----------------------------------------------------------------------------------

    def create(
        self, name: LogName, topic_id: TopicId | None, settings: LogSettings, now_ms: int
    ) -> PartitionLog:
        path = self._at(name.text(self._random_bytes(16)))
        self._disk.make_directory(path)
        if topic_id is not None:
            metadata = f"{path}/{checkpoint.PARTITION_METADATA}"
            checkpoint.write_partition_metadata(self._disk, metadata, topic_id)
        log = self._open(path, settings, now_ms, NOTHING_KNOWN)
        self._logs(name.standing)[name.partition] = log
        return log

    def topic_id(self, name: LogName) -> TopicId | None:
        """Which topic the log belongs to; None if it was never told."""
        path = self._logs(name.standing)[name.partition].directory
        return checkpoint.read_partition_metadata(self._disk, f"{path}/{checkpoint.PARTITION_METADATA}")

    def delete(self, names: Iterable[LogName], due_ms: int) -> None:
        """Take these logs out of service; their files go with `take_deleted` after `due_ms`. The
        checkpoints forget them at once, lest they speak of a later log of the same name."""
        going = list(names)
        for partition, standing in going:
            path = self._at(LogName(partition, Standing.DELETED).text(self._random_bytes(16)))
            self._rename(self._logs(standing)[partition], path)
            self._deleted[path] = due_ms
        self._disk.sync_directory(self.path)
        for partition, standing in going:
            del self._logs(standing)[partition]
        self._correct()

    def take_deleted(self, now_ms: int) -> Removal:
        """Of the deleted logs that are due; for the caller to run."""
        due = [path for path, due_ms in self._deleted.items() if due_ms <= now_ms]
        for path in due:
            del self._deleted[path]
        return Removal(self._disk, directories=tuple(due))

    def promote(self, partition: Partition, now_ms: int) -> PartitionLog:
        """The future log of a partition becomes the one that serves."""
        future = self.futures.pop(partition)
        future.close(now_ms)
        path = self._at(LogName(partition).text())
        self._rename(future, path)
        self._disk.sync_directory(self.path)
        known = Known(future.recovery_point, future.log_start, future.high_watermark)
        self.logs[partition] = self._open(path, future.settings, now_ms, known)
        return self.logs[partition]

    def cut(self, offsets: Mapping[Partition, int]) -> None:
        """Forget everything from these offsets on. Many at once, because the checkpoint may follow."""
        is_stale = False
        for partition, log in self._every_log():
            if partition in offsets and log.truncate_to(offsets[partition]):
                is_stale |= self._recovery_points.promises(partition) > log.recovery_point
                is_stale |= self._log_starts.promises(partition) > log.log_start
                is_stale |= self._cleaned_until.promises(partition) > log.log_end
        if is_stale:
            self._correct()

    def start_over(self, partition: Partition, offset: int) -> None:
        """Forget everything, to go on at `offset`."""
        self.logs[partition].truncate_fully_and_start_at(offset)
        self._correct()

    # -- checkpoints ---------------------------------------------------------------------------------------

    def checkpoint_recovery_points(self) -> None:
        self._recovery_points.keep(self._recovery_points_now())

    def checkpoint_high_watermarks(self) -> None:
        self._high_watermarks.keep(self._high_watermarks_now())

    def checkpoint_log_starts(self) -> None:
        self._log_starts.keep(self._log_starts_now())

    def draft_recovery_points(self) -> Draft | None:
        """The same with the disk's part elsewhere, as in all that follow; None where nothing has changed."""
        return self._recovery_points.draft(self._recovery_points_now())

    def draft_high_watermarks(self) -> Draft | None:
        return self._high_watermarks.draft(self._high_watermarks_now())

    def draft_log_starts(self) -> Draft | None:
        return self._log_starts.draft(self._log_starts_now())

    def cleaned_until(self, partition: Partition) -> int | None:
        """How far the log was compacted."""
        return self._cleaned_until.says.get(partition)

    def note_cleaned(self, partition: Partition, offset: int) -> None:
        self._cleaned_until.keep({**self._cleaned_until.says, partition: offset})

    # -- the end -------------------------------------------------------------------------------------------

    def close(self, now_ms: int, broker_epoch: int) -> None:
        """A clean stop. Quicker if the logs were flushed before, on threads."""
        for _, log in self._every_log():
            log.close(now_ms)
        self.checkpoint_recovery_points()
        self.checkpoint_log_starts()
        self.checkpoint_high_watermarks()
        checkpoint.write_clean_shutdown(self._disk, self._at(checkpoint.CLEAN_SHUTDOWN), broker_epoch)

    def release(self) -> None:
        """Let another broker claim it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def fail(self, reason: str) -> list[Partition]:
        """Its disk failed: nothing here is touched again. Answers which serving logs are lost with it."""
        self.failure = reason
        lost = list(self.logs)
        self.logs.clear()
        self.futures.clear()
        self._deleted.clear()
        return lost

    # -- inside --------------------------------------------------------------------------------------------

    def _check(self, outcomes: Sequence[Outcome]) -> None:
        """Every log that had to be recovered was; say what that cost it."""
        mine = {each.directory: each for each in outcomes if each.directory.startswith(f"{self.path}/")}
        for each in mine.values():
            if each.recovered is None:
                raise StorageError(each.failure)
            for line in each.recovered.lines:
                _logger.warning("%s", line)
        if not self.was_clean:
            for _, path in self._names(Standing.SERVING, Standing.FUTURE):
                assert path in mine, f"{path} was not recovered"

    def _correct(self) -> None:
        """Have no checkpoint speak of a log that is gone, or of what was cut off: what is appended next is
        something else."""
        self.checkpoint_recovery_points()
        self.checkpoint_log_starts()
        self.checkpoint_high_watermarks()
        ends = {at: log.log_end for at, log in self._every_log()}
        cleaned = {at: min(until, ends[at]) for at, until in self._cleaned_until.says.items() if at in ends}
        self._cleaned_until.keep(cleaned)

    def _recovery_points_now(self) -> dict[Partition, int]:
        return {at: log.recovery_point for at, log in self._every_log()}

    def _high_watermarks_now(self) -> dict[Partition, int]:
        return {at: log.high_watermark for at, log in self._every_log()}

    def _log_starts_now(self) -> dict[Partition, int]:
        """Of those logs that do not start where their first segment does."""
        return {at: log.log_start for at, log in self._every_log() if _starts_late(log)}

    def _rename(self, log: PartitionLog, path: str) -> None:
        self._disk.rename(log.directory, path)
        self._files.forget_below(log.directory)

    def _open(self, path: str, settings: LogSettings, now_ms: int, known: Known) -> PartitionLog:
        jitter = int.from_bytes(self._random_bytes(4), "big") / (1 << 32)
        return PartitionLog.open(self._files, path, settings, now_ms=now_ms, known=known, jitter=jitter)

    def _known(self, partition: Partition) -> Known:
        return Known(
            self._recovery_points.says.get(partition, 0),
            self._log_starts.says.get(partition, 0),
            self._high_watermarks.says.get(partition, 0),
            self._cleaned_until.says.get(partition, 0),
        )

    def _bytes_above(self, path: str, recovery_point: int) -> int:
        """How much of a log lies in segments that reach above its recovery point."""
        logs = [name for name in self._disk.list(path) if name.endswith(".log")]
        ends = [int(name.removesuffix(".log")) for name in logs[1:]]
        flushed = sum(end <= recovery_point for end in ends)
        return sum(self._disk.size(f"{path}/{name}") for name in logs[flushed:])

    def _read_if_sound(self, name: str) -> dict[Partition, int]:
        """A checkpoint that only saves work: without it more is looked at."""
        try:
            return checkpoint.read_offsets(self._disk, self._at(name))
        except Malformed as error:
            _logger.warning("%s; going on without it", error)
            return {}

    def _names(self, *wanted: Standing) -> Iterator[tuple[LogName, str]]:
        """The partition directories of these standings, with their paths."""
        for text in self._disk.list(self.path):
            name = LogName.parse(text)
            if name is not None and name.standing in wanted:
                yield name, self._at(text)

    def _logs(self, standing: Standing) -> dict[Partition, PartitionLog]:
        return self.logs if standing is Standing.SERVING else self.futures

    def _every_log(self) -> Iterator[tuple[Partition, PartitionLog]]:
        yield from self.logs.items()
        yield from self.futures.items()

    def _at(self, name: str) -> str:
        return f"{self.path}/{name}"


def _starts_late(log: PartitionLog) -> bool:
    return log.log_start > log.segments[0].base_offset
