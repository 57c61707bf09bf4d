from __future__ import annotations

from collections.abc import Mapping

import pytest

from odradek.log.cleaned_transactions import CleanedTransactions
from odradek.log.cleaning import KeyMapSettings, LastBatch, Order
from odradek.log.key_map import KeyMap
from odradek.log.settings import LogSettings
from odradek.log.sieve import Sieve
from odradek.log.txn_index import AbortedTransaction
from odradek.wire.batch import read_header
from odradek.wire.compression import Codec
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.records import NO_PRODUCER, BatchBuilder, Producer, read_records

NOW, RETENTION = 10_000, 500
END = 100  # of what is cleaned
ANN = Producer(7, 2, 40)


def sieve(
    newest: Mapping[bytes, int],
    *,
    aborted: list[AbortedTransaction] | None = None,
    last_batches: Mapping[int, LastBatch] | None = None,
    cleaned_until: int = END,
    now_ms: int = NOW,
) -> Sieve:
    key_map = KeyMap(50, 0.9, b"salt")
    key_map.put((offset, key) for key, offset in newest.items())
    order = Order(
        directory="/orders-0",
        base_offsets=(0, END),
        cuts=0,
        first_dirty=0,
        first_uncleanable=END,
        now_ms=now_ms,
        settings=LogSettings(delete_retention_ms=RETENTION),
        last_batches=last_batches or {},
        key_map=KeyMapSettings(),
        salt=b"salt",
    )
    return Sieve(order, key_map, cleaned_until, CleanedTransactions(aborted or []))


def batch(
    offset: int,
    *records: tuple[bytes | None, bytes | None],
    producer: Producer = NO_PRODUCER,
    transactional: bool = False,
    codec: Codec = Codec.NONE,
) -> bytes:
    builder = BatchBuilder(base_offset=offset, producer=producer, transactional=transactional, codec=codec)
    for number, (key, value) in enumerate(records):
        builder.append(1000 + number, key, value)
    return bytes(builder.build())


def sift(sieve: Sieve, data: bytes) -> bytes | None:
    kept = sieve.sift(read_header(data), memoryview(data))
    return None if kept is None else bytes(kept)


def offsets(data: bytes | None) -> list[int]:
    assert data is not None
    return [record.offset for record in read_records(data)]


@pytest.mark.parametrize("codec", Codec)
def test_of_each_key_the_newest_record_stays_where_it_was(codec: Codec) -> None:
    data = batch(10, (b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"c", b"4"), codec=codec)
    kept = sift(sieve({b"a": 12, b"b": 50}), data)
    assert offsets(kept) == [12, 13], "of b there is a newer one, of c nothing is known"
    assert kept is not None
    before, after = read_header(data), read_header(kept)
    assert (after.base_offset, after.last_offset) == (before.base_offset, before.last_offset)
    assert after.attributes == before.attributes


def test_a_batch_that_stays_whole_stays_as_it_is() -> None:
    data = batch(10, (b"a", b"1"), (b"b", b"2"))
    assert sift(sieve({b"a": 10, b"b": 11}), data) == data


def test_records_without_a_key_go() -> None:
    assert offsets(sift(sieve({}), batch(10, (None, b"1"), (b"b", b"2")))) == [11]


def test_what_the_key_map_had_no_room_for_stays() -> None:
    data = batch(10, (b"a", b"1"), (None, b"2"), (b"a", b"3"), (None, b"4"))
    assert offsets(sift(sieve({b"a": 12}, cleaned_until=12), data)) == [12, 13]


def test_a_batch_with_nothing_left_goes() -> None:
    assert sift(sieve({b"a": 50}), batch(10, (b"a", b"1"))) is None


def test_a_tombstone_gets_a_horizon_and_goes_when_it_has_passed() -> None:
    newest = {b"a": 10, b"b": 11}
    first = sift(sieve(newest), batch(10, (b"a", None), (b"b", b"2")))
    assert first is not None
    assert read_header(first).delete_horizon_ms == NOW + RETENTION
    assert [record.timestamp for record in read_records(first)] == [1000, 1001]
    in_time = sieve(newest, now_ms=NOW + RETENTION - 1)
    assert sift(in_time, first) == first, "it is not given a later one"
    late = sift(sieve(newest, now_ms=NOW + RETENTION), first)
    assert offsets(late) == [11]
    assert read_header(late or b"").delete_horizon_ms == NOW + RETENTION


