"""`odradek explain-group`, asked of a broker whose groups are brought into trouble."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.broker.transactional import Transactional
from tests.cli.conftest import run
from tests.cli.reading import Reading

from odradek.testing.batches import T0
from odradek.testing.broker import Broker


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker({"transaction.partition.verification.enable": "false"}) as broker:  # or else none could hang
        yield broker


@pytest.fixture
def producer(reading: Reading) -> Iterator[Transactional]:
    with closing(Transactional(reading.broker.bootstrap, f"payments-{reading.topic}")) as producer:
        producer.open()
        yield producer


@pytest.fixture
def reading(broker: Broker) -> Iterator[Reading]:
    with closing(Reading(broker, partitions=2)) as reading:
        yield reading


def explained(reading: Reading, *flags: str, group: str | None = None) -> list[str]:
    ran = run("explain-group", group or reading.group, "--bootstrap-server", reading.broker.bootstrap, *flags)
    assert (ran.exit, ran.err) == (0, "")
    return ran.out.splitlines()


def test_a_group_that_reads_and_has_read_everything_is_left_alone(reading: Reading) -> None:
    reading.produce(T0)
    reading.commit(1)
    reading.join()
    assert explained(reading) == [
        f"Group {reading.group}: Stable, 1 member, not behind.",
        "- Nothing keeps it from going on.",
    ]


def test_nobody_knows_a_group_that_is_not_there(reading: Reading) -> None:
    assert explained(reading, group="nobody") == [
        "Group nobody is not there: nobody has joined it, and it has no offsets."
    ]


def test_a_group_without_members_does_not_read(reading: Reading) -> None:
    reading.produce(T0, T0, T0)
    reading.commit(1)
    summary, *why = explained(reading)
    assert re.fullmatch(
        rf"Group {reading.group}: Empty, no members, 2 records behind, the oldest of them \d+ d \d+ h old\.",
        summary,
    )
    assert why == ["- It has no members: nobody reads."]


def test_who_is_waited_for_is_named(reading: Reading) -> None:
    member_id = reading.join()
    reading.join_and_wait()
    reading.broker.clock.advance(seconds=4)
    summary, why, *_ = explained(reading)
    assert summary == f"Group {reading.group}: PreparingRebalance, 2 members, nothing committed."
    assert why.startswith(f"- It is rebalancing, and waits for member {member_id} (client client-")
    assert "to join again, which was last heard of 4 s ago and is put out after 10 s of silence." in why


def test_a_silent_member_is_named(reading: Reading) -> None:
    member_id = reading.join()
    reading.broker.clock.advance(seconds=4)
    assert not [each for each in explained(reading) if member_id in each]
    reading.broker.clock.advance(seconds=3)
    (told,) = [each for each in explained(reading) if member_id in each]
    assert told.endswith("was last heard of 7 s ago and is put out after 10 s of silence.")
    reading.heartbeat(member_id)
    assert not [each for each in explained(reading) if member_id in each]


def test_what_the_log_has_lost_is_out_of_range(reading: Reading) -> None:
    for _ in range(3):
        reading.produce(T0)
    reading.commit(0)
    reading.delete_records(before=2)
    (told,) = [each for each in explained(reading) if "offset" in each]
    assert told.startswith(f"- {reading.topic}-0: the group is at offset 0, but the log begins at 2 now;")


def test_what_the_log_does_not_have_yet_is_out_of_range(reading: Reading) -> None:
    reading.produce(T0)
    reading.commit(7)
    (told,) = [each for each in explained(reading) if "offset" in each]
    assert told.startswith(f"- {reading.topic}-0: the group is at offset 7, but the log ends at 1;")


def test_an_open_transaction_that_stops_the_group_is_named(reading: Reading, producer: Transactional) -> None:
    reading.produce(T0)
    producer.add(reading.topic)
    producer.write(reading.topic, b"undecided")
    reading.commit(0)
    assert _about_transaction(reading).startswith(
        f"- {reading.topic}-0: who reads only what is committed will have to stop at offset 1, of 2, because "
        f"transaction {producer.id} of producer {producer.who.id}, which begins at 1, has been open for "
    )
    reading.commit(1)
    assert "who reads only what is committed stands at offset 1" in _about_transaction(reading)
    producer.end(committed=True)
    producer.await_state("CompleteCommit")
    assert not [each for each in explained(reading) if "transaction" in each]


def test_a_transaction_that_nobody_will_end_is_told_apart(reading: Reading, producer: Transactional) -> None:
    """Its coordinator does not know of this partition."""
    producer.write(reading.topic, b"undecided")
    reading.commit(0)
    told = _about_transaction(reading)
    assert f"producer {producer.who.id} has left a transaction open that begins at 0" in told
    assert "`odradek transactions abort` ends it" in told


def test_an_offset_that_is_not_decided_is_told(reading: Reading, producer: Transactional) -> None:
    reading.produce(T0)
    reading.commit(0)
    producer.add_offsets(reading.group)
    producer.commit_offset(reading.group, reading.topic, 1)
    (told,) = [each for each in explained(reading) if "not decided" in each]
    assert told.startswith(f"- {reading.topic}-0: a transaction has committed an offset for it")


def test_what_no_member_reads_is_told(reading: Reading) -> None:
    reading.produce(T0, T0, number=1)
    reading.commit(0, number=1)
    reading.join()
    assert f"- {reading.topic}-1: no member reads it, and 2 records wait there." in explained(reading)


def test_programs_are_told_in_json(reading: Reading) -> None:
    reading.commit(0)
    (line,) = explained(reading, "--json")
    told = json.loads(line)
    assert (told["group"], told["state"]) == (reading.group, "Empty")
    assert told["reasons"] == [{"kind": "no-members", "said": "It has no members: nobody reads."}]


def test_without_a_cluster_it_says_what_is_missing() -> None:
    ran = run("explain-group", "g")
    assert ran.exit == 1
    assert ran.err.startswith("--bootstrap-server must be specified")


def _about_transaction(reading: Reading) -> str:
    (told,) = [each for each in explained(reading) if "transaction" in each]
    return told
