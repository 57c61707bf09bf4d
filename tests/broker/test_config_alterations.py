"""What altering a configuration makes of it."""

from __future__ import annotations

import pytest

from odradek.broker.config_alterations import Alteration, Operation, alteration, altered, check_pairs
from odradek.model.config.registry import TOPIC_SETTINGS
from odradek.model.errors import ApiError, ErrorCode

SET, DELETE, APPEND, SUBTRACT = Operation
POLICY = "cleanup.policy"


def after(texts: dict[str, str], *alterations: Alteration) -> dict[str, str]:
    return altered(texts, alterations, lambda key: TOPIC_SETTINGS.get(key))


def test_what_was_is_left_as_it_was() -> None:
    texts = {"retention.ms": "5"}
    assert after(texts, Alteration("segment.ms", SET, "7")) == {"retention.ms": "5", "segment.ms": "7"}
    assert after(texts, Alteration("retention.ms", DELETE, "")) == {}
    assert after(texts, Alteration("segment.ms", DELETE, "")) == texts
    assert texts == {"retention.ms": "5"}


@pytest.mark.parametrize(
    ("before", "operation", "text", "expected"),
    [
        (None, APPEND, "compact", "delete,compact"),  # to the default
        ("compact", APPEND, "delete", "compact,delete"),
        ("compact", APPEND, "delete,compact,delete", "compact,delete"),
        ("", APPEND, "delete", "delete"),
        (None, SUBTRACT, "delete", ""),
        ("compact,delete", SUBTRACT, "delete,burn", "compact"),
        ("compact, delete", SUBTRACT, "delete", "compact, delete"),  # the blank is part of the item
    ],
)
def test_a_list_is_added_to_and_taken_from(
    before: str | None, operation: Operation, text: str, expected: str
) -> None:
    texts = {} if before is None else {POLICY: before}
    assert after(texts, Alteration(POLICY, operation, text)) == {POLICY: expected}


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
@pytest.mark.parametrize("key", ["retention.ms", "nope"])
def test_what_is_no_list_cannot_be_added_to(operation: Operation, key: str) -> None:
    with pytest.raises(ApiError) as refusal:
        after({}, Alteration(key, operation, "1"))
    assert refusal.value.error is ErrorCode.INVALID_CONFIG


def test_an_operation_that_nobody_knows_is_refused() -> None:
    assert alteration("a", 1, None) == Alteration("a", DELETE, "")
    for number in (-1, 4):
        with pytest.raises(ApiError):
            alteration("a", number, "1")


def test_a_key_comes_once_and_has_a_value_where_it_needs_one() -> None:
    check_pairs([("a", "1"), ("b", None)], may_be_null={"b"}.__contains__)
    for pairs in ([("a", "1"), ("a", "2")], [("a", "1"), ("b", None)]):
        with pytest.raises(ApiError):
            check_pairs(pairs, may_be_null=lambda _: False)
