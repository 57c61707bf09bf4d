from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.log.settings import LogSettings
from odradek.log.validate import Admission, RecordsRefused, RefusedRecord
from odradek.model.errors import ApiError, ErrorCode
from odradek.testing.batches import T0, batch_of, marker_of
from odradek.wire.batch import (
    COMPRESSION_MASK,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    BatchHeader,
    checksum,
    read_header,
    sealed,
    stamp,
    stamp_time,
)
from odradek.wire.compression import Codec
from odradek.wire.records import BatchBuilder, Producer, read_records

NOW_MS = T0 + 5000
SETTINGS = LogSettings()


def admit(batch: bytearray | memoryview, **settings: object) -> BatchHeader:
    admission = Admission(replace(SETTINGS, **settings))  # type: ignore[arg-type]
    stored, header = admission.admit(batch, NOW_MS, from_client=True)
    assert header == read_header(stored)
    assert header.crc == checksum(stored)
    return header


def refusal(batch: bytearray | memoryview, **settings: object) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        admit(batch, **settings)
    return caught.value.error


def altered(batch: bytearray, **fields: int) -> bytearray:
    """The batch with other numbers in its header, and a checksum that fits."""
    return sealed(read_header(batch)._replace(**fields), batch[HEADER_SIZE:])


def test_an_ordinary_batch_is_taken_as_it_is() -> None:
    batch = batch_of(T0, T0 + 1)
    before = bytes(batch)
    stored, _ = Admission(SETTINGS).admit(batch, NOW_MS, from_client=True)
    assert stored is batch
    assert bytes(batch) == before


# -- what is no batch --------------------------------------------------------------------------------------


@given(st.integers(17, 75), st.integers(0, 7))
def test_a_flipped_bit_is_a_corrupt_message(at: int, bit: int) -> None:
    batch = batch_of(T0)
    batch[at] ^= 1 << bit
    assert refusal(batch) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("size", [0, 11, 60, 70])
def test_half_a_batch_is_an_invalid_record(size: int) -> None:
    assert refusal(batch_of(T0)[:size]) is ErrorCode.INVALID_RECORD


def test_two_batches_are_an_invalid_record() -> None:
    assert refusal(batch_of(T0) + batch_of(T0)) is ErrorCode.INVALID_RECORD


def test_what_follows_a_batch_and_is_none_is_left_out() -> None:
    batch = batch_of(T0)
    stored, header = Admission(SETTINGS).admit(batch + b"trailing", NOW_MS, from_client=True)
    assert len(stored) == header.size == len(batch)


@pytest.mark.parametrize("magic", [0, 2])
@pytest.mark.parametrize("length", [-1, 0, 13])
def test_a_length_that_no_batch_can_have_is_a_corrupt_message(length: int, magic: int) -> None:
    batch = batch_of(T0)
    batch[16] = magic
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    assert refusal(batch) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("magic", "error"),
    [(0, ErrorCode.INVALID_RECORD), (1, ErrorCode.INVALID_RECORD), (3, ErrorCode.CORRUPT_MESSAGE)],
)
def test_other_formats_are_refused(magic: int, error: ErrorCode) -> None:
    batch = batch_of(T0)
    batch[16] = magic
    assert refusal(batch) is error


# -- what clients may not write ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"record_count": 3},
        {"record_count": 0},
        {"record_count": -1, "last_offset_delta": -2},
        {"record_count": 0, "last_offset_delta": -1},
        {"last_offset_delta": 7},
        {"producer_id": 5, "producer_epoch": 0, "base_sequence": -1},
        {"attributes": 0x20},
    ],
)
def test_numbers_that_contradict_each_other_are_an_invalid_record(fields: dict[str, int]) -> None:
    assert refusal(altered(batch_of(T0, T0), **fields)) is ErrorCode.INVALID_RECORD


def test_a_producer_numbers_its_batch_from_zero() -> None:
    batch = batch_of(T0)
    stamp(batch, 5, 0)
    assert refusal(batch) is ErrorCode.INVALID_RECORD


def test_control_batches_are_for_coordinators() -> None:
    marker = marker_of(7, aborted=False)
    assert refusal(marker) is ErrorCode.INVALID_RECORD
    assert Admission(SETTINGS).admit(marker, NOW_MS, from_client=False)[0] is marker


def test_an_unknown_codec_is_refused() -> None:
    """With the code that Kafka answers, which has none of its own for it."""
    assert refusal(altered(batch_of(T0), attributes=6)) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_batch_may_be_as_large_as_the_topic_says_and_not_larger() -> None:
    batch = batch_of(T0)
    admit(batch, max_message_bytes=len(batch))
    assert refusal(batch, max_message_bytes=len(batch) - 1) is ErrorCode.MESSAGE_TOO_LARGE


# -- keys --------------------------------------------------------------------------------------------------


