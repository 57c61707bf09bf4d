"""Hosts coordinators: one shard for each partition of an internal topic that we lead.

A shard is a pure machine. When we become leader of its partition it is loaded by replaying the partition's
log, a slice at a time; when we cease to be, it is dropped. What it decides is appended, replayed, and the
reply held until every in-sync replica has it. So the state is that of the log's end, and whoever reads it
waits as a writer would: nothing is told that could yet be lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from odradek.broker.chores import in_slices
from odradek.broker.partition import ACKS_ALL
from odradek.log.log import Origin, ReadUpTo
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.model.ids import Partition
from odradek.model.outcome import Outcome, StoredRecord
from odradek.wire.batch import CONTROL, TRANSACTIONAL, BadBatch, BatchHeader, split
from odradek.wire.compression import Codec
from odradek.wire.markers import MarkerType, decode_marker
from odradek.wire.records import NO_PRODUCER, BatchBuilder, Producer, read_records, record_size_max

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.metadata import Metadata
    from odradek.broker.parked import Parked
    from odradek.broker.partition import HostedPartition
    from odradek.broker.replicas import Replicas
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.broker.shards")

LOAD_BYTES = 1024 * 1024
LATER_S = 0.001
NEVER_MS = float("inf")


class Shard(Protocol):
    """One internal partition's coordinator. Only replay changes what it keeps, live and on load alike."""

    @property
    def next_deadline_ms(self) -> float:
        """When it wants to be told the time, in the monotonic clock's milliseconds; infinite: not at all."""
        ...

    def replay(self, record: StoredRecord, producer_id: int) -> None:
        """Take in a record. One with a producer is part of a transaction that is not decided yet."""
        ...

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """This producer's transaction is decided."""
        ...


S = TypeVar("S", bound=Shard)
Reply = TypeVar("Reply")
Refuse = Callable[[ApiError], Reply]  # the answer that tells of a failure


