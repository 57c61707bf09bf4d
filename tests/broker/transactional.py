"""A transactional producer, its coordinator's visitor and a consumer, request by request."""

from __future__ import annotations

import time
from collections.abc import Iterator

from odradek.model.errors import ErrorCode
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.transactions.transaction import Identity
from odradek.wire.batch import CONTROL, split
from odradek.wire.messages.fetch import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from odradek.wire.messages.group_offsets import (
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
    TxnOffsetCommitPartition,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitTopic,
)
from odradek.wire.messages.metadata import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    DescribedTransaction,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.wire.records import Producer, read_records

NOBODY = Identity(-1, -1)
PASSING = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
)
GROUP, TRANSACTION = 0, 1  # kinds of coordinators
SETTLES_WITHIN_S = 10
BY_ID_SINCE = 13


class Transactional:
    """Of one transactional id. Speaks transactions v2 if it is told to."""

    def __init__(self, bootstrap: str, id: str, *, v2: bool = False) -> None:
        self.id = id
        self.who = NOBODY
        self._v2 = v2
        self._client = Conversation(bootstrap)
        self._sequences: dict[tuple[str, int], int] = {}
        self._find_coordinator(TRANSACTION, id)

    def close(self) -> None:
        self._client.close()

    # -- producing ---------------------------------------------------------------------------------------

    def open(self, *, timeout_ms: int = 60_000, returns: bool = False) -> ErrorCode:
        """InitProducerId, again while a transaction before is being ended."""
        deadline = time.monotonic() + SETTLES_WITHIN_S
        while True:
            error = self.try_open(timeout_ms=timeout_ms, returns=returns)
            if error not in PASSING or time.monotonic() > deadline:
                return error

    def try_open(self, *, timeout_ms: int = 60_000, returns: bool = False) -> ErrorCode:
        known = self.who if returns else NOBODY
        answer = self._client.ask(
            InitProducerIdRequest(
                transactional_id=self.id,
                transaction_timeout_ms=timeout_ms,
                producer_id=known.id,
                producer_epoch=known.epoch,
            ),
            5,
        )
        assert isinstance(answer, InitProducerIdResponse)
        error = ErrorCode.of(answer.error_code)
        if error is ErrorCode.NONE:
            self._become(Identity(answer.producer_id, answer.producer_epoch))
        return error

    def add(self, topic: str, *numbers: int) -> ErrorCode:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.id,
            v3_and_below_producer_id=self.who.id,
            v3_and_below_producer_epoch=self.who.epoch,
            v3_and_below_topics=(AddPartitionsToTxnTopic(name=topic, partitions=numbers or (0,)),),
        )
        answer = self._client.ask(request, 3)
        assert isinstance(answer, AddPartitionsToTxnResponse)
        (result,) = answer.results_by_topic_v3_and_below
        return ErrorCode.of(result.results_by_partition[0].partition_error_code)

    def write(self, topic: str, value: bytes, *, number: int = 0, version: int | None = None) -> ErrorCode:
        sequence = self._sequences.get((topic, number), 0)
        records = batch_of(
            value=value, producer=Producer(self.who.id, self.who.epoch, sequence), transactional=True
        )
        spoken = version if version is not None else (12 if self._v2 else 11)
        data = PartitionData(index=number, records=bytes(records))
        target = TopicData(name=topic, partition_data=(data,))
        if spoken >= BY_ID_SINCE:
            target = TopicData(topic_id=self._id_of(topic), partition_data=(data,))
        request = ProduceRequest(transactional_id=self.id, acks=-1, timeout_ms=5000, topic_data=(target,))
        answer = self._client.ask(request, spoken)
        assert isinstance(answer, ProduceResponse)
        error = ErrorCode.of(answer.responses[0].partition_responses[0].error_code)
        if error is ErrorCode.NONE:
            self._sequences[topic, number] = sequence + 1
        return error

    def end(self, *, committed: bool) -> ErrorCode:
        request = EndTxnRequest(
            transactional_id=self.id,
            producer_id=self.who.id,
            producer_epoch=self.who.epoch,
            committed=committed,
        )
        answer = self._client.ask(request, 5 if self._v2 else 4)
        assert isinstance(answer, EndTxnResponse)
        error = ErrorCode.of(answer.error_code)
        if self._v2 and error is ErrorCode.NONE:
            self._become(Identity(answer.producer_id, answer.producer_epoch))
        return error

    # -- offsets -----------------------------------------------------------------------------------------

    def add_offsets(self, group: str) -> ErrorCode:
        """AddOffsetsToTxn, which v2 leaves to the broker, and who coordinates the group."""
        error = ErrorCode.NONE
        if not self._v2:
            request = AddOffsetsToTxnRequest(
                transactional_id=self.id,
                producer_id=self.who.id,
                producer_epoch=self.who.epoch,
                group_id=group,
            )
            answer = self._client.ask(request, 4)
            assert isinstance(answer, AddOffsetsToTxnResponse)
            error = ErrorCode.of(answer.error_code)
        self._find_coordinator(GROUP, group)
        return error

    def commit_offset(self, group: str, topic: str, offset: int) -> ErrorCode:
        part = TxnOffsetCommitPartition(partition_index=0, committed_offset=offset, committed_metadata=None)
        request = TxnOffsetCommitRequest(
            transactional_id=self.id,
            group_id=group,
            producer_id=self.who.id,
            producer_epoch=self.who.epoch,
            topics=(TxnOffsetCommitTopic(name=topic, partitions=(part,)),),
        )
        answer = self._client.ask(request, 5 if self._v2 else 4)
        assert isinstance(answer, TxnOffsetCommitResponse)
        return ErrorCode.of(answer.topics[0].partitions[0].error_code)

    def committed_offset(self, group: str, topic: str) -> int | ErrorCode:
        """As a consumer asks that wants it stable."""
        wanted = OffsetFetchGroup(
            group_id=group, topics=(OffsetFetchTopic(name=topic, partition_indexes=(0,)),)
        )
        answer = self._client.ask(OffsetFetchRequest(groups=(wanted,), require_stable=True), 9)
        assert isinstance(answer, OffsetFetchResponse)
        (part,) = answer.groups[0].topics[0].partitions
        return ErrorCode.of(part.error_code) if part.error_code else part.committed_offset

    # -- looking -----------------------------------------------------------------------------------------

    def describe(self) -> DescribedTransaction:
        answer = self._client.ask(DescribeTransactionsRequest(transactional_ids=(self.id,)), 0)
        assert isinstance(answer, DescribeTransactionsResponse)
        return answer.transaction_states[0]

    def await_state(self, state: str) -> DescribedTransaction:
        deadline = time.monotonic() + SETTLES_WITHIN_S
        while (described := self.describe()).transaction_state != state:
            assert time.monotonic() < deadline, described
        return described

    def read(self, topic: str, *, number: int = 0, committed: bool = True) -> list[bytes]:
        """All values that a consumer passes on: a producer is left out from where it is told to be aborted
        to its next marker."""
        values: list[bytes] = []
        skipped: set[int] = set()
        for found in self._fetched(topic, number, committed=committed):
            data = found.records
            assert isinstance(data, bytes | memoryview)
            aborted = sorted(
                (each.first_offset, each.producer_id) for each in found.aborted_transactions or ()
            )
            for at, header in split(bytes(data)):
                while aborted and aborted[0][0] <= header.base_offset:
                    skipped.add(aborted.pop(0)[1])
                if header.attributes & CONTROL:
                    skipped.discard(header.producer_id)
                elif header.producer_id not in skipped:
                    values += [record.value or b"" for record in read_records(bytes(data), at)]
        return values

    def _fetched(self, topic: str, number: int, *, committed: bool) -> Iterator[FetchedPartition]:
        """From the start until there is no more to read."""
        offset = 0
        while True:
            part = FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = FetchRequest(
                max_wait_ms=0,
                min_bytes=0,
                isolation_level=1 if committed else 0,
                topics=(FetchTopic(topic=topic, partitions=(part,)),),
            )
            answer = self._client.ask(request, 12)
            assert isinstance(answer, FetchResponse)
            (found,) = answer.responses[0].partitions
            assert isinstance(found.records, bytes | memoryview)
            batches = split(bytes(found.records))
            if not batches:
                return
            offset = batches[-1][1].next_offset
            yield found

    def _find_coordinator(self, kind: int, key: str) -> None:
        found = ErrorCode.COORDINATOR_NOT_AVAILABLE
        while found is not ErrorCode.NONE:
            answer = self._client.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=(key,)), 4)
            assert isinstance(answer, FindCoordinatorResponse)
            found = ErrorCode.of(answer.coordinators[0].error_code)

    def _become(self, who: Identity) -> None:
        self.who = who
        self._sequences.clear()

    def _id_of(self, topic: str) -> bytes:
        answer = self._client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=topic),)), 12)
        assert isinstance(answer, MetadataResponse)
        return answer.topics[0].topic_id


def decide(broker: Broker, producer: Transactional, *, committed: bool) -> None:
    """As EndTxn does, and then nothing more: as if the broker died here."""
    hosted = broker.node.services.transactions.hosting(producer.id)

    async def write() -> None:
        now_ms = broker.clock.movable.wall_ms()
        outcome = hosted.shard.end(producer.id, producer.who, committed=committed, now_ms=now_ms)
        hosted.write(outcome.records)

    broker._loop_thread.run(write())