def test_a_compacted_topic_names_the_records_without_a_key() -> None:
    builder = BatchBuilder()
    for key in (b"a", None, b"", None):
        builder.append(T0, key, b"value")
    batch = builder.build()
    admit(batch, cleanup_policy=frozenset({"delete"}))
    with pytest.raises(RecordsRefused) as caught:
        admit(batch, cleanup_policy=frozenset({"compact"}))
    assert caught.value.error is ErrorCode.INVALID_RECORD
    assert [refused.batch_index for refused in caught.value.records] == [1, 3]


def test_a_compacted_topic_takes_keys() -> None:
    admit(batch_of(T0, key=b""), cleanup_policy=frozenset({"compact", "delete"}))


# -- time --------------------------------------------------------------------------------------------------


def test_the_log_s_own_time_is_stamped_where_the_topic_asks_for_it() -> None:
    header = admit(batch_of(T0, T0 + 9), message_timestamp_type="LogAppendTime")
    assert header.max_timestamp == NOW_MS
    assert header.attributes & LOG_APPEND_TIME


def test_with_the_log_s_own_time_every_record_has_it() -> None:
    batch = batch_of(T0, T0 + 9)
    admit(batch, message_timestamp_type="LogAppendTime")
    assert [record.timestamp for record in read_records(batch)] == [NOW_MS, NOW_MS]


def test_a_producer_cannot_pretend_to_be_the_log() -> None:
    batch = batch_of(T0)
    stamp_time(batch, T0 + 3, log_append_time=True)
    header = admit(batch)
    assert not header.attributes & LOG_APPEND_TIME
    assert header.max_timestamp == T0 + 3


def test_a_producer_does_not_set_the_log_s_own_time() -> None:
    batch = batch_of(T0, T0)
    stamp_time(batch, T0 + 3, log_append_time=True)
    with pytest.raises(RecordsRefused) as caught:
        admit(batch, message_timestamp_type="LogAppendTime")
    assert caught.value.error is ErrorCode.INVALID_TIMESTAMP
    assert [refused.batch_index for refused in caught.value.records] == [0, 1]


@pytest.mark.parametrize(("bound", "accepted"), [(1000, True), (999, False)])
def test_a_record_from_the_future_is_refused(bound: int, accepted: bool) -> None:
    batch = batch_of(NOW_MS, NOW_MS + 1000)
    if accepted:
        admit(batch, message_timestamp_after_max_ms=bound)
    else:
        assert refusal(batch, message_timestamp_after_max_ms=bound) is ErrorCode.INVALID_TIMESTAMP


def test_records_that_are_too_old_are_named() -> None:
    batch = batch_of(NOW_MS, NOW_MS - 1001, -1, NOW_MS - 1000)
    with pytest.raises(RecordsRefused) as caught:
        admit(batch, message_timestamp_before_max_ms=1000)
    assert caught.value.error is ErrorCode.INVALID_TIMESTAMP
    assert [refused.batch_index for refused in caught.value.records] == [1]
    assert isinstance(caught.value.records[0], RefusedRecord)


def test_bounds_of_time_are_for_producers_times_only() -> None:
    admit(
        batch_of(0, NOW_MS * 2),
        message_timestamp_type="LogAppendTime",
        message_timestamp_before_max_ms=1,
        message_timestamp_after_max_ms=1,
    )


# -- codecs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", ["uncompressed", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("sent", list(Codec))
def test_a_topic_s_codec_is_what_batches_are_stored_with(sent: Codec, stored: str) -> None:
    batch = batch_of(T0, T0 + 1, producer=Producer(7, 1, 5), codec=sent, value=b"v" * 500)
    wanted = Codec.NONE if stored == "uncompressed" else Codec[stored.upper()]
    admission = Admission(replace(SETTINGS, compression_type=stored))
    kept, header = admission.admit(batch, NOW_MS, from_client=True)
    assert header.attributes & COMPRESSION_MASK == wanted
    assert list(read_records(kept)) == list(read_records(batch))
    assert header._replace(length=0, crc=0, attributes=0) == read_header(batch)._replace(
        length=0, crc=0, attributes=0
    )
    assert (kept is batch) == (sent == wanted)


def test_the_level_of_a_codec_is_the_topic_s() -> None:
    value = bytes(range(256)) * 40 + b"abc" * 3000
    sizes = [
        len(
            Admission(replace(SETTINGS, compression_type="gzip", compression_gzip_level=level)).admit(
                batch_of(T0, value=value), NOW_MS, from_client=True
            )[0]
        )
        for level in (1, 9)
    ]
    assert sizes[0] > sizes[1]


def test_what_grows_too_large_by_another_codec_is_refused() -> None:
    batch = batch_of(T0, codec=Codec.ZSTD, value=b"v" * 5000)
    assert (
        refusal(batch, compression_type="uncompressed", max_message_bytes=4000) is ErrorCode.MESSAGE_TOO_LARGE
    )


def test_what_does_not_decompress_is_a_corrupt_message() -> None:
    broken = altered(batch_of(T0), attributes=Codec.GZIP)
    admit(broken)  # nobody looks
    assert refusal(broken, compression_type="lz4") is ErrorCode.CORRUPT_MESSAGE