class HostedShard(Generic[S]):
    """A shard whose partition we lead."""

    def __init__(self, shard: S, partition: HostedPartition, epoch: int, around: Shards[S]) -> None:
        self.shard = shard
        self.epoch = epoch  # the leader epoch it was loaded in
        self.is_loaded = False
        self.partition = partition
        self._around = around
        self._timer: asyncio.TimerHandle | None = None
        self._due_ms = NEVER_MS

    @property
    def number(self) -> int:
        return self.partition.name.number

    @property
    def end(self) -> int:
        """Where what was written so far ends: a reader's answer is safe once that is committed."""
        return self.partition.log.log_end

    # -- deciding ----------------------------------------------------------------------------------------

    def carry_out(
        self,
        ctx: RequestContext,
        outcome: Outcome[Reply],
        refuse: Refuse[Reply],
        producer: Producer = NO_PRODUCER,
    ) -> Reply | Parked[Reply]:
        """Write what was decided, and reply when it is committed."""
        try:
            end = self.write(outcome.records, producer) if outcome.records else self.end
        except ApiError as refusal:
            return refuse(refusal)
        return self.hold(ctx, outcome.reply, end, refuse)

    def write(self, records: Sequence[StoredRecord], producer: Producer = NO_PRODUCER) -> int:
        """Append and replay these, in one batch if they fit; the offset where they end. `ApiError`, in the
        words of coordinators, when not all are written: what was not has changed nothing."""
        assert records
        size_max = self.partition.log.settings.max_message_bytes
        builder = self._new_batch(producer)
        first = 0
        for at, (key, value) in enumerate(records):
            if builder.count and builder.size + record_size_max(key, value) > size_max:
                self._append(builder, records[first:at], producer.id)
                builder, first = self._new_batch(producer), at
            builder.append(self._around.clock.wall_ms(), key, value)
        self._append(builder, records[first:], producer.id)
        self.look_at_deadline()
        return self.end

    def _new_batch(self, producer: Producer) -> BatchBuilder:
        return BatchBuilder(codec=self._around.kind.codec, producer=producer, transactional=producer.id >= 0)

    def _append(self, batch: BatchBuilder, records: Sequence[StoredRecord], producer_id: int) -> None:
        try:
            self.partition.append(batch.build(), ACKS_ALL, Origin.COORDINATOR)
        except ApiError as refusal:
            raise _told(refusal) from None
        except StorageError as failure:
            raise _told(self._around.replicas.failed(self.partition, failure)) from None
        for record in records:
            self.shard.replay(record, producer_id)

    def hold(
        self, ctx: RequestContext, reply: Reply, end: int, refuse: Refuse[Reply]
    ) -> Reply | Parked[Reply]:
        """Reply when everything below `end` is committed."""

        def settled() -> Reply | None:
            try:
                return reply if self.is_committed(end) else None
            except ApiError as refusal:
                return refuse(refusal)

        answer = settled()
        if answer is not None:
            return answer
        parked = ctx.park(
            self._around.kind.commit_within_ms,
            ready=settled,
            at_deadline=lambda: refuse(ApiError(ErrorCode.REQUEST_TIMED_OUT)),
        )
        self.partition.await_acknowledged(end, ACKS_ALL, parked)
        return parked

    def is_committed(self, end: int) -> bool:
        """Is everything below `end`? `ApiError` when it cannot be any more."""
        try:
            return self.partition.replica.lead().high_watermark >= end
        except ApiError as refusal:
            raise _told(refusal) from None

    async def committed(self, end: int) -> None:
        """Come back when `is_committed`; `ApiError` as well when it takes too long."""
        try:
            async with asyncio.timeout(self._around.kind.commit_within_ms / 1000):
                while not self.is_committed(end):
                    woken = _Woken()
                    self.partition.await_acknowledged(end, ACKS_ALL, woken)
                    await woken.event.wait()
        except TimeoutError:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT) from None

    # -- time --------------------------------------------------------------------------------------------

    def look_at_deadline(self) -> None:
        """The shard was changed: it may want to be told the time sooner."""
        due_ms = self.shard.next_deadline_ms
        if due_ms < self._due_ms and self.is_loaded:
            self._set_timer(due_ms)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _set_timer(self, due_ms: float) -> None:
        self.close()
        self._due_ms = due_ms
        if due_ms < NEVER_MS:
            # A little later, so that the clock shows it then: seconds and milliseconds do not round alike.
            self._timer = asyncio.get_running_loop().call_at(due_ms / 1000 + LATER_S, self._tick)

    def _tick(self) -> None:
        self._due_ms = NEVER_MS
        self._around.keeper.due(self)
        self.look_at_deadline()

    # -- loading -----------------------------------------------------------------------------------------

    def load(self) -> Iterator[None]:
        """Replay the partition's log, step by step."""
        log = self.partition.log
        offset = log.log_start
        while offset < log.log_end:
            read = log.read(offset, LOAD_BYTES, ReadUpTo.LOG_END)
            assert read.slice is not None
            data = read.slice.read()
            for at, header in split(data):
                yield from self._replay(data, at, header, offset)
                offset = header.next_offset

    def _replay(self, data: bytes, at: int, header: BatchHeader, from_offset: int) -> Iterator[None]:
        shard = self.shard
        is_control = bool(header.attributes & CONTROL)
        producer_id = header.producer_id if header.attributes & TRANSACTIONAL else NO_PRODUCER.id
        for record in read_records(data, at):
            if record.offset < from_offset:
                continue
            if is_control:
                marker = decode_marker(record.key, record.value)
                if marker is not None:
                    shard.replay_marker(header.producer_id, committed=marker.type is MarkerType.COMMIT)
            elif record.key is not None:
                shard.replay(StoredRecord(record.key, record.value), producer_id)
            yield


class Kind(NamedTuple):
    """What one kind of coordinator differs in."""

    topic: str  # where its records are
    codec: Codec
    commit_within_ms: int


class Keeper(Protocol[S]):
    """Who makes shards of one kind, and acts for them."""

    def new_shard(self) -> S: ...

    async def loaded(self, hosted: HostedShard[S]) -> None:
        """All of its log is replayed; when this returns, it serves."""
        ...

    def dropped(self, hosted: HostedShard[S]) -> None:
        """It is here no more: whoever waits for it is to be told so."""
        ...

    def due(self, hosted: HostedShard[S]) -> None:
        """Its deadline has come."""
        ...


