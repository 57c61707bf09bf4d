from __future__ import annotations

import pytest

from odradek.log.log_name import NAME_LENGTH_MAX, LogName, Standing
from odradek.model.ids import Partition

UNIQUE = bytes.fromhex("00112233445566778899aabbccddeeff")


@pytest.mark.parametrize(
    ("text", "topic", "number", "standing"),
    [
        ("orders-0", "orders", 0, Standing.SERVING),
        ("a-b.c_d-17", "a-b.c_d", 17, Standing.SERVING),
        ("a--1", "a-", 1, Standing.SERVING),
        ("orders-3.00112233445566778899aabbccddeeff-delete", "orders", 3, Standing.DELETED),
        ("or.de-rs-3.00112233445566778899aabbccddeeff-future", "or.de-rs", 3, Standing.FUTURE),
        ("orders-3.00112233445566778899aabbccddeeff-stray", "orders", 3, Standing.STRAY),
        ("a-1.b-2", "a-1.b", 2, Standing.SERVING),
    ],
)
def test_a_directory_name_says_whose_log_it_is(
    text: str, topic: str, number: int, standing: Standing
) -> None:
    assert LogName.parse(text) == LogName(Partition(topic, number), standing)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "orders",
        "-1",
        "orders-",
        "lost+found",
        ".lock",
        "meta.properties",
        "orders.1.00ff-delete",
        "x-delete",
    ],
)
def test_what_is_no_log_is_not_taken_for_one(text: str) -> None:
    assert LogName.parse(text) is None


@pytest.mark.parametrize("standing", Standing)
def test_a_name_that_is_given_is_understood(standing: Standing) -> None:
    name = LogName(Partition("my.topic-1", 12), standing)
    assert LogName.parse(name.text(UNIQUE)) == name


def test_names_look_as_kafka_gives_them() -> None:
    partition = Partition("or.de-rs", 3)
    assert LogName(partition).text() == "or.de-rs-3"
    assert LogName(partition, Standing.DELETED).text(UNIQUE) == f"or.de-rs-3.{UNIQUE.hex()}-delete"
    assert LogName(partition, Standing.FUTURE).text(UNIQUE) == f"or.de-rs-3.{UNIQUE.hex()}-future"


def test_the_longest_topic_can_be_deleted() -> None:
    text = LogName(Partition("x" * 249, 3), Standing.DELETED).text(UNIQUE)
    assert len(text) == NAME_LENGTH_MAX
    parsed = LogName.parse(text)
    assert parsed is not None
    assert parsed.standing is Standing.DELETED
