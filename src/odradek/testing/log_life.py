"""The life of one log, from a seed: appends of every kind, cuts, retention, full and failing disks, crashes.

The real code on a `SimDisk`, through `LogDirectories`, the way a broker uses it. A `History` is kept beside
it, and after every restart, and at the end, the log is held against it under the laws of `testing/laws.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from random import Random

from odradek.log.directories import LogDirectories
from odradek.log.directory import DataDirectory
from odradek.log.flush import Flush
from odradek.log.log import PartitionLog
from odradek.log.offset_file import Draft
from odradek.log.producers import WINDOW
from odradek.log.recoveries import recover_logs
from odradek.log.retention import expired
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId
from odradek.testing.laws import Batch, History, LogEvidence, broken, log_laws
from odradek.testing.sim_clock import START_MS
from odradek.testing.sim_disk import SimDisk
from odradek.wire.batch import read_header, stamp
from odradek.wire.compression import Codec
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.records import NO_PRODUCER, BatchBuilder, Producer

ROOTS = ["/one", "/two"]
PARTITION = Partition("orders", 0)


class LogLife:
    """One seed's log. `live` does so many things to it; what breaks a law is an `AssertionError`."""

    def __init__(self, seed: int, weights: Mapping[str, int]) -> None:
        self.random = Random(seed)
        self.disk = SimDisk(Random(self.random.random()))
        self.now_ms = START_MS
        self._settings = _settings(self.random)
        self.history = History(self._settings.compacted)
        self._may_be_gone = False  # deleted, or not
        # No checksum covers a base offset: where offsets may be missing, nobody can tell a flipped one.
        self.disk.flips = not self._settings.compacted
        self._laws = log_laws(self.random.choice((1, 100, 1000, 100_000)))
        self._does = [getattr(self, name) for name in weights]
        self._weights = list(weights.values())
        self._told: list[str] = []  # what was done, for whoever has to understand a broken law
        self._epoch = 0
        self._producers: dict[int, Producer] = {}  # as which each of them writes its next batch
        self._open_transactions: set[int] = set()
        self._recent: dict[int, list[Batch]] = {}  # by producer, since the log was opened or cut
        self._flush: Flush | None = None
        self._drafts: list[tuple[DataDirectory, Draft]] = []  # of checkpoints
        self._directories = self._start()
        self._create()

    @property
    def log(self) -> PartitionLog:
        log = self._directories.log(PARTITION)
        assert log is not None
        return log

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self._tick()
            (do,) = self.random.choices(self._does, self._weights)
            self._tell(do.__name__)
            try:
                do()
            except StorageError as error:
                self._tell(f"failed: {error}")
                self._after_failure()
        self.stop_cleanly()

    # -- appends ---------------------------------------------------------------------------------------------

    def append_plain(self) -> None:
        self._append(NO_PRODUCER)

    def append_idempotent(self) -> None:
        producer_id = self.random.randrange(1, 4)
        self._append(self._next(producer_id))

    def append_transactional(self) -> None:
        producer_id = self.random.randrange(10, 14)
        self._open_transactions.add(producer_id)
        self._append(self._next(producer_id), transactional=True)

    def append_duplicate(self) -> None:
        """What a producer sends again is answered with where it lies, and not written again."""
        if not self._recent:
            return
        batch = self.random.choice(self.random.choice(list(self._recent.values()))[-WINDOW:])
        again = bytearray(batch.data)
        stamp(again, 0, -1)
        end = self.log.log_end
        appended = self.log.append(again, self._epoch, self.now_ms)
        assert (appended.duplicate, appended.base_offset) == (True, batch.header.base_offset)
        assert self.log.log_end == end

    def append_marker(self) -> None:
        if not self._open_transactions:
            return
        producer_id = self.random.choice(sorted(self._open_transactions))
        aborted = self.random.random() < 0.5
        marker = Marker(MarkerType.ABORT if aborted else MarkerType.COMMIT, 0)
        epoch, end = self._next(producer_id).epoch, self.log.log_end
        batch = build_marker(marker, producer_id, epoch, self.now_ms)
        stamp(batch, end, self._epoch)
        data = bytes(batch)
        self.history.tried(data, end)
        self.log.append_marker(
            producer_id,
            epoch,
            aborted=aborted,
            coordinator_epoch=0,
            leader_epoch=self._epoch,
            now_ms=self.now_ms,
        )
        self._open_transactions.discard(producer_id)
        self.history.appended(data)

    def fence_producer(self) -> None:
        """A new incarnation of a producer, in its next epoch; what it had open is aborted for it."""
        if not self._producers:
            return
        producer = self.random.choice(list(self._producers.values()))
        while producer.id in self._open_transactions:
            self.append_marker()
        self._producers[producer.id] = Producer(producer.id, producer.epoch + 1, 0)
        self._recent.pop(producer.id, None)

    def append_as_follower(self) -> None:
        """Several batches at once, perhaps with offsets missing that the leader compacted away."""
        end, batches = self.log.log_end, []
        for _ in range(self.random.randrange(1, 4)):
            batch = self._batch(NO_PRODUCER)
            base_offset = end + (self.random.choice((0, 0, 1, 5)) if self._settings.compacted else 0)
            stamp(batch, base_offset, self._epoch)
            self.history.tried(bytes(batch), end)
            batches.append(bytes(batch))
            end = read_header(batch).next_offset
        cut_off = b"".join(batches) + batches[0][: self.random.randrange(40)]
        self.log.append_as_follower(cut_off, self.now_ms)
        for data in batches:
            self.history.appended(data)

    def begin_epoch(self) -> None:
        self._epoch += self.random.randrange(1, 3)
        if self.random.random() < 0.5:
            self.log.begin_epoch(self._epoch)

    # -- what moves the offsets ------------------------------------------------------------------------------

    def roll(self) -> None:
        self.log.roll(self.now_ms)

    def advance_high_watermark(self) -> None:
        self.log.advance_high_watermark(self.random.randint(self.log.high_watermark, self.log.log_end))

    def delete_records(self) -> None:
        before = self.random.randint(self.log.log_start, self.log.high_watermark)
        self.history.start_max = max(self.history.start_max, before)
        self.log.delete_records(before)

    def retain(self) -> None:
        """Drop what retention lets go, and remove the files of what was dropped earlier."""
        going = expired(self.log.facts(), self.log.settings, self.now_ms).segments
        if going:
            left = [each for each in self.log.segments if each.base_offset > going[-1][0].base_offset]
            end = left[0].base_offset if left else self.log.log_end
            self.history.start_max = max(self.history.start_max, end)
            self.log.drop_segments(end, self.now_ms)
        self.log.take_deleted(self.now_ms).run()

    def cut(self) -> None:
        """As a follower of a new leader."""
        floor = self.log.high_watermark if self.random.random() < 0.8 else self.log.log_start
        offset = self.random.randint(floor, self.log.log_end)
        self.history.cut(offset)
        self._flush = None
        self._directories.cut({PARTITION: offset})
        self._after_cut()

    def start_over(self) -> None:
        offset = self.random.choice((self.log.log_end + 3, self.log.log_start))
        self.history.cut(0)
        self.history.start_max = max(self.history.start_max, offset)
        self._flush = None
        self._directories.start_over(PARTITION, offset, self.now_ms)
        self._after_cut()

    # -- directories -----------------------------------------------------------------------------------------

    def move(self) -> None:
        """The next step of moving the log to the other directory."""
        if self._directories.future(PARTITION) is None:
            home = self._directories.home(PARTITION)
            other = next(each for each in self._directories if each is not home)
            if other.failure is None:
                self._directories.create_future(PARTITION, other.path, self.now_ms)
        elif self._directories.fill_future(PARTITION, self.random.choice((1, 500)), self.now_ms) == 0:
            self.end_flush()
            self._directories.promote_future(PARTITION, self.now_ms)
            self.history.flushed_until = self.log.log_end
        self._directories.remove_due(self.now_ms)
        self._give_up_if_offline()

    def recreate(self) -> None:
        """The topic is deleted, and made again under its name: nothing of the old one comes back."""
        home = self._directories.home(PARTITION)
        assert home
        self._flush, self._may_be_gone = None, True
        self._directories.delete([PARTITION], self.now_ms)
        if home.failure is not None:
            raise StorageError(home.failure)
        self._create()

    def _create(self) -> None:
        self._may_be_gone = True
        self.history = History(self._settings.compacted)
        topic_id = TopicId(self.random.randbytes(16))
        self._directories.create(PARTITION, self._settings, self.now_ms, topic_id=topic_id)
        self._may_be_gone = False
        self._remember_producers()

    # -- durability ------------------------------------------------------------------------------------------

    def flush(self) -> None:
        end = self.log.log_end
        self.log.flush(self.now_ms)
        self.history.flushed_until = max(self.history.flushed_until, end)

    def begin_flush(self) -> None:
        self._flush = self.log.begin_flush()

    def end_flush(self) -> None:
        flush, self._flush = self._flush, None
        if flush is not None:
            flush.run()
            self.log.flushed(flush, self.now_ms)
            self.history.flushed_until = max(self.history.flushed_until, flush.offset)

    def checkpoint(self) -> None:
        self._directories.checkpoint_recovery_points()
        self._directories.checkpoint_high_watermarks()
        self._directories.checkpoint_log_starts()
        self._give_up_if_offline()

    def begin_checkpoint(self) -> None:
        drafts = [
            (directory, draft)
            for directory in self._directories.online
            for draft in (
                directory.draft_recovery_points(),
                directory.draft_high_watermarks(),
                directory.draft_log_starts(),
            )
        ]
        self._drafts = [(directory, draft) for directory, draft in drafts if draft is not None]

    def end_checkpoint(self) -> None:
        drafts, self._drafts = self._drafts, []
        for directory, draft in drafts:
            if directory.failure is None:
                draft.write()
                draft.place()

    # -- the world -------------------------------------------------------------------------------------------

    def crash(self) -> None:
        """The machine dies: what was flushed is there."""
        self.disk.crash()
        self.history.safe_until = self.history.flushed_until
        self._restart()

    def kill(self) -> None:
        """The process dies and the machine goes on: whatever was appended is there, flushed or not."""
        self.disk.kill()
        self.history.safe_until = self.history.end
        self._restart()

    def stop_cleanly(self) -> None:
        """Then everything is as it was, and nothing needs to be recovered."""
        end = self.log.log_end
        try:
            self._directories.close(self.now_ms)
            self._give_up_if_offline()
        except StorageError:
            self._after_failure()
            return
        self.history.flushed_until = self.history.safe_until = end
        self._restart()

    def fill_up(self) -> None:
        """Soon the disk has no room."""
        self.disk.capacity = self.disk.used + self.random.randrange(2000)

    def make_room(self) -> None:
        self.disk.capacity = sys.maxsize

    def fail_sometimes(self) -> None:
        self.disk.error_rate = self.random.choice((0.0, 0.02, 0.2))

    # -- inside ----------------------------------------------------------------------------------------------

    def _append(self, producer: Producer, *, transactional: bool = False) -> None:
        batch = self._batch(producer, transactional=transactional)
        end = self.log.log_end
        try:
            self.log.append(batch, self._epoch, self.now_ms)
        finally:
            self.history.tried(bytes(batch), end)
        self.history.appended(bytes(batch))
        if producer is not NO_PRODUCER:
            sequence = producer.sequence + read_header(batch).record_count
            self._producers[producer.id] = producer._replace(sequence=sequence)
            self._recent.setdefault(producer.id, []).append(self.history.log[-1])

    def _next(self, producer_id: int) -> Producer:
        return self._producers.get(producer_id, Producer(producer_id, 0, 0))

    def _batch(self, producer: Producer, *, transactional: bool = False) -> bytearray:
        codec = self.random.choice((Codec.NONE, Codec.NONE, Codec.NONE, Codec.GZIP, Codec.LZ4))
        builder = BatchBuilder(codec=codec, producer=producer, transactional=transactional)
        for _ in range(self.random.choice((1, 1, 2, 5))):
            timestamp = self.now_ms - self.random.choice((0, 0, 5, 50, 5000))
            builder.append(
                timestamp,
                b"%d" % self.random.randrange(5),
                self.random.randbytes(self.random.choice((0, 8, 60))),
            )
        return builder.build()

    def _tick(self) -> None:
        self.now_ms += self.random.choice((1, 1, 10, 1000))
        self.disk.now_ms = self.now_ms

    def _tell(self, what: str) -> None:
        self._told.append(f"{len(self._told)} {what}")

    def _after_cut(self) -> None:
        """Only a new leader has replicas cut, and it has an epoch of its own."""
        self._epoch += 1
        self.history.cut(self.log.log_end)
        self._remember_producers()

    def _remember_producers(self) -> None:
        """Clients go on from what the log knows of them."""
        known = list(self.log.producers.describe())
        self._producers = {
            each.producer_id: Producer(each.producer_id, each.epoch, each.last_sequence + 1) for each in known
        }
        self._recent = {}
        self._open_transactions = {each.producer_id for each in known if each.transaction_first_offset >= 0}

    def _give_up_if_offline(self) -> None:
        if self._directories.log(PARTITION) is None:
            raise StorageError("its directory went offline")

    def _after_failure(self) -> None:
        """A directory that failed is only served again by a broker that was started anew. After a failed sync
        that has to be a machine that was started anew: its cache tells what the disk does not hold."""
        if self.disk.deceives or self.random.random() < 0.5:
            self.crash()
        else:
            self.kill()

    def _restart(self) -> None:
        self._flush, self._drafts = None, []
        self._directories.release()
        self.disk.capacity = sys.maxsize
        self.disk.error_rate = 0.0
        if self.random.random() < 0.2:
            self._start_in_vain()
        self._directories = self._start()
        if self._may_be_gone and self._directories.log(PARTITION) is None:
            self._create()
        self._check()

    def _start_in_vain(self) -> None:
        """The disk may fail, and in the end the machine does."""
        self.disk.error_rate = 0.05
        try:
            self._start()
        except StorageError as error:
            self._tell(f"failed to start: {error}")
        self.disk.error_rate = 0.0
        self.disk.crash()
        self.history.safe_until = self.history.flushed_until

    def _start(self) -> LogDirectories:
        directories = LogDirectories(self.disk, ROOTS, random_bytes=self.random.randbytes, on_failure=_ignore)
        directories.claim()
        recoveries = directories.recoveries(lambda _: self._settings)
        outcomes = recover_logs(self.disk, recoveries)
        self._told += [f"recovered: {each}" for each in outcomes]
        directories.open_logs(lambda _: self._settings, outcomes, self.now_ms)
        return directories

    def _check(self) -> None:
        evidence = LogEvidence(self.disk, self.log, self.history)
        complaints = broken(self._laws, evidence)
        assert not complaints, "\n".join([*self._told, *complaints])
        self.history.log = evidence.everything
        self.history.flushed_until = self.log.recovery_point
        self._epoch = max(self._epoch, *(batch.header.leader_epoch for batch in self.history.log[-1:]), 0) + 1
        self._remember_producers()


def _settings(random: Random) -> LogSettings:
    return LogSettings(
        segment_bytes=random.choice((600, 1000, 5000)),
        segment_ms=random.choice((2000, 1 << 40)),
        segment_index_bytes=random.choice((48, 120, 4096)),
        index_interval_bytes=random.choice((0, 100, 400)),
        preallocate=random.random() < 0.2,
        retention_ms=random.choice((-1, 3000, 60_000)),
        retention_bytes=random.choice((-1, 2000)),
        file_delete_delay_ms=random.choice((0, 2000)),
        cleanup_policy=frozenset(random.choice((["delete"], ["delete"], ["compact", "delete"]))),
    )


def _ignore(directory: DataDirectory, lost: list[Partition]) -> None:
    """Whoever lives this log finds out by itself."""
