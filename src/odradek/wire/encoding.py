"""Writes the function that encodes one message in one version.

The twin of `decoding`: one straight function that appends to a `bytearray`, a run of fixed-width fields and
the length of what follows them by one `struct` call. Record batches are not appended: they become parts of
their own, between the bytes before and after them.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import Final

from odradek.wire import primitives
from odradek.wire.parts import FileSlice
from odradek.wire.schema import Array, Field, Kind, Shape, declaration
from odradek.wire.source import Source, present, tagged

# What values that cannot be said make generated code raise: None has no `encode`, no length and no number.
_FAILURES: Final = (struct.error, AttributeError, TypeError, ValueError)

_CALLED: Final = (
    struct.pack,
    primitives.compact_string_prefix,
    primitives.refuse_null,
    primitives.tagged_fields,
    primitives.uvarint,
)


def encoding(cls: type, version: int) -> Source:
    """`encode(value, out) -> parts` for one message in one version. Raises nothing but `Unencodable`.

    The parts begin with `out` and what was appended to it; where there are no records it is the only one.
    """
    return _Encoder(cls, version).written()


class _Encoder:
    def __init__(self, cls: type, version: int) -> None:
        self._cls = cls
        self._version = version
        self._flexible = declaration(cls).is_flexible(version)
        self._run: list[tuple[str, str, str]] = []  # of fixed-width values: code, expression, field
        self._source = Source("def encode(o, out):", _CALLED)

    def written(self) -> Source:
        source = self._source
        with source.block("try:"):
            source.line("parts = [out]")
            self._struct(self._cls, "o")
            self._flush()
        with source.block(f"except {source.constant('failures', _FAILURES)} as failure:"):
            explain = partial(_explained, source.paths, f"{self._cls.__name__} v{self._version}")
            source.line(f"raise {source.constant('explained', explain)}(failure) from failure")
        source.line("return parts")
        return source

    # -- structs ---------------------------------------------------------------------------------------

    def _struct(self, cls: type, value: str) -> None:
        for field in present(cls, self._version):
            self._field(field, f"{value}.{field.name}")
        if self._flexible:
            self._tags(cls, value)

    def _field(self, field: Field, value: str) -> None:
        with self._source.field(field.name):
            flexible, self._flexible = self._flexible, self._flexible and not field.classic
            nullable, tagged = field.nullable(self._version), field.tagged(self._version)
            self._value(field.shape, value, nullable=nullable, tagged=tagged)
            self._flexible = flexible

    def _value(self, shape: Shape, value: str, *, nullable: bool, tagged: bool = False) -> None:
        match shape:
            case Array():
                self._array(shape, value, nullable)
            case Kind(name="records"):
                self._records(value, nullable)
            case Kind(code=""):
                self._sized(shape, value, nullable)
            case Kind():
                self._run.append((shape.code, value, self._source.path))
            case _:
                self._inner_struct(shape, value, nullable, tagged)

    def _inner_struct(self, cls: type, value: str, nullable: bool, tagged: bool) -> None:
        source = self._source
        inner = source.fresh("o")
        if not nullable:
            source.line(f"{inner} = {value}")
            self._struct(cls, inner)
            return
        self._flush()
        source.line(f"{inner} = {value}")
        with source.block(f"if {inner} is None:"):
            source.line("out.append(0)" if tagged else "out.append(255)")
        with source.block("else:"):
            self._run.append(("b", "1", source.path))
            self._struct(cls, inner)
            self._flush()

    # -- strings, bytes, records -----------------------------------------------------------------------

    def _sized(self, kind: Kind, value: str, nullable: bool) -> None:
        source = self._source
        string = kind.name == "string"
        encoded = f"{value}.encode()" if string else value
        if nullable:
            source.line(f"s = {value}")
            with source.block("if s is None:"):
                source.line("s, n = b'', 0" if self._flexible else "s, n = b'', -1")
            with source.block("else:"):
                if string:
                    source.line("s = s.encode()")
                source.line(f"n = len(s){' + 1' * self._flexible}")
        else:
            source.line(f"s = {encoded}")
            source.line(f"n = len(s){' + 1' * self._flexible}")
        if self._flexible:
            self._flush_with("n", "compact_string_prefix" if string else "uvarint")
        else:
            self._run.append(("h" if string else "i", "n", source.path))
            self._flush()
        source.line("out += s")

    def _records(self, value: str, nullable: bool) -> None:
        """A part of its own, uncopied: a view of a frame, or a slice of a file."""
        source = self._source
        file_slice = source.constant("FileSlice", FileSlice)
        source.line(f"s = {value}")
        size = f"s.size if type(s) is {file_slice} else len(s)"
        one = " + 1" * self._flexible
        if nullable:
            absent = 0 if self._flexible else -1
            source.line(f"n = {absent} if s is None else ({size}){one}")
        else:
            source.line(f"n = ({size}){one}")
        if self._flexible:
            self._flush_with("n", "uvarint")
        else:
            self._run.append(("i", "n", source.path))
            self._flush()
        with source.block(f"if n > {int(self._flexible)}:"):
            source.line("out = bytearray()")
            source.line("parts += (s, out)")

    # -- arrays ----------------------------------------------------------------------------------------

    def _array(self, array: Array, value: str, nullable: bool) -> None:
        source = self._source
        items = source.fresh("items")
        source.line(f"{items} = {value}")
        one = " + 1" * self._flexible
        if nullable:
            with source.block(f"if {items} is None:"):
                source.line(f"{items}, n = (), {0 if self._flexible else -1}")
            with source.block("else:"):
                source.line(f"n = len({items}){one}")
        else:
            source.line(f"n = len({items}){one}")
        if self._flexible:
            self._flush_with("n", "uvarint")
        else:
            self._run.append(("i", "n", source.path))
            self._flush()
        self._items(array.of, items)

    def _items(self, of: Kind | type, items: str) -> None:
        source = self._source
        if isinstance(of, Kind) and of.code == "16s":
            source.line(f"out += b''.join({items})")
        elif isinstance(of, Kind) and of.code:
            writers = source.constant("write_numbers", primitives.number_writers(of.code))
            source.line(f"n = len({items})")
            prepared = f"{writers}[n](*{items}) if n < {primitives.PREPARED}"
            source.line(f"out += {prepared} else pack(f'>{{n}}{of.code}', *{items})")
        else:
            item = source.fresh("o")
            with source.block(f"for {item} in {items}:"):
                self._value(of, item, nullable=False)
                self._flush()

    # -- tagged fields ---------------------------------------------------------------------------------

    def _tags(self, cls: type, value: str) -> None:
        source = self._source
        known = [
            (field, self._differs(field, f"{value}.{field.name}")) for field in tagged(cls, self._version)
        ]
        any_of = " or ".join([f"{value}.unknown_tags", *(differs for _, differs in known)])
        if not known:
            source.line(f"tags = {any_of}")
            self._flush_with("0", "tagged_fields", "not tags", "tags")
            return
        self._flush()
        tags, outer = source.fresh("tags"), source.fresh("outer")
        with source.block(f"if {any_of}:"):
            source.line(f"{tags} = list({value}.unknown_tags)")
            source.line(f"{outer} = out")
            for field, differs in known:
                with source.block(f"if {differs}:"):
                    source.line("out = bytearray()")
                    self._field(field, f"{value}.{field.name}")
                    self._flush()
                    source.line(f"{tags}.append(({field.tag}, out))")
            source.line(f"out = {outer}")
            source.line(f"out += tagged_fields({tags})")
        with source.block("else:"):
            source.line("out.append(0)")

    def _differs(self, field: Field, value: str) -> str:
        if field.default is None:
            return f"{value} is not None"
        if isinstance(
            field.shape, type
        ):  # comparing structs is dear, and nearly always it is the default itself
            default = self._source.constant(f"default_{field.name}", field.default)
            return f"{value} is not {default} and {value} != {default}"
        return f"{value} != {field.default!r}"

    # -- lines -----------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Write the fixed-width values that are due, in one call."""
        run, self._run = self._run, []
        if run:
            self._source.line(f"out += {self._packed(run)}", _path(run))

    def _flush_with(self, number: str, writer: str, short: str = "", rest: str = "") -> None:
        """Write what is due and a number of variable size: one byte if short, else what `writer` makes."""
        run, self._run = self._run, []
        short = short or f"{number} < {primitives.SHORT}"
        rest = f"{writer}({rest or number})"
        with_byte = [*run, ("B", number, self._source.path)]
        before = f"{self._packed(run)} + " if run else ""
        self._source.line(
            f"out += {self._packed(with_byte)} if {short} else {before}{rest}", _path(with_byte)
        )

    def _packed(self, run: list[tuple[str, str, str]]) -> str:
        codes = "".join(code for code, _, _ in run)
        values = ", ".join(value for _, value, _ in run)
        return f"{self._source.struct_method(codes, 'pack')}({values})"


def _path(run: list[tuple[str, str, str]]) -> str:
    return run[0][2] if len(run) == 1 else f"{run[0][2]} .. {run[-1][2]}"


def _explained(paths: list[str], message: str, failure: Exception) -> primitives.Unencodable:
    assert failure.__traceback__ is not None
    path = paths[failure.__traceback__.tb_lineno - 1]
    return primitives.Unencodable(message, path, str(failure))
