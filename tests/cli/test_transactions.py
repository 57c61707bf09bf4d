"""`odradek transactions` is kafka-transactions, and says what it says."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from tests.broker.transactional import Transactional
from tests.cli.conftest import recorded, replay, run
from tests.golden.cli.recordings import Case

from odradek.testing.batches import T0
from odradek.testing.broker import Broker

VERB = "transactions"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_does(case: Case, tmp_path: Path) -> None:
    ran = replay(VERB, case, RECORDING, tmp_path)
    assert without_durations(ran.out) == without_durations(case.out)
    assert ran.exit == case.exit
    if (case.err or "").startswith("usage:"):  # it shows how it is used, and then what is wrong
        assert ran.err
    else:
        assert ran.err.partition("\n")[0] == (case.err or "")


def without_durations(table: str) -> list[list[str]]:
    """Kafka's tool and ours were not asked at the same time."""
    heading, *rows = ([cell.strip() for cell in line.split("\t")] for line in table.splitlines() or [""])
    passing = [at for at, name in enumerate(heading) if "Duration" in name]
    return [heading, *([cell for at, cell in enumerate(row) if at not in passing] for row in rows)]


def test_a_transaction_that_hangs_is_found_and_ended() -> None:
    """It was written past its coordinator, long ago."""
    with (
        Broker({"transaction.partition.verification.enable": "false"}) as broker,
        closing(Transactional(broker.bootstrap, "forgotten")) as producer,
    ):
        broker.create_topic("orders")
        producer.open()
        producer.write("orders", b"undecided")
        assert producer.read("orders") == []
        (found,) = told(broker, "find-hanging", "--topic", "orders")
        assert (found["ProducerId"], found["StartOffset"], found["LastTimestamp"]) == (producer.who.id, 0, T0)
        assert told(broker, "abort", "--topic", "orders", "--partition", "0", "--start-offset", "0") == []
        assert told(broker, "find-hanging", "--topic", "orders") == []
        assert producer.read("orders", committed=False) == [b"undecided"]
        (state,) = told(broker, "describe-producers", "--topic", "orders", "--partition", "0")
        assert state["CurrentTransactionStartOffset"] is None


def test_a_transaction_that_its_coordinator_knows_does_not_hang() -> None:
    with Broker() as broker, closing(Transactional(broker.bootstrap, "payments")) as producer:
        broker.create_topic("orders")
        producer.open()
        producer.add("orders")
        producer.write("orders", b"undecided")
        assert told(broker, "find-hanging", "--topic", "orders") == []


def told(broker: Broker, *arguments: str) -> list[dict[str, object]]:
    ran = run(VERB, "--bootstrap-server", broker.bootstrap, *arguments, "--json")
    assert (ran.exit, ran.err) == (0, "")
    return [json.loads(line) for line in ran.out.splitlines()]
