"""Producer ids, in blocks: every id of a cluster is given out once.

A broker takes a block at a time from the cluster's store and gives out its ids from memory. What is left of a
block when the broker stops is lost, which costs nothing: there are 2^63 of them.
"""

from __future__ import annotations

from typing import NamedTuple

from odradek.model.errors import ApiError, ErrorCode

BLOCK_SIZE = 1000
ID_MAX = (1 << 63) - 1


class Block(NamedTuple):
    """The ids from first to last, both included."""

    first: int
    last: int


def block_after(last_given: int | None) -> Block:
    """The block that comes after this last id; the first one where none was given out yet."""
    first = 0 if last_given is None else last_given + 1
    if first > ID_MAX - BLOCK_SIZE + 1:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "every producer id has been given out")
    return Block(first, first + BLOCK_SIZE - 1)


class ProducerIds:
    """The block that is being given out."""

    def __init__(self) -> None:
        self._next = 0
        self._end = 0

    def supply(self, block: Block) -> None:
        assert self._next == self._end, "the block before is not used up"
        self._next, self._end = block.first, block.last + 1

    def take(self) -> int | None:
        """An id nobody else has; None when a new block is needed."""
        if self._next == self._end:
            return None
        self._next += 1
        return self._next - 1
