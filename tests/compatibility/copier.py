"""Copies one topic to another, each record once, whatever happens to it: BOOTSTRAP FROM TO ID.

Every fourth transaction is aborted and done again. Says "copied N" after each. As java/Copier.java does.
"""

from __future__ import annotations

import sys
from itertools import count

from confluent_kafka import Consumer, Producer, TopicPartition

WITHIN_S = 30


def main(bootstrap: str, source: str, target: str, id: str) -> None:
    # It would give up the only broker there is when that dies, and not always find it again.
    common = {"bootstrap.servers": bootstrap, "metadata.recovery.strategy": "none"}
    producer = Producer({**common, "transactional.id": id, "transaction.timeout.ms": 10_000})
    consumer = Consumer(
        {
            **common,
            "group.id": id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "group.instance.id": id,  # who comes back need not wait until it is missed
        }
    )
    producer.init_transactions(WITHIN_S)
    consumer.subscribe([source])
    for number in count():
        messages = consumer.consume(50, 0.2)
        while not messages:
            messages = consumer.consume(50, 0.2)
        first: dict[int, int] = {}
        producer.begin_transaction()
        for message in messages:
            assert message.error() is None, message.error()
            first.setdefault(message.partition() or 0, message.offset() or 0)
            producer.produce(target, message.value(), message.key())
        places = [TopicPartition(source, partition) for partition in first]
        producer.send_offsets_to_transaction(
            consumer.position(places), consumer.consumer_group_metadata(), WITHIN_S
        )
        if number % 4 == 3:
            producer.abort_transaction(WITHIN_S)
            for partition, offset in first.items():
                consumer.seek(TopicPartition(source, partition, offset))
        else:
            producer.commit_transaction(WITHIN_S)
            print("copied", len(messages), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
