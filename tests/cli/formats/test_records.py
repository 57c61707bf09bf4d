"""Records in the dress of kafka-console-consumer; what Kafka itself printed stands in tests/golden/cli/."""

from __future__ import annotations

import pytest

from odradek.cli.formats.records import Record, RecordFormat, as_json

RECORD = Record("t", 3, 7, 1, 1_700_000_000_000, (("h", b"1"), ("i", None)), b"k", b"v")
EVERYTHING = {
    f"print.{part}": "true" for part in ("timestamp", "partition", "offset", "headers", "key", "value")
}


def test_the_parts_have_an_order() -> None:
    assert RecordFormat.of(EVERYTHING).text(RECORD) == (
        b"CreateTime:1700000000000\tPartition:3\tOffset:7\th:1,i:null\tk\tv\n"
    )


@pytest.mark.parametrize(
    ("kind", "told"), [(0, b"NoTimestampType"), (1, b"CreateTime:5"), (2, b"LogAppendTime:5")]
)
def test_a_time_says_whose_it_is(kind: int, told: bytes) -> None:
    only_time = RecordFormat.of({"print.timestamp": "true", "print.value": "false"})
    assert only_time.text(RECORD._replace(time_kind=kind, time_ms=5)) == told + b"\n"


def test_no_headers_are_said_to_be_none() -> None:
    only_headers = RecordFormat.of({"print.headers": "true", "print.value": "false"})
    assert only_headers.text(RECORD._replace(headers=())) == b"NO_HEADERS\n"


def test_separators_are_as_asked() -> None:
    dressed = RecordFormat.of(
        {
            **EVERYTHING,
            "key.separator": "|",
            "line.separator": ";",
            "headers.separator": "&",
            "null.literal": "~",
        }
    )
    assert dressed.text(RECORD._replace(value=None)) == (
        b"CreateTime:1700000000000|Partition:3|Offset:7|h:1&i:~|k|~;"
    )


def test_in_json_what_is_no_text_is_told_in_base64() -> None:
    told = as_json(RECORD._replace(key=b"\xff", value=None))
    assert told["key"] == {"base64": "/w=="}
    assert told["value"] is None
    assert told["headers"] == [["h", "1"], ["i", None]]
    assert told["timestamp_type"] == "CreateTime"
    assert as_json(RECORD._replace(time_kind=0))["timestamp"] is None
