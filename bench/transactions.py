"""What does a transaction of one record cost? Latency from its beginning to the answer that it is committed,
one producer alone; and how many a second of eight at once. Both brokers in one run, rounds in turn.

    python bench/transactions.py [--rounds N]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from _jars import kafka_jars
from _peers import Peer, kafka, odradek
from _report import Cell, report

ALONE = 1500
AT_ONCE = 8
EACH = 300
WITHIN_S = 30
VALUE = b"x" * 100
_ids = count()


class Round:
    """One broker's figures of one round."""

    def __init__(self, peer: Peer, topic: str) -> None:
        before = peer.cpu_s()
        taken = sorted(committing(peer, topic, ALONE))
        self.p50_us, self.p99_us = taken[len(taken) // 2] * 1e6, taken[len(taken) * 99 // 100] * 1e6
        began = time.perf_counter()
        threads = [threading.Thread(target=committing, args=(peer, topic, EACH)) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.per_s = AT_ONCE * EACH / (time.perf_counter() - began)
        self.cpu_us = (peer.cpu_s() - before) / (ALONE + AT_ONCE * EACH) * 1e6


def committing(peer: Peer, topic: str, transactions: int) -> list[float]:
    """How long each took."""
    producer = Producer(
        {"bootstrap.servers": peer.bootstrap, "transactional.id": f"id-{next(_ids)}", "linger.ms": 0}
    )
    producer.init_transactions(WITHIN_S)
    taken = []
    for _ in range(transactions):
        began = time.perf_counter()
        producer.begin_transaction()
        producer.produce(topic, VALUE)
        producer.commit_transaction(WITHIN_S)
        taken.append(time.perf_counter() - began)
    return taken


def measured(peers: Sequence[Peer], rounds: int) -> list[list[Cell]]:
    figures: dict[str, list[Round]] = {peer.name: [] for peer in peers}
    for peer in peers:
        admin = AdminClient({"bootstrap.servers": peer.bootstrap})
        for made in admin.create_topics([NewTopic("topic", 3, 1)]).values():
            made.result()
    for _ in range(rounds + 1):
        for peer in peers:
            figures[peer.name].append(Round(peer, "topic"))
    rows: list[list[Cell]] = []
    for name, unit, field, goal in (
        ("one alone, p50", "us", "p50_us", "<= 0.8x"),
        ("one alone, p99", "us", "p99_us", "<= 0.8x"),
        (f"{AT_ONCE} at once", "transactions/s", "per_s", ">= 1.0x"),
        ("broker's CPU each", "us", "cpu_us", ""),
    ):
        theirs, ours = (
            statistics.median(getattr(each, field) for each in figures[peer.name][1:]) for peer in peers
        )
        rows.append([name, unit, round(theirs), round(ours), ours / theirs, goal])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="transactions-") as home,
        kafka(kafka_jars(), Path(home) / "kafka") as theirs,
        odradek(Path(home) / "odradek") as ours,
    ):
        rows = measured((theirs, ours), asked.rounds)
    report("transactions of one record", ("work", "unit", "Kafka", "Odradek", "ratio", "goal"), rows)


if __name__ == "__main__":
    main()
