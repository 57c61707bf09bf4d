from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.wire.parts import FileSlice, Part, size_of, take


class Letters:
    """A file of its own positions."""

    def fileno(self) -> int:
        raise AssertionError("nobody sends this one")

    def read(self, position: int, size: int) -> bytes:
        return bytes(range(position, position + size))


def everything(parts: list[Part]) -> bytes:
    return b"".join(part.read() if isinstance(part, FileSlice) else bytes(part) for part in parts)


def some_parts() -> list[Part]:
    return [
        b"ab",
        FileSlice(Letters(), 10, 3),
        b"",
        bytearray(b"c"),
        FileSlice(Letters(), 50, 0),
        memoryview(b"de"),
    ]


@pytest.mark.parametrize("size", range(9))
def test_what_was_sent_is_taken_off_the_front(size: int) -> None:
    parts = some_parts()
    whole = everything(parts)
    assert len(whole) == size_of(parts) == 8
    take(parts, size)
    assert everything(parts) == whole[size:]
    assert size_of(parts) == 8 - size


def test_nothing_is_left_when_all_was_sent() -> None:
    parts = some_parts()
    take(parts, 8)
    assert parts == []


@pytest.mark.parametrize("empty", [lambda: b"", lambda: FileSlice(Letters(), 0, 0)])
def test_an_empty_part_at_the_front_goes_without_a_byte(empty: Callable[[], Part]) -> None:
    parts: list[Part] = [empty(), b"x"]
    take(parts, 0)
    assert parts == [b"x"]
