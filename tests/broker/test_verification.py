"""What is not promised elsewhere: where nobody can be asked, the producer is to try again."""

from __future__ import annotations

from odradek.model.errors import ErrorCode
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.records import Producer


def produced(client: Conversation, topic: str, id: str | None, *, transactional: bool = True) -> ErrorCode:
    records = bytes(batch_of(producer=Producer(5, 0, 0), transactional=transactional))
    data = PartitionData(index=0, records=records)
    request = ProduceRequest(
        transactional_id=id,
        acks=-1,
        timeout_ms=5000,
        topic_data=(TopicData(name=topic, partition_data=(data,)),),
    )
    answer = client.ask(request, 11)
    assert isinstance(answer, ProduceResponse)
    return ErrorCode.of(answer.responses[0].partition_responses[0].error_code)


def test_where_nobody_coordinates_yet_the_producer_tries_again() -> None:
    with Broker() as broker, Conversation(broker.bootstrap) as client:
        broker.create_topic("topic")
        assert produced(client, "topic", "id") is ErrorCode.NOT_ENOUGH_REPLICAS
        assert produced(client, "topic", "id", transactional=False) is ErrorCode.NONE


def test_a_transactional_batch_has_a_transactional_id(client: Conversation, topic: str) -> None:
    assert produced(client, topic, None) is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_clients_do_not_append_to_the_topics_of_coordinators(shared_broker: Broker) -> None:
    with Conversation(shared_broker.bootstrap) as client:
        for topic in ("__consumer_offsets", "__transaction_state"):
            answer = produced(client, topic, None, transactional=False)
            assert answer in (ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
