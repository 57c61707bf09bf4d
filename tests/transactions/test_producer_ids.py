"""What blocks of producer ids promise."""

from __future__ import annotations

import pytest

from odradek.model.errors import ApiError
from odradek.transactions.producer_ids import BLOCK_SIZE, ID_MAX, Block, ProducerIds, block_after


def test_blocks_follow_one_another_without_a_gap() -> None:
    first = block_after(None)
    second = block_after(first.last)
    assert first == Block(0, BLOCK_SIZE - 1)
    assert second == Block(BLOCK_SIZE, 2 * BLOCK_SIZE - 1)


def test_the_last_id_of_all_can_be_given_out_and_none_after_it() -> None:
    assert block_after(ID_MAX - BLOCK_SIZE).last == ID_MAX
    for last in (ID_MAX - BLOCK_SIZE + 1, ID_MAX):
        with pytest.raises(ApiError):
            block_after(last)


def test_a_block_is_used_up_to_its_end() -> None:
    ids = ProducerIds()
    assert ids.take() is None
    ids.supply(Block(5, 7))
    assert [ids.take() for _ in range(4)] == [5, 6, 7, None]
    ids.supply(Block(100, 100))
    assert [ids.take() for _ in range(2)] == [100, None]


def test_what_is_left_of_a_block_is_not_thrown_away() -> None:
    ids = ProducerIds()
    ids.supply(Block(5, 7))
    with pytest.raises(AssertionError):
        ids.supply(Block(8, 9))
