"""What is stored: Kafka's bytes, read again as what they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.model.ids import Partition
from odradek.model.outcome import StoredRecord
from odradek.transactions.records import UnknownRecord, read, record_of
from odradek.transactions.states import State
from odradek.transactions.transaction import NO_ID, Identity, Protocol, Transaction

ONGOING = Transaction(
    Identity(7, 3),
    timeout_ms=60_000,
    state=State.ONGOING,
    updated_ms=1_700_000_000_123,
    started_ms=1_700_000_000_100,
    partitions=frozenset({Partition("b", 1), Partition("a", 2), Partition("b", 0)}),
)
int64s = st.integers(min_value=0, max_value=2**63 - 1)
partitions = st.builds(Partition, st.text(max_size=5), st.integers(min_value=0, max_value=2**31 - 1))


@st.composite
def transactions(draw: st.DrawFn) -> Transaction:
    state = draw(st.sampled_from(State))
    return Transaction(
        Identity(draw(int64s), draw(st.integers(min_value=0, max_value=32767))),
        draw(st.integers(min_value=1, max_value=2**31 - 1)),
        state,
        draw(int64s),
        draw(int64s),
        frozenset() if state is State.EMPTY else draw(st.frozensets(partitions, max_size=5)),
        draw(st.just(NO_ID) | int64s),
        draw(st.just(NO_ID) | int64s),
        draw(st.sampled_from(Protocol)),
    )


@given(st.text(max_size=10), transactions())
def test_what_is_written_is_read(transactional_id: str, transaction: Transaction) -> None:
    assert read(record_of(transactional_id, transaction)) == (transactional_id, transaction)


def test_a_forgotten_id_is_a_tombstone() -> None:
    assert read(record_of("copier", None)) == ("copier", None)


def test_what_version_0_can_say_is_said_in_it() -> None:
    key, value = record_of("copier", ONGOING)
    assert key.hex() == "0000" + "0006" + b"copier".hex()
    assert value is not None
    assert value.hex() == (
        "0000" + "0000000000000007" + "0003" + "0000ea60" + "01"
        + "00000002" + "0001" + b"a".hex() + "00000001" + "00000002"
        + "0001" + b"b".hex() + "00000002" + "00000000" + "00000001"
        + "0000018bcfe5687b" + "0000018bcfe56864"
    )  # fmt: skip


def test_an_empty_one_has_null_for_partitions() -> None:
    _, value = record_of("copier", Transaction.new(7, 60_000, 1))
    assert value is not None
    assert value[17:21] == b"\xff\xff\xff\xff"


@pytest.mark.parametrize(
    "record",
    [
        StoredRecord(b"\x00\x01\x00\x01x", b""),
        StoredRecord(b"\x00\x00\x00\x09x", b""),
        StoredRecord(b"\x00", b""),
        StoredRecord(record_of("x", None).key, b"\x00\x02"),
        StoredRecord(record_of("x", None).key, b"\x00\x00\x00"),
        StoredRecord(record_of("x", None).key, b"\xff\xff"),
        StoredRecord(record_of("x", None).key, b"\x00\x00" + bytes(14) + b"\x08" + bytes(20)),
    ],
)
def test_what_cannot_be_read_is_said_to_be_so(record: StoredRecord) -> None:
    with pytest.raises(UnknownRecord):
        read(record)
