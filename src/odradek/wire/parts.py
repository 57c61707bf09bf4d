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


def take(parts: list[Part], size: int) -> None:
    """Take the `size` bytes that were sent off the front of `parts`."""
    gone = 0
    for part in parts:
        part_size = part.size if isinstance(part, FileSlice) else len(part)
        if size < part_size:
            break
        size -= part_size
        gone += 1
    del parts[:gone]
    if size:
        parts[0] = _rest(parts[0], size)


def _rest(part: Part, size: int) -> Part:
    if isinstance(part, FileSlice):
        return FileSlice(part.file, part.position + size, part.size - size)
    return memoryview(part)[size:]
