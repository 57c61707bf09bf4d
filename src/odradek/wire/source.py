"""Source text of a function while it is written: lines, the constants they use, and what each line is about.

Every line carries the path of the field it deals with. When a generated function fails, the line it failed in
tells which field it was: nothing needs to be kept track of while all goes well.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

from odradek.wire.schema import Array, Kind, declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from odradek.wire.schema import Field, Shape


class Source:
    """The text of one function, and the names it refers to."""

    def __init__(self, head: str, called: Iterable[Callable[..., object]]) -> None:
        self.lines = [head]
        self.paths = [""]
        self.names: dict[str, object] = {each.__name__: each for each in called}
        self._variables = 0
        self._indent = 1
        self._path: list[str] = []

    def line(self, text: str, path: str | None = None) -> None:
        self.lines.append("    " * self._indent + text)
        self.paths.append(self.path if path is None else path)

    def fresh(self, name: str) -> str:
        """A variable nothing else uses."""
        self._variables += 1
        return f"{name}{self._variables}"

    def constant(self, name: str, value: object) -> str:
        """A name for the value inside the function: the one it has already, or a new one."""
        same = next((known for known, each in self.names.items() if each is value), None)
        if same is not None:
            return same
        name = f"{name}_{len(self.names)}"
        self.names[name] = value
        return name

    def struct_method(self, codes: str, method: str) -> str:
        """A `struct.Struct`'s method, made once for all places that use it."""
        name = f"{method}_{codes.replace('?', 't')}"
        if name not in self.names:
            self.names[name] = getattr(struct.Struct(">" + codes), method)
        return name

    @property
    def path(self) -> str:
        return ".".join(self._path)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._indent += 1
        yield
        self._indent -= 1

    @contextmanager
    def field(self, name: str) -> Iterator[None]:
        self._path.append(name)
        yield
        self._path.pop()

    def made(self, name: str, file: str) -> Callable[..., object]:
        namespace = dict(self.names)
        exec(compile("\n".join(self.lines), file, "exec"), namespace)
        made = namespace[name]
        assert callable(made)
        return made


def present(cls: type, version: int) -> list[Field]:
    """The ordinary fields of a struct in this version, in wire order."""
    return [field for field in declaration(cls).fields if field.exists(version) and not field.tagged(version)]


def tagged(cls: type, version: int) -> list[Field]:
    """The tagged fields of a struct that this version knows."""
    return [field for field in declaration(cls).fields if field.exists(version) and field.tagged(version)]


def size_min(shape: Shape, version: int, *, flexible: bool, nullable: bool = False) -> int:
    """The fewest bytes such a value takes: what makes an array's claimed length believable."""
    match shape:
        case Kind(code="") | Array():
            return 1 if flexible else 2 if isinstance(shape, Kind) and shape.name == "string" else 4
        case Kind():
            return struct.calcsize(">" + shape.code)
        case _ if nullable:
            return 1
        case _:
            fields = present(shape, version)
            return flexible + sum(
                size_min(each.shape, version, flexible=flexible, nullable=each.nullable(version))
                for each in fields
            )


def has_records(cls: type, version: int) -> bool:
    """Whether the message holds record batches in this version, which are never copied."""
    for field in declaration(cls).fields:
        shape = field.shape.of if isinstance(field.shape, Array) else field.shape
        if field.exists(version):
            if isinstance(shape, Kind):
                if shape.name == "records":
                    return True
            elif has_records(shape, version):
                return True
    return False
