"""What a broker promises of transactions. docs/transactions.md tells it in words, and names these tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest
from tests.broker.transactional import PASSING, Transactional, decide

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.transactions.transaction import Identity

NONE = ErrorCode.NONE
WEEK_S = 7 * 24 * 3600
_numbers = count()

Opened = Callable[..., Transactional]


@pytest.fixture
def opened(shared_broker: Broker) -> Iterator[Opened]:
    """A producer that has its identity; of an id of its own unless told."""
    with ExitStack() as closing:

        def open(id: str | None = None, *, v2: bool = False, timeout_ms: int = 60_000) -> Transactional:
            producer = Transactional(shared_broker.bootstrap, id or f"id-{next(_numbers)}", v2=v2)
            closing.callback(producer.close)
            assert producer.open(timeout_ms=timeout_ms) is NONE
            return producer

        yield open


@pytest.fixture(params=[False, True], ids=["v1", "v2"])
def producer(request: pytest.FixtureRequest, opened: Opened) -> Transactional:
    return opened(v2=request.param)


# -- what may be seen --------------------------------------------------------------------------------------


def test_a_committed_transaction_is_read_and_an_aborted_one_is_not(opened: Opened, topic: str) -> None:
    for v2 in (False, True):
        producer = opened(v2=v2)
        for value, committed in ((b"kept", True), (b"dropped", False), (b"kept too", True)):
            assert v2 or producer.add(topic) is NONE
            assert producer.write(topic, value) is NONE
            assert producer.end(committed=committed) is NONE
            producer.await_state("CompleteCommit" if committed else "CompleteAbort")
    assert producer.read(topic) == [b"kept", b"kept too"] * 2
    assert producer.read(topic, committed=False) == [b"kept", b"dropped", b"kept too"] * 2


def test_nothing_behind_an_undecided_record_is_read_committed(opened: Opened, topic: str) -> None:
    first, second = opened(), opened()
    for producer in (first, second):
        assert producer.add(topic) is NONE
    assert first.write(topic, b"first") is NONE
    assert second.write(topic, b"second") is NONE
    assert second.end(committed=True) is NONE
    second.await_state("CompleteCommit")
    assert second.read(topic) == []
    assert second.read(topic, committed=False) == [b"first", b"second"]
    assert first.end(committed=False) is NONE
    first.await_state("CompleteAbort")
    assert second.read(topic) == [b"second"]


def test_a_transaction_decides_for_all_its_partitions(
    opened: Opened, shared_broker: Broker, producer: Transactional
) -> None:
    topic = f"many-{next(_numbers)}"
    shared_broker.create_topic(topic, partitions=3)
    for committed in (True, False):
        assert producer.add(topic, 0, 1, 2) is NONE
        for number in range(3):
            assert producer.write(topic, b"%d" % committed, number=number) is NONE
        assert producer.end(committed=committed) is NONE
        producer.await_state("CompleteCommit" if committed else "CompleteAbort")
    assert [producer.read(topic, number=number) for number in range(3)] == [[b"1"]] * 3


def test_offsets_are_committed_with_their_transaction_or_not_at_all(
    producer: Transactional, topic: str
) -> None:
    group = f"group-{next(_numbers)}"
    for offset, committed, expected in ((5, True, 5), (9, False, 5)):
        assert producer.add_offsets(group) is NONE
        assert producer.commit_offset(group, topic, offset) is NONE
        assert producer.committed_offset(group, topic) is ErrorCode.UNSTABLE_OFFSET_COMMIT
        assert producer.end(committed=committed) is NONE
        producer.await_state("CompleteCommit" if committed else "CompleteAbort")
        assert producer.committed_offset(group, topic) == expected


# -- who may do what ---------------------------------------------------------------------------------------


def test_a_producer_fences_the_one_before(opened: Opened, topic: str, producer: Transactional) -> None:
    assert producer.add(topic) is NONE
    assert producer.write(topic, b"before") is NONE
    other = opened(producer.id)
    assert other.who > producer.who
    assert producer.read(topic) == []
    assert producer.add(topic) is ErrorCode.PRODUCER_FENCED
    assert producer.write(topic, b"after") is ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.end(committed=True) is ErrorCode.PRODUCER_FENCED
    assert producer.open(returns=True) is ErrorCode.PRODUCER_FENCED
    assert producer.read(topic, committed=False) == [b"before"]
    assert other.add(topic) is NONE
    assert other.write(topic, b"other") is NONE
    assert other.end(committed=True) is NONE
    other.await_state("CompleteCommit")
    assert other.read(topic) == [b"other"]


def test_a_partition_that_takes_no_part_takes_no_batch(opened: Opened, topic: str) -> None:
    producer = opened()
    assert producer.write(topic, b"a", version=11) is ErrorCode.TRANSACTION_ABORTABLE
    assert producer.write(topic, b"a", version=10) is ErrorCode.INVALID_TXN_STATE
    assert producer.add(topic) is NONE
    assert producer.write(topic, b"a", version=10) is NONE
    assert producer.end(committed=True) is NONE
    assert producer.await_state("CompleteCommit")
    assert producer.write(topic, b"b", version=11) is ErrorCode.TRANSACTION_ABORTABLE
    assert producer.read(topic, committed=False) == [b"a"]


def test_another_epoch_is_asked_for_though_a_transaction_is_open(opened: Opened, topic: str) -> None:
    """Kafka 3.9 takes this batch, and can then never decide the transaction."""
    producer = opened()
    assert producer.add(topic) is NONE
    assert producer.write(topic, b"a") is NONE
    mine, producer.who = producer.who, Identity(producer.who.id, producer.who.epoch + 1)
    producer._sequences.clear()
    assert producer.write(topic, b"forged") is ErrorCode.INVALID_PRODUCER_EPOCH
    producer.who = mine
    assert producer.end(committed=True) is NONE
    producer.await_state("CompleteCommit")
    assert producer.read(topic) == [b"a"]


def test_nobody_asks_when_the_settings_say_so(tmp_path: Path) -> None:
    with Broker({"transaction.partition.verification.enable": "false"}) as broker:
        broker.create_topic("topic")
        producer = Transactional(broker.bootstrap, "id")
        assert producer.open() is NONE
        assert producer.write("topic", b"hangs") is NONE
        producer.close()


@pytest.mark.parametrize("version", [12, 13])
def test_in_v2_being_written_to_is_taking_part(opened: Opened, topic: str, version: int) -> None:
    producer = opened(v2=True)
    for committed in (True, False):
        before = producer.who
        assert producer.write(topic, b"%d" % committed, version=version) is NONE
        described = producer.describe()
        assert (described.transaction_state, described.topics[0].topic) == ("Ongoing", topic)
        assert producer.end(committed=committed) is NONE
        assert producer.who == (before.id, before.epoch + 1)
        producer.await_state("CompleteCommit" if committed else "CompleteAbort")
    assert producer.read(topic) == [b"1"]


def test_in_v2_an_empty_transaction_may_be_aborted(opened: Opened) -> None:
    producer = opened(v2=True)
    before = producer.who
    assert producer.end(committed=True) is ErrorCode.INVALID_TXN_STATE
    assert producer.end(committed=False) is NONE
    assert producer.who.epoch == before.epoch + 1
    producer.await_state("CompleteAbort")


# -- time --------------------------------------------------------------------------------------------------


def test_a_transaction_that_takes_too_long_is_aborted(
    opened: Opened, shared_broker: Broker, topic: str
) -> None:
    slow = opened(timeout_ms=60_000)
    assert slow.add(topic) is NONE
    assert slow.write(topic, b"slow") is NONE
    shared_broker.clock.advance(seconds=50)
    assert slow.describe().transaction_state == "Ongoing"
    shared_broker.clock.advance(seconds=21)
    slow.await_state("CompleteAbort")
    assert slow.end(committed=True) is ErrorCode.PRODUCER_FENCED
    assert slow.write(topic, b"late") is ErrorCode.INVALID_PRODUCER_EPOCH
    assert slow.read(topic) == []


def test_an_id_that_nobody_uses_is_forgotten_for_good() -> None:
    with Broker() as broker:
        broker.create_topic("topic")
        idle, busy = Transactional(broker.bootstrap, "idle"), Transactional(broker.bootstrap, "busy")
        assert (idle.open(), busy.open()) == (NONE, NONE)
        first = idle.who
        assert busy.add("topic") is NONE
        broker.clock.advance(seconds=WEEK_S - 7200)
        assert busy.open() is NONE  # its transaction was aborted meanwhile
        broker.clock.advance(seconds=7200 + 3600)
        for producer in (idle, busy):
            producer.close()
        for _ in range(2):
            idle, busy = Transactional(broker.bootstrap, "idle"), Transactional(broker.bootstrap, "busy")
            assert idle.describe().error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.code
            assert busy.describe().transaction_state == "Empty"
            for producer in (idle, busy):
                producer.close()
            broker.restart()
        idle = Transactional(broker.bootstrap, "idle")
        assert idle.open() is NONE
        assert idle.who.id > first.id
        idle.close()


# -- what outlives the broker ------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
def test_what_was_decided_is_done_by_whoever_coordinates_next(committed: bool) -> None:
    with Broker() as broker:
        broker.create_topic("topic")
        producer = Transactional(broker.bootstrap, "id")
        assert producer.open() is NONE
        assert producer.add("topic") is NONE
        assert producer.write("topic", b"a") is NONE
        assert producer.add_offsets("group") is NONE
        assert producer.commit_offset("group", "topic", 5) is NONE
        decide(broker, producer, committed=committed)
        producer.close()
        broker.restart()
        after = Transactional(broker.bootstrap, "id")
        after.await_state("CompleteCommit" if committed else "CompleteAbort")
        assert after.read("topic") == [b"a"] * committed
        assert after.add_offsets("group") is ErrorCode.INVALID_PRODUCER_ID_MAPPING  # but knows where it is
        assert after.committed_offset("group", "topic") == (5 if committed else -1)
        after.close()


def test_an_open_transaction_is_still_open_after_a_restart() -> None:
    with Broker() as broker:
        broker.create_topic("topic")
        producer = Transactional(broker.bootstrap, "id")
        assert producer.open() is NONE
        assert producer.add("topic") is NONE
        assert producer.write("topic", b"a") is NONE
        producer.close()
        broker.restart()
        again = Transactional(broker.bootstrap, "id")
        again.who = producer.who
        assert again.describe().transaction_state == "Ongoing"
        again._sequences["topic", 0] = 1
        assert again.write("topic", b"b") is NONE
        assert again.end(committed=True) is NONE
        again.await_state("CompleteCommit")
        assert again.read("topic") == [b"a", b"b"]
        again.close()


@pytest.mark.parametrize("v2", [False, True])
def test_every_answer_waits_until_it_is_on_disk_where_the_settings_say_so(v2: bool) -> None:
    with Broker({"log.flush.interval.messages": "1"}) as broker:
        broker.create_topic("topic", partitions=2)
        producer = Transactional(broker.bootstrap, "id", v2=v2)
        assert producer.open() is NONE
        for committed in (True, False, True):
            for number in (0, 1):
                while not v2 and producer.add("topic", number) is ErrorCode.CONCURRENT_TRANSACTIONS:
                    pass
                while producer.write("topic", b"%d" % committed, number=number) in PASSING:
                    pass
            assert producer.add_offsets("group") is NONE
            assert producer.commit_offset("group", "topic", 5) is NONE
            assert producer.end(committed=committed) is NONE
        producer.await_state("CompleteCommit")
        assert [producer.read("topic", number=number) for number in (0, 1)] == [[b"1", b"1"]] * 2
        assert producer.committed_offset("group", "topic") == 5
        producer.close()


def test_every_test_that_the_statements_name_is_there() -> None:
    root = Path(__file__).parents[2]
    named = set(re.findall(r"`((?:test_|Test)\w+)`", (root / "docs" / "transactions.md").read_text()))
    files = [*(root / "tests" / "transactions").glob("*.py"), *(root / "tests" / "broker").glob("*.py")]
    there = {
        name for file in files for name in re.findall(r"(?m)^(?:def )?((?:test_|Test)\w+)", file.read_text())
    }
    assert len(named) > 15
    assert named <= there
