"""Bytes written out by hand against what compiled codecs make of them, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from odradek.wire.codec import decode, decoder, encode, encode_parts
from odradek.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.wire.messages.metadata import ApiVersionsRequest, MetadataRequest
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData
from odradek.wire.parts import FileSlice
from odradek.wire.primitives import (
    ARRAY_LENGTH_MAX,
    STRING_SIZE_MAX,
    TAGGED_FIELDS_MAX,
    Malformed,
    Unencodable,
)
from odradek.wire.schema import (
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableSince,
    Records,
    Since,
    String,
    Tagged,
    UInt16,
    Until,
    Uuid,
    default_of,
    message,
    unknown_tags,
    with_unknown_tags,
)

UUID = bytes(range(16))


@message
class Cursor:
    topic: String
    index: Int32


@message
class Range:
    first: Int64 = -1
    last: Int64 = -1


@message(versions=range(3), flexible=2)
class Sample:
    """Every kind of field. Version 1 adds what came late and drops what was old; version 2 is flexible."""

    flag: Bool
    tiny: Int8
    port: UInt16
    ratio: Float64
    identity: Uuid
    data: Bytes | None
    numbers: tuple[Int32, ...]
    identities: tuple[Uuid, ...]
    names: Annotated[tuple[String, ...] | None, NullableSince(1)]
    old: Annotated[Int16, Until(0)] = 5
    late: Annotated[String | None, Since(1)] = "late"
    cursor: Annotated[Cursor | None, Since(1)] = None
    range: Annotated[Range, Since(1)] = default_of(Range)
    hint: Annotated[String, Tagged(0, since=2)] = ""
    span: Annotated[Range, Tagged(2, since=2)] = default_of(Range)
    mark: Annotated[Cursor | None, Tagged(3, since=2)] = None
    bound: Annotated[Range | None, Tagged(4, since=2)] = default_of(Range)


def sample(**fields: object) -> Sample:
    stated: dict[str, object] = {
        "flag": True,
        "tiny": -2,
        "port": 65535,
        "ratio": 0.5,
        "identity": UUID,
        "data": b"\x07",
        "numbers": (1, -1),
        "identities": (UUID,),
        "names": ("a", "é"),
    }
    return Sample(**(stated | fields))  # type: ignore[arg-type]


FRONT = "01 fe ffff 3fe0000000000000 000102030405060708090a0b0c0d0e0f"
GOLDEN = [
    (
        ApiVersionsRequest(client_software_name="odradek", client_software_version="1"),
        {0: "", 3: "08 6f64726164656b 02 31 00"},
    ),
    (
        MetadataRequest(topics=None),
        {1: "ffffffff", 4: "ffffffff 01", 8: "ffffffff 01 00 00", 9: "00 01 00 00 00", 12: "00 01 00 00"},
    ),
    (
        ProduceRequest(
            acks=-1,
            timeout_ms=1000,
            topic_data=(
                TopicData(
                    name="t", topic_id=UUID, partition_data=(PartitionData(index=2, records=b"\x00\x01\x02"),)
                ),
            ),
        ),
        {
            3: "ffff ffff 000003e8 00000001 0001 74 00000001 00000002 00000003 000102",
            9: "00 ffff 000003e8 02 02 74 02 00000002 04 000102 00 00 00",
            13: f"00 ffff 000003e8 02 {UUID.hex()} 02 00000002 04 000102 00 00 00",
        },
    ),
    (
        FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=0x100000,
            topics=(
                FetchTopic(
                    topic="t",
                    topic_id=UUID,
                    partitions=(FetchPartition(partition=3, fetch_offset=9, partition_max_bytes=0x1000),),
                ),
            ),
        ),
        {
            4: "ffffffff 000001f4 00000001 00100000 00 00000001 0001 74"
            "00000001 00000003 0000000000000009 00001000",
            15: f"000001f4 00000001 00100000 00 00000000 ffffffff 02 {UUID.hex()} 02"
            "00000003 ffffffff 0000000000000009 ffffffff ffffffffffffffff 00001000 00 00 01 01 00",
        },
    ),
    (
        sample(),
        {
            0: f"{FRONT} 00000001 07 00000002 00000001 ffffffff 00000001 {UUID.hex()}"
            "00000002 0001 61 0002 c3a9 0005",
            1: f"{FRONT} 00000001 07 00000002 00000001 ffffffff 00000001 {UUID.hex()}"
            "00000002 0001 61 0002 c3a9 0004 6c617465 ff ffffffffffffffff ffffffffffffffff",
            2: f"{FRONT} 02 07 03 00000001 ffffffff 02 {UUID.hex()}"
            "03 02 61 03 c3a9 05 6c617465 ff ffffffffffffffff ffffffffffffffff 00 00",
        },
    ),
    (
        sample(
            data=None, names=None, late=None, cursor=Cursor(topic="t", index=1), hint="h", span=Range(first=1)
        ),
        {
            1: f"{FRONT} ffffffff 00000002 00000001 ffffffff 00000001 {UUID.hex()}"
            "ffffffff ffff 01 0001 74 00000001 ffffffffffffffff ffffffffffffffff",
            2: f"{FRONT} 00 03 00000001 ffffffff 02 {UUID.hex()} 00 00 01 02 74 00000001 00"
            "ffffffffffffffff ffffffffffffffff 00"
            "02 00 02 02 68 02 11 0000000000000001 ffffffffffffffff 00",
        },
    ),
    (
        with_unknown_tags(
            sample(data=b"", numbers=(), identities=(), names=(), mark=Cursor(topic="", index=0)),
            ((1, b"\xaa"), (300, b"")),
        ),
        {
            2: f"{FRONT} 01 01 01 01 05 6c617465 ff ffffffffffffffff ffffffffffffffff 00"
            "03 01 01 aa 03 07 01 01 00000000 00 ac02 00",
        },
    ),
    (
        sample(data=None, numbers=(), identities=(), names=None, late=None, bound=None),
        {2: f"{FRONT} 00 01 01 00 00 ff ffffffffffffffff ffffffffffffffff 00 01 04 01 00"},
    ),
    (
        sample(data=None, numbers=(), identities=(), names=None, late=None, bound=Range(first=1)),
        {
            2: f"{FRONT} 00 01 01 00 00 ff ffffffffffffffff ffffffffffffffff 00"
            "01 04 12 01 0000000000000001 ffffffffffffffff 00"
        },
    ),
]
CASES = [
    pytest.param(value, version, expected, id=f"{type(value).__name__}-{number}-v{version}")
    for number, (value, versions) in enumerate(GOLDEN)
    for version, expected in versions.items()
]


@pytest.mark.parametrize(("value", "version", "expected"), CASES)
def test_a_message_is_these_bytes(value: object, version: int, expected: str) -> None:
    assert encode(value, version).hex() == expected.replace(" ", "")


@pytest.mark.parametrize(("value", "version", "expected"), CASES)
@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_these_bytes_are_that_message(value: object, version: int, expected: str, buffer: type) -> None:
    data = buffer(bytes.fromhex(expected))
    decoded = decode(type(value), version, data)
    assert encode(decoded, version).hex() == expected.replace(" ", "")
    if isinstance(value, Sample) and version == 2:  # older versions do not say all that it holds
        assert decoded == value


def test_fields_a_version_does_not_have_are_dropped_and_come_back_as_their_defaults() -> None:
    value = sample(old=1, late="x", cursor=Cursor(topic="t", index=1), hint="h", span=Range(first=1))
    back = [decode(Sample, version, encode(value, version)) for version in range(3)]
    assert [each.old for each in back] == [1, 5, 5]
    assert [each.late for each in back] == ["late", "x", "x"]
    assert [each.cursor for each in back] == [None, value.cursor, value.cursor]
    assert [each.hint for each in back] == ["", "", "h"]
    assert [each.span for each in back] == [Range(), Range(), Range(first=1)]


def test_unknown_tags_come_back_and_are_dropped_where_there_are_no_tags() -> None:
    tags = ((7, b"seven"), (200, bytes(300)))
    value = with_unknown_tags(sample(range=with_unknown_tags(Range(), ((0, b"in"),))), tags)
    back = decode(Sample, 2, encode(value, 2))
    assert unknown_tags(back) == tags
    assert unknown_tags(back.range) == ((0, b"in"),)
    assert unknown_tags(decode(Sample, 1, encode(value, 1))) == ()


def test_a_tagged_field_at_its_default_is_not_written() -> None:
    """At its default, not: the default itself."""
    assert encode(sample(span=Range(), bound=Range(), hint=""), 2) == encode(sample(), 2)


def test_what_is_long_comes_back() -> None:
    value = sample(
        data=bytes(100_000),
        numbers=tuple(range(1000)),
        identities=(UUID,) * 200,
        names=("é" * 300,) * 300,
        late="l" * STRING_SIZE_MAX,
        hint="h" * 20_000,
    )
    for version in (1, 2):
        back = decode(Sample, version, encode(value, version))
        assert (back.data, back.numbers, back.identities) == (value.data, value.numbers, value.identities)
        assert (back.names, back.late) == (value.names, value.late)


def test_any_negative_length_is_null_where_null_may_be() -> None:
    """As Kafka reads them."""
    null = bytes.fromhex(GOLDEN[5][1][1].replace(" ", ""))
    assert null.count(b"\xff\xff\xff\xff\0\0\0\x02") == 1
    odd = null.replace(b"\xff\xff\xff\xff\0\0\0\x02", b"\x80\0\0\0\0\0\0\x02")
    assert decode(Sample, 1, odd) == decode(Sample, 1, null)


# -- records -----------------------------------------------------------------------------------------------


@dataclass
class Segment:
    """A file, as far as a slice of it needs one."""

    content: bytes

    def fileno(self) -> int:
        raise AssertionError("nobody sends it")

    def read(self, position: int, size: int) -> bytes:
        return self.content[position : position + size]


@message(versions=range(2), flexible=1)
class Answer:
    before: Int16
    records: Records | None
    after: Int16
    more: Annotated[Records | None, Since(1)] = None


def test_records_are_parts_of_their_own_uncopied() -> None:
    view, piece = memoryview(b"abc"), FileSlice(Segment(b"0123456789"), 2, 5)
    answer = Answer(before=1, records=view, after=2, more=piece)
    parts = encode_parts(answer, 1, prefix=b"head")
    assert parts[1] is view
    assert parts[3] is piece
    assert [bytes(part) for part in parts[::2] if not isinstance(part, FileSlice)] == [
        b"head\0\1\4",
        b"\0\2\6",
        b"\0",
    ]
    assert encode(answer, 1) == b"\0\1\4abc\0\2\x0623456\0"


def test_absent_and_empty_records_are_no_parts() -> None:
    assert encode_parts(Answer(before=1, records=None, after=2), 0) == [b"\0\1\xff\xff\xff\xff\0\2"]
    assert encode_parts(Answer(before=1, records=b"", after=2), 1) == [b"\0\1\1\0\2\0\0"]


def test_decoded_records_are_a_view_into_the_frame() -> None:
    frame = bytearray(b"..\0\1\0\0\0\3abc\0\2")
    answer, end = decoder(Answer, 0)(frame, 2)
    frame[8] = ord("A")
    assert answer.records == b"Abc"
    assert end == len(frame)


def test_what_follows_a_message_is_left_alone() -> None:
    """As Kafka does: a newer peer may have said more."""
    assert decoder(Answer, 0)(b"\0\1\xff\xff\xff\xff\0\2more", 0)[1] == 8
    assert decode(Answer, 0, b"..\0\1\xff\xff\xff\xff\0\2more", 2) == Answer(before=1, records=None, after=2)


# -- what cannot be said -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "version", "field"),
    [
        (sample(names=None), 0, "names"),
        (sample(tiny=128), 0, "flag .. data"),
        (sample(port=-1), 2, "flag .. data"),
        (sample(numbers=(1, 1 << 31)), 1, "numbers"),
        (sample(numbers=None), 1, "numbers"),
        (sample(names=("a", None)), 1, "names"),
        (sample(names=("\ud800",)), 1, "names"),
        (sample(late="l" * (STRING_SIZE_MAX + 1)), 1, "late"),
        (sample(late="l" * (STRING_SIZE_MAX + 1)), 2, "late"),
        (sample(cursor=Cursor(topic="t", index=None)), 1, "cursor.index"),  # type: ignore[arg-type]
        (sample(range=None), 1, "range.first .. range.last"),
        (with_unknown_tags(sample(hint="h"), ((0, b""),)), 2, ""),
    ],
)
def test_a_value_the_version_cannot_say_is_refused_by_field(value: Sample, version: int, field: str) -> None:
    with pytest.raises(Unencodable) as refusal:
        encode(value, version)
    assert refusal.value.message == f"Sample v{version}"
    assert refusal.value.field == field


def test_a_version_that_is_not_declared_has_no_codec() -> None:
    with pytest.raises(ValueError, match="no version 3"):
        decoder(Sample, 3)


# -- what is no message ------------------------------------------------------------------------------------

WHOLE = bytes.fromhex(GOLDEN[5][1][2].replace(" ", ""))
AT_DATA = 28  # where what has a length begins


@pytest.mark.parametrize("version", range(3))
def test_every_truncation_is_refused(version: int) -> None:
    whole = encode(GOLDEN[4][0], version)
    for size in range(len(whole)):
        with pytest.raises(Malformed) as refusal:
            decode(Sample, version, whole[:size])
        assert refusal.value.position <= size


def test_a_refusal_says_where() -> None:
    with pytest.raises(
        Malformed, match=r"^Sample v2, cursor\.topic, byte 58: the bytes end before"
    ) as refusal:
        decode(Sample, 2, WHOLE[:58])
    assert (refusal.value.message, refusal.value.field, refusal.value.position) == (
        "Sample v2",
        "cursor.topic",
        58,
    )


def replaced(at: int, new: str, old_size: int = 1) -> bytes:
    return WHOLE[:at] + bytes.fromhex(new) + WHOLE[at + old_size :]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (replaced(AT_DATA, "ffffffff7f"), "above the largest int32"),
        (replaced(AT_DATA, "ffffffffffff01"), "above the largest int32"),
        (replaced(AT_DATA, "8080808000"), "null"),  # legal here, but nobody says it in five bytes
        (replaced(AT_DATA + 1, "00"), "null"),
        (replaced(AT_DATA + 1, "c2843d"), "1000001 items, 1000000 at most"),
        (replaced(AT_DATA + 1, "8002"), "255 items in"),
        (replaced(58, "818002"), "a string of 32768 bytes, 32767 at most"),
        (replaced(58, "808004"), "a string of 65535 bytes, 32767 at most"),
        (replaced(59, "ff"), "utf-8"),
        (replaced(82, "914e"), "10001 tagged fields, 10000 at most"),
        (replaced(87, "00"), "tag 0 after tag 0"),
        (replaced(84, "03"), "another size"),
        (replaced(88, "12"), "end before"),
    ],
)
def test_hostile_bytes_are_refused_by_name(data: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        decode(Sample, 2, data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (FRONT + "ffffffff 80000000", "null"),
        (FRONT + "ffffffff 000f4241", f"{ARRAY_LENGTH_MAX} at most"),
        (FRONT + "ffffffff 00000080 00000000", "128 items in 4 bytes"),
        (FRONT + "ffffffff 00000000 00000000 00000001 ffff", "null"),
        (FRONT + "00000004 000000", "end before"),
    ],
)
def test_hostile_lengths_in_classic_form_are_refused_by_name(data: str, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        decode(Sample, 0, bytes.fromhex(data))


@pytest.mark.parametrize("version", [0, 2])
def test_all_arrays_of_a_message_share_one_bound(version: int) -> None:
    """Many short ones may be as much work as one that is long."""

    @message
    class Inner:
        numbers: tuple[Int32, ...]
        names: tuple[String, ...]

    globals()["Inner"] = Inner  # annotations are looked up in the module

    @message(versions=range(3), flexible=2)
    class Outer:
        inner: tuple[Inner, ...]

    data = encode(Outer(inner=(Inner(numbers=(1, 2), names=("a",)),) * 100), version)
    items = 100 * (1 + 2 + 1) + (1 + 100 * 2 if version == 2 else 0)  # in compact form each has one more
    read = decoder(Outer, version)
    assert len(read(data, 0, items)[0].inner) == 100
    with pytest.raises(Malformed, match="more items in all its arrays"):
        read(data, 0, items - 1)


def test_an_array_of_nothing_does_not_compile() -> None:
    """Its length would be bounded by nothing that was sent."""

    @message
    class Nothing:
        late: Annotated[Int8, Since(1), Until(1)] = 0

    globals()["Nothing"] = Nothing  # annotations are looked up in the module

    @message(versions=range(3), flexible=2)
    class Void:
        nothing: tuple[Nothing, ...]

    assert decode(Void, 1, b"\0\0\0\1\5").nothing == (Nothing(late=5),)
    assert decode(Void, 2, b"\2\0\0").nothing == (Nothing(),)  # its count of tags is a byte at least
    with pytest.raises(AssertionError, match="array of nothing"):
        decoder(Void, 0)


def test_the_bounds_are_those_of_kafka() -> None:
    assert (ARRAY_LENGTH_MAX, TAGGED_FIELDS_MAX, STRING_SIZE_MAX) == (1_000_000, 10_000, 32_767)