class Shards(Generic[S]):
    """All coordinators of one kind. They live in the partitions of one internal topic."""

    def __init__(
        self,
        kind: Kind,
        keeper: Keeper[S],
        metadata: Metadata,
        *,
        replicas: Replicas,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self.kind = kind
        self.keeper = keeper
        self.replicas = replicas
        self.clock = clock
        self._metadata = metadata
        self._tasks = tasks
        self._hosted: dict[int, HostedShard[S]] = {}
        replicas.on_order(self._look_at)

    def __iter__(self) -> Iterator[HostedShard[S]]:
        """Those that are ready."""
        return iter([hosted for hosted in self._hosted.values() if hosted.is_loaded])

    @property
    def is_loading(self) -> bool:
        return any(not hosted.is_loaded for hosted in self._hosted.values())

    def partition_of(self, key: str) -> Partition | None:
        """Where what is known of `key` is kept, once there is such a topic."""
        topic = self._metadata.image.topics.get(self.kind.topic)
        return None if topic is None else Partition(topic.name, bucket(key, len(topic.partitions)))

    def of(self, key: str) -> HostedShard[S]:
        """The shard that coordinates `key`. `ApiError` where that is not ready, or not here."""
        partition = self.partition_of(key)
        hosted = None if partition is None else self._hosted.get(partition.number)
        if hosted is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not hosted.is_loaded:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return hosted

    def decided(self, topic: str, number: int, producer_id: int, *, committed: bool) -> None:
        """A transaction's marker was appended to this partition, which may be one of ours."""
        hosted = self._hosted.get(number) if topic == self.kind.topic else None
        if hosted is not None and hosted.is_loaded:  # while it loads it comes by there
            hosted.shard.replay_marker(producer_id, committed=committed)

    def _look_at(self, partition: HostedPartition) -> None:
        """The controller gave an order, or the partition left this broker."""
        if partition.name.topic != self.kind.topic:
            return
        number, leading = partition.name.number, partition.replica.leading
        hosted = self._hosted.get(number)
        if leading is None:
            self._drop(number)
        elif hosted is None or leading.epoch > hosted.epoch + 1:
            # An epoch may pass while we lead on; had two, somebody else may have led in between.
            self._drop(number)
            hosted = self._hosted[number] = HostedShard(
                self.keeper.new_shard(), partition, leading.epoch, self
            )
            self._tasks.start(self._load(hosted), name=f"load {partition.name}")
        else:
            hosted.epoch = leading.epoch

    def close(self) -> None:
        """Coordinate nothing any more."""
        for number in list(self._hosted):
            self._drop(number)

    def _drop(self, number: int) -> None:
        hosted = self._hosted.pop(number, None)
        if hosted is not None:
            hosted.close()
            self.keeper.dropped(hosted)

    async def _load(self, hosted: HostedShard[S]) -> None:
        began = self.clock.monotonic()
        try:
            await in_slices(self._while_hosted(hosted, hosted.load()), self.clock)
            await self.keeper.loaded(hosted)
        except (StorageError, BadBatch) as failure:
            _logger.error("%s cannot be loaded: %s", hosted.partition.name, failure)
            self.replicas.failed(hosted.partition, StorageError(str(failure)))
            return
        if self._hosted.get(hosted.number) is hosted:
            hosted.is_loaded = True
            hosted.look_at_deadline()
            took_ms = (self.clock.monotonic() - began) * 1000
            level = (
                logging.INFO if hosted.partition.log.log_end else logging.DEBUG
            )  # fifty new ones say nothing
            _logger.log(
                level, "coordinating %s-%d, loaded in %.0f ms", self.kind.topic, hosted.number, took_ms
            )

    def _while_hosted(self, hosted: HostedShard[S], steps: Iterable[None]) -> Iterator[None]:
        for step in steps:
            yield step
            if self._hosted.get(hosted.number) is not hosted:
                return


def bucket(key: str, count: int) -> int:
    """As Java computes it: the key's hash code without its sign, modulo the number of partitions."""
    hash_code = 0
    units = key.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        hash_code = (31 * hash_code + (high << 8 | low)) & 0xFFFFFFFF
    return (hash_code & 0x7FFFFFFF) % count


class _Woken:
    """Whom an event waits for."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def wake(self) -> None:
        self.event.set()


def _told(refusal: ApiError) -> ApiError:
    """An append's failure in the words of a coordinator."""
    match refusal.error:
        case (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            | ErrorCode.NOT_ENOUGH_REPLICAS
            | ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        ):
            return ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, refusal.detail)
        case ErrorCode.NOT_LEADER_OR_FOLLOWER | ErrorCode.KAFKA_STORAGE_ERROR:
            return ApiError(ErrorCode.NOT_COORDINATOR, refusal.detail)
    return refusal
