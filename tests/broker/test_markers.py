"""Markers are written until all are safe, or until that is not ours to do."""

from __future__ import annotations

from itertools import count

from tests.broker.transactional import Transactional

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_numbers = count()


def marked(
    client: Conversation,
    producer: Transactional,
    topic: str,
    *,
    epochs_later: int = 0,
    committed: bool = False,
) -> ErrorCode:
    """By hand, as an operator does it."""
    marker = WritableTxnMarker(
        producer_id=producer.who.id,
        producer_epoch=producer.who.epoch + epochs_later,
        transaction_result=committed,
        coordinator_epoch=0,
        topics=(WritableTxnMarkerTopic(name=topic, partition_indexes=(0,)),),
    )
    answer = client.ask(WriteTxnMarkersRequest(markers=(marker,)), 1)
    assert isinstance(answer, WriteTxnMarkersResponse)
    return ErrorCode.of(answer.markers[0].topics[0].partitions[0].error_code)


def begun(broker: Broker, topic: str) -> Transactional:
    producer = Transactional(broker.bootstrap, f"marked-{next(_numbers)}")
    assert producer.open() is ErrorCode.NONE
    assert producer.add(topic) is ErrorCode.NONE
    assert producer.write(topic, b"a") is ErrorCode.NONE
    return producer


def test_a_partition_that_is_gone_holds_nothing_up(shared_broker: Broker) -> None:
    name = f"gone-{next(_numbers)}"
    shared_broker.create_topic(name)
    producer = begun(shared_broker, name)
    shared_broker.delete_topic(name)
    assert producer.end(committed=True) is ErrorCode.NONE
    producer.await_state("CompleteCommit")
    producer.close()


def test_a_hanging_transaction_is_ended_by_hand(
    shared_broker: Broker, client: Conversation, topic: str
) -> None:
    producer = begun(shared_broker, topic)
    assert marked(client, producer, topic, committed=True) is ErrorCode.NONE
    assert producer.read(topic) == [b"a"]
    assert producer.end(committed=True) is ErrorCode.NONE  # its marker comes second, and changes nothing
    producer.await_state("CompleteCommit")
    assert producer.read(topic) == [b"a"]
    producer.close()


def test_a_decision_of_an_earlier_epoch_stays_undone(
    shared_broker: Broker, client: Conversation, topic: str
) -> None:
    producer = begun(shared_broker, topic)
    assert marked(client, producer, topic, epochs_later=1) is ErrorCode.NONE
    assert producer.end(committed=True) is ErrorCode.NONE
    assert producer.await_state("PrepareCommit")
    assert producer.end(committed=True) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert producer.describe().transaction_state == "PrepareCommit"
    assert producer.read(topic) == []
    producer.close()


def test_markers_wait_for_the_disk_where_the_settings_say_so() -> None:
    with Broker({"log.flush.interval.messages": "1"}) as broker, Conversation(broker.bootstrap) as client:
        broker.create_topic("topic")
        producer = begun(broker, "topic")
        assert marked(client, producer, "topic", committed=True) is ErrorCode.NONE
        assert producer.read("topic") == [b"a"]
        producer.close()
