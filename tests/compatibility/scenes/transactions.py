"""Transactions begin, take partitions in, end; producers are fenced; and not."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.producing import batch
from tests.compatibility.scenes.reading import of, part
from tests.compatibility.scenes.topics import creating, topic

from odradek.wire.messages.fetch import FetchRequest
from odradek.wire.messages.group_offsets import (
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchTopic,
    TxnOffsetCommitPartition,
    TxnOffsetCommitRequest,
    TxnOffsetCommitTopic,
)
from odradek.wire.messages.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from odradek.wire.messages.offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData
from odradek.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    DescribeProducersRequest,
    DescribeProducersTopic,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListTransactionsRequest,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from odradek.wire.records import Producer

GROUP, TRANSACTION = 0, 1  # kinds of coordinators
TOPIC, SET = 2, 0  # what is altered, and how
NOBODY = (-1, -1)
LOADING, NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT = 14, 15, 16, 51
REASON = "we give another reason"
REMEMBERED = "Kafka tells when the last transaction began, until it reloads"
STARTED = "transaction_states.transaction_start_time_ms"
TOLD_WHY = "responses.partition_responses.error_message"

Who = tuple[int, int]
Where = Sequence[tuple[str, tuple[int, ...]]]


# -- questions ---------------------------------------------------------------------------------------------


def settled(answer: object) -> bool:
    """What was asked before is done."""
    code = getattr(answer, "error_code", 0)
    if isinstance(answer, AddPartitionsToTxnResponse):
        parts = [
            each.partition_error_code
            for result in answer.results_by_topic_v3_and_below
            for each in result.results_by_partition
        ]
        code = parts[0] if parts else code
    return code not in (LOADING, NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT)


def finding(key: str, kind: int = TRANSACTION) -> Ask:
    def found(answer: object) -> bool:
        assert isinstance(answer, FindCoordinatorResponse)
        return answer.coordinators[0].error_code == 0

    return Ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=(key,)), 4, found)


def opening(
    id: str | None, who: Who = NOBODY, *, timeout_ms: int = 60_000, version: int = 5, at_once: bool = False
) -> Ask:
    request = InitProducerIdRequest(
        transactional_id=id, transaction_timeout_ms=timeout_ms, producer_id=who[0], producer_epoch=who[1]
    )
    return Ask(request, version) if at_once else Ask(request, version, settled)


def adding(
    id: str, who: Who, where: Where = (("made", (0,)),), *, version: int = 3, at_once: bool = False
) -> Ask:
    topics = tuple(AddPartitionsToTxnTopic(name=name, partitions=numbers) for name, numbers in where)
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=id,
        v3_and_below_producer_id=who[0],
        v3_and_below_producer_epoch=who[1],
        v3_and_below_topics=topics,
    )
    return Ask(request, version) if at_once else Ask(request, version, settled)


def adding_many(*transactions: tuple[str, Who, Where], verify_only: bool = False, version: int = 5) -> Ask:
    return Ask(
        AddPartitionsToTxnRequest(
            transactions=tuple(
                AddPartitionsToTxnTransaction(
                    transactional_id=id,
                    producer_id=who[0],
                    producer_epoch=who[1],
                    verify_only=verify_only,
                    topics=tuple(
                        AddPartitionsToTxnTopic(name=name, partitions=numbers) for name, numbers in where
                    ),
                )
                for id, who, where in transactions
            )
        ),
        version,
    )


def adding_offsets(id: str, who: Who, group: str, *, version: int = 4, at_once: bool = False) -> Ask:
    request = AddOffsetsToTxnRequest(
        transactional_id=id, producer_id=who[0], producer_epoch=who[1], group_id=group
    )
    return Ask(request, version) if at_once else Ask(request, version, settled)


def ending(id: str, who: Who, committed: bool, *, version: int = 4, at_once: bool = True) -> Ask:
    request = EndTxnRequest(
        transactional_id=id, producer_id=who[0], producer_epoch=who[1], committed=committed
    )
    return Ask(request, version) if at_once else Ask(request, version, settled)


def describing(*ids: str, until: str | None = None) -> Ask:
    def shown(answer: object) -> bool:
        assert isinstance(answer, DescribeTransactionsResponse)
        return until in (None, answer.transaction_states[0].transaction_state)

    return Ask(DescribeTransactionsRequest(transactional_ids=ids), 0, shown)


def listing(
    *, states: tuple[str, ...] = (), ids: tuple[int, ...] = (), longer_than_ms: int = -1, version: int = 1
) -> Ask:
    request = ListTransactionsRequest(
        state_filters=states, producer_id_filters=ids, duration_filter=longer_than_ms
    )
    return Ask(request, version)


def writing(
    id: str | None,
    who: Who,
    sequence: int,
    *,
    name: str = "made",
    number: int = 0,
    version: int = 11,
    transactional: bool = True,
) -> Ask:
    records = batch(b"a", producer=Producer(who[0], who[1], sequence), transactional=transactional)
    data = TopicData(name=name, partition_data=(PartitionData(index=number, records=records),))
    return Ask(ProduceRequest(transactional_id=id, acks=-1, timeout_ms=5000, topic_data=(data,)), version)


def marking(
    who: Who,
    committed: bool,
    where: Where = (("made", (0,)),),
    *,
    coordinator_epoch: int = 0,
    version: int = 1,
) -> Ask:
    marker = WritableTxnMarker(
        producer_id=who[0],
        producer_epoch=who[1],
        transaction_result=committed,
        coordinator_epoch=coordinator_epoch,
        topics=tuple(WritableTxnMarkerTopic(name=name, partition_indexes=numbers) for name, numbers in where),
    )
    return Ask(WriteTxnMarkersRequest(markers=(marker,)), version)


def committing(
    id: str,
    who: Who,
    group: str = "readers",
    *,
    offset: int = 5,
    name: str = "made",
    member: tuple[int, str] = (-1, ""),
    version: int = 4,
) -> Ask:
    partition = TxnOffsetCommitPartition(
        partition_index=0, committed_offset=offset, committed_metadata="how far"
    )
    request = TxnOffsetCommitRequest(
        transactional_id=id,
        group_id=group,
        producer_id=who[0],
        producer_epoch=who[1],
        generation_id_or_member_epoch=member[0],
        member_id=member[1],
        topics=(TxnOffsetCommitTopic(name=name, partitions=(partition,)),),
    )
    return Ask(request, version)


def reading_offsets(group: str = "readers", *, stable: bool = False) -> Ask:
    topics = (OffsetFetchTopic(name="made", partition_indexes=(0,)),)
    wanted = OffsetFetchGroup(group_id=group, topics=topics)
    return Ask(OffsetFetchRequest(groups=(wanted,), require_stable=stable), 9)


def producers_of(name: str = "made", number: int = 0) -> Ask:
    topics = (DescribeProducersTopic(name=name, partition_indexes=(number,)),)
    return Ask(DescribeProducersRequest(topics=topics), 0)


def identity(answer: object) -> Who:
    assert isinstance(answer, InitProducerIdResponse)
    return answer.producer_id, answer.producer_epoch


# -- scenes ------------------------------------------------------------------------------------------------


def producers_with_a_transactional_id() -> Script:
    yield finding("copier")
    for version in versions("InitProducerId"):
        yield opening("copier", version=version)
        yield opening("", version=version)
        for timeout_ms in (0, -1, 900_001, 900_000, 1, 2**31 - 1):
            yield opening(f"{timeout_ms}", timeout_ms=timeout_ms, version=version)
    who = identity((yield opening("returning")))
    yield describing("returning", "copier", "nobody", "")
    for claimed in (who, who, NOBODY, who, (who[0], 7), (who[0] + 1, 0), (-1, 3), (3, -1), (-5, -5)):
        for version in (3, 4, 5):
            yield opening("returning", claimed, version=version)
            yield describing("returning")
    yield opening("fresh", (55, 3))
    yield describing("fresh")


def lives_of_transactions() -> Script:
    yield creating(topic("made", 2))
    yield finding("copier")
    who = identity((yield opening("copier")))
    sequence = 0
    for version in range(4):
        for committed in (True, False):
            yield adding("copier", who, (("made", (0, 1)),), version=version)
            yield describing("copier")
            yield writing("copier", who, sequence)
            yield adding("copier", who, (("made", (1,)),), version=version)
            yield listing()
            yield ending("copier", who, committed, version=version)
            yield describing("copier", until="CompleteCommit" if committed else "CompleteAbort")
            yield ending("copier", who, committed, version=version)
            yield ending("copier", who, not committed, version=version)
            yield producers_of()
            sequence += 1
    yield listing()


STATES = ("Empty", "Ongoing", "CompleteCommit", "CompleteAbort", "PrepareCommit", "PrepareAbort")
EVENTS = ("open", "return", "add", "add-more", "offsets", "commit", "abort")


def events_in_states() -> Script:
    """Every event in every state that can be looked at. A decision stays one where a marker of a later epoch
    came before: then the coordinator takes itself for overtaken."""
    yield creating(topic("made"), topic("paid"))
    yield finding("copier")
    for state in STATES:
        for event in EVENTS:
            id = f"{state}-{event}"
            who = identity((yield opening(id)))
            if state != "Empty":
                yield adding(id, who)
            if state.startswith("Prepare"):
                yield marking((who[0], who[1] + 5), False)
            if state.endswith(("Commit", "Abort")):
                yield ending(id, who, state.endswith("Commit"))
                yield describing(id, until=state)
            match event:
                case "open":
                    yield opening(id, at_once=True)
                case "return":
                    yield opening(id, who, at_once=True)
                case "add":
                    yield adding(id, who, at_once=True)
                case "add-more":
                    yield adding(id, who, (("paid", (0,)),), at_once=True)
                case "offsets":
                    yield adding_offsets(id, who, "readers", at_once=True)
                case "commit" | "abort":
                    yield ending(id, who, event == "commit")
            described = describing(id, until=ENDS_AS.get((state, event)))
            is_reopened = state.startswith("Complete") and event in ("open", "return")
            yield described.but(REMEMBERED, STARTED) if is_reopened else described


ENDS_AS = {  # what an event leads to by and by
    ("Ongoing", "open"): "CompleteAbort",
    ("Ongoing", "return"): "CompleteAbort",
    ("Ongoing", "commit"): "CompleteCommit",
    ("Ongoing", "abort"): "CompleteAbort",
}


def producers_that_are_fenced() -> Script:
    yield creating(topic("made", 2))
    yield finding("copier")
    id, epoch = identity((yield opening("copier")))
    yield adding("copier", (id, epoch))
    yield writing("copier", (id, epoch), 0)
    for who in ((id, epoch + 1), (id, -1), (id + 1, epoch), (-1, -1), (id, 32767)):
        for version in range(4):
            yield adding("copier", who, version=version, at_once=True)
        for version in versions("AddOffsetsToTxn"):
            yield adding_offsets("copier", who, "readers", version=version, at_once=True)
        for version in versions("EndTxn"):
            yield ending("copier", who, True, version=version)
        for version in versions("Produce"):
            yield writing("copier", who, 0, number=1, version=version)
        yield adding_many(("copier", who, (("made", (0,)),)))
        yield adding_many(("copier", who, (("made", (0,)),)), verify_only=True)
        yield describing("copier")
    for unknown in ("nobody", ""):
        for version in range(4):
            yield adding(unknown, (id, epoch), version=version, at_once=True)
        for version in versions("AddOffsetsToTxn"):
            yield adding_offsets(unknown, (id, epoch), "readers", version=version, at_once=True)
        for version in versions("EndTxn"):
            yield ending(unknown, (id, epoch), True, version=version)
    yield opening("copier")  # the next producer of this id: by and by
    yield describing("copier").but(REMEMBERED, STARTED)
    yield producers_of()
    for version in versions("Produce"):
        yield writing("copier", (id, epoch), 1, version=version)
    yield adding("copier", (id, epoch))
    yield ending("copier", (id, epoch), True)
    yield opening("copier", (id, epoch))


def partitions_that_are_not_there() -> Script:
    yield creating(topic("made", 2))
    yield finding("copier")
    who = identity((yield opening("copier")))
    for where in (
        (("made", (0, 7)),),
        (("never-made", (0,)), ("made", (0, 1))),
        (("made", (-1,)),),
        (("", (0,)),),
        (("made", ()),),
        (),
    ):
        for version in range(4):
            yield adding("copier", who, where, version=version, at_once=True)
        yield adding_many(("copier", who, where))
        yield adding_many(("copier", who, where), verify_only=True)
        yield describing("copier")


def transactions_asked_for_by_brokers() -> Script:
    yield creating(topic("made", 2))
    yield finding("copier")
    one = identity((yield opening("one")))
    two = identity((yield opening("two")))
    for version in (4, 5):
        yield adding_many(("one", one, (("made", (0,)),)), version=version)
        yield adding_many(
            ("one", one, (("made", (0, 1)),)),
            ("two", two, (("made", (0,)),)),
            ("nobody", two, (("made", (0,)),)),
            ("", two, (("made", (0,)),)),
            verify_only=True,
            version=version,
        )
    yield describing("one", "two")
    yield ending("one", one, True)
    yield describing("one", until="CompleteCommit")
    yield adding_many(("one", one, (("made", (0,)),)), verify_only=True)


def batches_of_transactions() -> Script:
    """Which are taken, and which are not."""
    yield creating(topic("made", 3))
    yield finding("copier")
    who = identity((yield opening("copier")))
    for version in versions("Produce"):
        yield writing("copier", who, 0, version=version)  # takes no part yet
        yield writing(None, who, 0, version=version)
        yield writing("nobody", who, 0, version=version)
        yield writing("", who, 0, version=version)
    yield adding("copier", who)
    yield writing("copier", who, 0)
    yield writing("copier", who, 0)  # a duplicate
    yield writing("copier", who, 1)
    yield writing("copier", who, 5).but(REASON, TOLD_WHY)
    yield writing(None, who, 2)
    yield writing("nobody", who, 2)
    yield writing("copier", who, 3, transactional=False).but(REASON, TOLD_WHY)
    yield writing("copier", who, 0, number=1)
    yield writing("copier", who, 0, number=2, transactional=False)
    yield producers_of()
    yield ending("copier", who, True)
    yield describing("copier", until="CompleteCommit")
    yield writing("copier", who, 2)
    yield writing("copier", who, 2, transactional=False)
    yield producers_of()


def reads_of_transactions() -> Script:
    """What may be seen: all, or what is decided."""
    yield creating(topic("made"))
    yield finding("one")
    one = identity((yield opening("one")))
    two = identity((yield opening("two")))

    def look() -> Script:
        for isolation in (0, 1):
            for offset in (0, 2, 9):
                yield Ask(
                    FetchRequest(
                        max_wait_ms=0,
                        min_bytes=1,
                        isolation_level=isolation,
                        topics=(of("made", part(0, offset, max_bytes=1)),),
                    ),
                    12,
                )
            for timestamp in (-1, -2):
                yield Ask(
                    ListOffsetsRequest(
                        replica_id=-1,
                        isolation_level=isolation,
                        topics=(
                            ListOffsetsTopic(
                                name="made",
                                partitions=(ListOffsetsPartition(partition_index=0, timestamp=timestamp),),
                            ),
                        ),
                    ),
                    9,
                )

    yield adding("one", one)
    yield adding("two", two)
    yield writing("one", one, 0)
    yield writing("two", two, 0)
    yield writing("one", one, 1)
    yield from look()
    yield ending("one", one, False)
    yield describing("one", until="CompleteAbort")
    yield from look()
    yield ending("two", two, True)
    yield describing("two", until="CompleteCommit")
    yield from look()


def offsets_in_transactions() -> Script:
    yield creating(topic("made"))
    yield finding("copier")
    yield finding("readers", GROUP)
    who = identity((yield opening("copier")))
    yield committing("copier", who)  # takes no part yet
    yield committing("copier", (who[0], who[1] + 1))
    yield committing("copier", (who[0] + 1, who[1]))
    yield committing("nobody", who)
    yield committing("copier", who, "others")
    yield adding_offsets("copier", who, "readers")
    yield describing("copier")
    for version in versions("TxnOffsetCommit"):
        yield committing("copier", who, offset=version, version=version)
    yield reading_offsets()
    yield reading_offsets(stable=True)
    yield committing("copier", who, name="never-made")
    yield committing("copier", who, member=(3, "somebody"))
    yield committing("copier", who, member=(0, ""))
    yield committing("copier", who, "")
    yield ending("copier", who, True)
    yield describing("copier", until="CompleteCommit")
    yield reading_offsets()
    yield reading_offsets(stable=True)
    yield committing("copier", who, offset=9)
    yield adding_offsets("copier", who, "readers")
    yield committing("copier", who, offset=7)
    yield reading_offsets(stable=True)
    yield ending("copier", who, False)
    yield describing("copier", until="CompleteAbort")
    yield reading_offsets(stable=True)
    for group in ("", "never heard of"):
        yield adding_offsets("copier", who, group)
        yield describing("copier")


def markers_by_hand() -> Script:
    """As an operator ends what hangs."""
    yield creating(topic("made", 2))
    yield finding("copier")
    who = identity((yield opening("copier")))
    yield adding("copier", who)
    yield writing("copier", who, 0)
    yield producers_of()
    for version in versions("WriteTxnMarkers"):
        for where in (
            (("made", (0, 7)), ("never-made", (0,)), ("", (0,))),
            (("made", ()),),
            (),
        ):
            yield marking((who[0] + 1, 0), False, where, version=version)
        yield marking(who, version == 0, version=version)
        yield producers_of()
    yield marking(who, True, coordinator_epoch=5)
    yield marking(who, True, coordinator_epoch=4)
    yield marking((who[0], who[1] + 1), True, coordinator_epoch=5)
    yield marking(who, True, coordinator_epoch=5)
    yield producers_of()
    yield describing("copier")
    yield writing("copier", who, 1).but(REASON, TOLD_WHY)


def lists_of_transactions() -> Script:
    yield creating(topic("made"))
    yield listing()
    yield finding("copier")
    for number, id in enumerate(("one", "two", "three", "four")):
        who = identity((yield opening(id)))
        if number:
            yield adding(id, who)
        if number > 1:
            yield ending(id, who, number == 2)
            yield describing(id, until="CompleteCommit" if number == 2 else "CompleteAbort")
    for version in versions("ListTransactions"):
        yield listing(version=version)
        for states in (
            ("Ongoing",),
            ("Empty", "CompleteCommit"),
            ("ongoing",),
            ("Nonsense", "Ongoing", "Nonsense"),
            ("",),
            ("Dead",),
            ("PrepareEpochFence",),
        ):
            yield listing(states=states, version=version)
        for ids in ((0,), (0, 1, 99), (99,), (-1,)):
            yield listing(ids=ids, version=version)
        yield listing(states=("Ongoing",), ids=(0,), version=version)
    for longer_than_ms in (0, 3_600_000, -5):
        yield listing(longer_than_ms=longer_than_ms)


def transactions_that_take_too_long() -> Script:
    yield creating(topic("made"))
    yield finding("copier")
    who = identity((yield opening("copier", timeout_ms=300)))
    yield adding("copier", who)
    yield writing("copier", who, 0)
    yield describing("copier", until="CompleteAbort")
    yield producers_of()
    yield ending("copier", who, True)
    yield adding("copier", who)
    yield writing("copier", who, 1)
    for version in (3, 4, 5):
        yield opening("copier", who, version=version)
    yield opening("copier")


SCENES = (
    Scene(producers_with_a_transactional_id),
    Scene(lives_of_transactions),
    Scene(events_in_states),
    Scene(producers_that_are_fenced),
    Scene(partitions_that_are_not_there),
    Scene(transactions_asked_for_by_brokers),
    Scene(batches_of_transactions),
    Scene(reads_of_transactions),
    Scene(offsets_in_transactions),
    Scene(markers_by_hand),
    Scene(lists_of_transactions),
    Scene(
        transactions_that_take_too_long,
        {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"},
    ),
)
