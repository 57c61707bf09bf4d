"""What a reply is made of: bytes, or a slice of a file to be sent uncopied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias


class Readable(Protocol):
    """An open file, as far as sending a piece of it goes."""

    def fileno(self) -> int: ...
    def read(self, position: int, size: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A run of bytes of a file. Holding the slice holds the file open: a deleted segment closes when the
    last slice of it has been sent."""

    file: Readable
    position: int
    size: int

    def read(self) -> bytes:
        return self.file.read(self.position, self.size)


Part: TypeAlias = bytes | bytearray | memoryview | FileSlice


def size_of(parts: Sequence[Part]) -> int:
    """Bytes on the wire."""
    size = 0
    for part in parts:
        size += part.size if isinstance(part, FileSlice) else len(part)
    return size
