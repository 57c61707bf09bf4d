"""What perf tests send: random letters, lines of a file, or numbers that grow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.runtime.entropy import Entropy

_POOL_SIZE = 1 << 20
_LETTERS = bytes(ord("A") + each % 26 for each in range(256))


def random_letters(size: int, entropy: Entropy) -> Iterator[bytes]:
    """Pieces of a pool of capital letters, each begun somewhere else."""
    pool = entropy.random_bytes(_POOL_SIZE + size).translate(_LETTERS)
    at = 0
    while True:
        yield pool[at : at + size]
        at = (at + size + 7) % _POOL_SIZE


def chosen(payloads: list[bytes], entropy: Entropy) -> Iterator[bytes]:
    while True:
        yield payloads[entropy.below(len(payloads))]


def numbers() -> Iterator[bytes]:
    return (str(each).encode() for each in count())