def test_a_tombstone_that_was_overtaken_goes_at_once() -> None:
    assert sift(sieve({b"a": 50}), batch(10, (b"a", None))) is None


def test_aborted_data_goes_though_it_is_newest() -> None:
    aborted = [AbortedTransaction(ANN.id, 10, 20, 21)]
    data = batch(10, (b"a", b"1"), producer=ANN, transactional=True)
    assert sift(sieve({b"a": 10}, aborted=aborted), data) is None


@pytest.mark.parametrize("kind", MarkerType)
def test_a_marker_without_data_gets_a_horizon_and_goes_when_it_has_passed(kind: MarkerType) -> None:
    marker = bytes(build_marker(Marker(kind, 0), ANN.id, ANN.epoch, 1000, base_offset=20))
    first = sift(sieve({}), marker)
    assert first is not None
    assert read_header(first).delete_horizon_ms == NOW + RETENTION
    assert sift(sieve({}, now_ms=NOW + RETENTION - 1), first) == first
    assert sift(sieve({}, now_ms=NOW + RETENTION), first) is None


def test_a_marker_with_data_has_no_horizon() -> None:
    data = batch(10, (b"a", b"1"), producer=ANN, transactional=True)
    marker = bytes(build_marker(Marker(MarkerType.COMMIT, 0), ANN.id, ANN.epoch, 1000, base_offset=20))
    both = sieve({b"a": 10})
    assert sift(both, data) == data
    assert sift(both, marker) == marker


def test_a_producers_last_batch_keeps_its_place_and_its_sequence() -> None:
    data = batch(10, (b"a", b"1"), (b"b", b"2"), producer=ANN, codec=Codec.LZ4)
    newer = {b"a": 50, b"b": 51}
    kept = sift(sieve(newer, last_batches={ANN.id: LastBatch(11, ANN.epoch)}), data)
    assert offsets(kept) == []
    header = read_header(kept or b"")
    assert (header.base_offset, header.last_offset) == (10, 11)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == ANN
    again = sieve(newer, last_batches={ANN.id: LastBatch(11, ANN.epoch)})
    assert sift(again, kept or b"") == kept
    overtaken = sieve(newer, last_batches={ANN.id: LastBatch(60, ANN.epoch)})
    assert sift(overtaken, kept or b"") is None


def test_of_a_producer_known_by_its_marker_alone_the_marker_keeps_its_place() -> None:
    marker = bytes(build_marker(Marker(MarkerType.ABORT, 0), ANN.id, ANN.epoch, 1000, base_offset=20))
    expired = sift(sieve({}, now_ms=NOW - RETENTION), marker) or b""
    kept = sift(sieve({}, last_batches={ANN.id: LastBatch(-1, ANN.epoch)}), expired)
    assert offsets(kept) == []
    assert sift(sieve({}, last_batches={ANN.id: LastBatch(-1, ANN.epoch + 1)}), expired) is None


def test_the_last_batch_of_what_is_cleaned_keeps_its_place() -> None:
    """Otherwise a log that lost its end this way would go on at offsets it has given out before."""
    last = batch(END - 1, (b"a", b"1"))
    assert offsets(sift(sieve({b"a": END + 5}), last)) == []
    assert sift(sieve({b"a": END + 5}), batch(END - 2, (b"a", b"1"))) is None


def test_it_counts_what_it_saw_and_what_it_kept() -> None:
    half = batch(10, (b"a", b"1"), (b"b", b"2"))
    counting = sieve({b"a": 50})
    kept = [sift(counting, data) for data in (half, batch(20, (b"a", b"3")))]
    assert (counting.tally.records_read, counting.tally.records_kept) == (3, 1)
    assert counting.tally.bytes_read == len(half) + len(batch(20, (b"a", b"3")))
    assert counting.tally.bytes_kept == len(kept[0] or b"")
