"""Writes the function that decodes one message in one version.

What it writes is one straight function: structs are laid out inline, arrays are loops, and a run of
fixed-width fields, with the length of what follows them, is one `struct` call whose results go straight into
the object's slots. The size of a string is not compared with what is left of the buffer: a slice that ran
short puts the position beyond the end, where the next read fails, and if there is none the check at the end.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import Final

from odradek.wire import primitives
from odradek.wire.primitives import ITEMS_MAX, TRUNCATED, Malformed
from odradek.wire.schema import Array, Field, Kind, Shape, declaration
from odradek.wire.source import Source, has_records, present, size_min, tagged

_FAILURES: Final = (struct.error, IndexError, ValueError)  # what bad bytes make generated code raise


_CALLED: Final = (
    struct.unpack_from,
    primitives.checked_length,
    primitives.compact_array_length,
    primitives.compact_bytes_size,
    primitives.compact_string_size,
    primitives.read_tag,
    primitives.read_unknown_tags,
    primitives.refuse_items,
    primitives.refuse_null,
    primitives.refuse_tag_size,
    primitives.refuse_truncated,
    primitives.tag_count,
)


def decoding(cls: type, version: int) -> Source:
    """`decode(b, at=0, left=ITEMS_MAX) -> (value, end)` for one message in one version. Its arrays may have
    that many items together. Raises nothing but `Malformed`."""
    return _Decoder(cls, version).written()


class _Decoder:
    def __init__(self, cls: type, version: int) -> None:
        self._cls = cls
        self._version = version
        self._flexible = declaration(cls).is_flexible(version)
        self._views = has_records(cls, version)
        self._run: list[tuple[str, str, str]] = []  # of fixed-width values: code, target, field
        self._source = Source(f"def decode(b, at=0, left={ITEMS_MAX}):", _CALLED)

    def written(self) -> Source:
        source = self._source
        # Strings cut from bytes are cheaper than from a view, so only what holds records is read as a view.
        if self._views:
            source.line("if type(b) is not memoryview: b = memoryview(b)")
        else:
            source.line("b = b.tobytes() if type(b) is memoryview else bytes(b)")
        source.line("size = len(b)")
        with source.block("try:"):
            value = self._struct(self._cls)
            self._flush()
            source.line("if at > size: refuse_truncated()")
        with source.block(f"except {source.constant('failures', _FAILURES)} as failure:"):
            explain = partial(_explained, source.paths, f"{self._cls.__name__} v{self._version}")
            source.line(f"raise {source.constant('explained', explain)}(failure, at, size) from failure")
        source.line(f"return {value}, at")
        return source

    # -- structs ---------------------------------------------------------------------------------------

    def _struct(self, cls: type) -> str:
        """Read a struct; the name of the variable it is in. The last of its fields may still be due."""
        make = self._source.constant(f"make_{cls.__name__}", partial(object.__new__, cls))
        target = self._source.fresh("o")
        self._source.line(f"{target} = {make}()")
        ordinary = present(cls, self._version)
        for field in declaration(cls).fields:
            if field in ordinary:
                self._field(field, f"{target}.{field.name}")
            else:
                self._source.line(f"{target}.{field.name} = {self._default(field)}")
        if self._flexible:
            self._tags(cls, target)
        else:
            self._source.line(f"{target}.unknown_tags = ()")
        return target

    def _field(self, field: Field, target: str) -> None:
        with self._source.field(field.name):
            flexible, self._flexible = self._flexible, self._flexible and not field.classic
            nullable, tagged = field.nullable(self._version), field.tagged(self._version)
            self._value(field.shape, target, nullable=nullable, tagged=tagged)
            self._flexible = flexible

    def _default(self, field: Field) -> str:
        assert field.has_default, f"{field.name} is not in version {self._version} and has no default"
        if isinstance(field.default, int | float | str | bytes | tuple | None):
            return repr(field.default)
        return self._source.constant(f"default_{field.name}", field.default)

    def _value(self, shape: Shape, target: str, *, nullable: bool, tagged: bool = False) -> None:
        match shape:
            case Array():
                self._array(shape, target, nullable)
            case Kind(code=""):
                self._sized(shape, target, nullable)
            case Kind():
                self._run.append((shape.code, target, self._source.path))
            case _ if nullable:
                self._nullable_struct(shape, target, tagged)
            case _:
                self._source.line(f"{target} = {self._struct(shape)}")

    def _nullable_struct(self, cls: type, target: str, tagged: bool) -> None:
        self._run.append(("b", "n", self._source.path))
        self._flush()
        # Null is -1, but 0 in a tagged field, where Kafka counts in unsigned numbers.
        with self._source.block("if n < 1:" if tagged else "if n < 0:"):
            self._source.line(f"{target} = None")
        with self._source.block("else:"):
            self._source.line(f"{target} = {self._struct(cls)}")
            self._flush()

    # -- strings and bytes -----------------------------------------------------------------------------

    def _sized(self, kind: Kind, target: str, nullable: bool) -> None:
        """A string, bytes or records: a length, then that many bytes."""
        source = self._source
        string = kind.name == "string"
        self._run.append(("B" if self._flexible else "h" if string else "i", "n", source.path))
        self._flush()
        if self._flexible:
            longer = "compact_string_size" if string else "compact_bytes_size"
            end, absent, odd = "at + n - 1", "n == 0", f"n, at = {longer}(b, at, n)"
            odd = f"if n > 127: {odd}" if nullable else f"if not 0 < n < 128: {odd}"
        else:
            end, absent, odd = "at + n", "n < 0", "" if nullable else "if n < 0: refuse_null()"
        cut = "b[at:end]"
        if kind.name != "records":
            cut += ".tobytes()" * self._views + ".decode()" * string
        lines = [odd, f"end = {end}", f"{target} = {cut}", "at = end"]
        if not nullable:
            self._lines(lines)
            return
        with source.block(f"if {absent}:"):
            source.line(f"{target} = None")
        with source.block("else:"):
            self._lines(lines)

    # -- arrays ----------------------------------------------------------------------------------------

    def _array(self, array: Array, target: str, nullable: bool) -> None:
        source = self._source
        self._run.append(("B" if self._flexible else "i", "n", source.path))
        self._flush()
        least = size_min(array.of, self._version, flexible=self._flexible)
        assert least > 0, f"{source.path}: an array of nothing can be of any length"
        if self._flexible:
            absent, odd = "n == 0", f"n, at = compact_array_length(b, at, n, {least})"
            odd = f"if n > 127: {odd}" if nullable else f"if not 0 < n < 128: {odd}"
        else:
            absent, odd = "n < 0", f"if not 0 <= n < 128: checked_length(n, size - at, {least})"
        if not nullable:
            source.line(odd)
            self._items(array.of, target)
            return
        with source.block(f"if {absent}:"):
            source.line(f"{target} = None")
        with source.block("else:"):
            source.line(odd)
            self._items(array.of, target)

    def _items(self, of: Kind | type, target: str) -> None:
        # In compact form an empty array counts as one: then empty ones are not boundless either.
        self._lines(["left -= n", "if left < 0: refuse_items()"])
        if isinstance(of, Kind) and of.code == "16s":
            self._uuids(target)
        elif isinstance(of, Kind) and of.code:
            self._numbers(of, target)
        else:
            items = self._source.fresh("items")
            self._source.line(f"{items} = []")
            with self._source.block(f"for _ in range({'n - 1' if self._flexible else 'n'}):"):
                if isinstance(of, Kind):
                    item = "item"
                    self._sized(of, item, nullable=False)
                else:
                    item = self._struct(of)
                self._flush()
                self._source.line(f"{items}.append({item})")
            self._source.line(f"{target} = tuple({items})")

    def _numbers(self, of: Kind, target: str) -> None:
        code, width = of.code, struct.calcsize(">" + of.code)
        readers = self._source.constant("read_numbers", primitives.number_readers(code))
        self._lines(
            [
                "n -= 1" if self._flexible else "",
                f"{target} = {readers}[n](b, at) if n < {primitives.PREPARED} "
                f"else unpack_from(f'>{{n}}{code}', b, at)",
                f"at += n * {width}" if width > 1 else "at += n",
            ]
        )

    def _uuids(self, target: str) -> None:
        cut = "b[begin:begin + 16]" + ".tobytes()" * self._views
        self._lines(
            [
                "end = at + 16 * n" + " - 16" * self._flexible,
                f"{target} = tuple([{cut} for begin in range(at, end, 16)])",
                "at = end",
            ]
        )

    # -- tagged fields ---------------------------------------------------------------------------------

    def _tags(self, cls: type, target: str) -> None:
        source = self._source
        known = tagged(cls, self._version)
        source.line(f"{target}.unknown_tags = ()")
        tags = source.fresh("tags")
        self._run.append(("B", tags, source.path))
        self._flush()
        if not known:
            source.line(f"if {tags}: {target}.unknown_tags, at = read_unknown_tags(b, at, {tags})")
            return
        unknown, tag, end = map(source.fresh, ("unknown", "tag", "tag_end"))
        with source.block(f"if {tags}:"):
            self._lines([f"{tags}, at = tag_count(b, at, {tags})", f"{unknown} = []", f"{tag} = -1"])
            with source.block(f"for _ in range({tags}):"):
                source.line(f"{tag}, at, {end} = read_tag(b, at, {tag})")
                word = "if"
                for field in known:
                    with source.block(f"{word} {tag} == {field.tag}:"):
                        self._field(field, f"{target}.{field.name}")
                        self._flush()
                        source.line(f"if at != {end}: refuse_tag_size()")
                    word = "elif"
                with source.block("else:"):
                    self._lines([f"{unknown}.append(({tag}, bytes(b[at:{end}])))", f"at = {end}"])
            source.line(f"{target}.unknown_tags = tuple({unknown})")

    # -- lines -----------------------------------------------------------------------------------------

    def _lines(self, lines: list[str]) -> None:
        for line in filter(None, lines):
            self._source.line(line)

    def _flush(self) -> None:
        """Read the fixed-width values that are due, in one call."""
        run, self._run = self._run, []
        if not run:
            return
        codes = "".join(code for code, _, _ in run)
        targets = ", ".join(target for _, target, _ in run)
        path = run[0][2] if len(run) == 1 else f"{run[0][2]} .. {run[-1][2]}"
        if codes == "B":
            self._source.line(f"{targets} = b[at]", path)
        else:
            reader = self._source.struct_method(codes, "unpack_from")
            self._source.line(f"{targets}{',' if len(run) == 1 else ''} = {reader}(b, at)", path)
        self._source.line(f"at += {struct.calcsize('>' + codes)}", path)


def _explained(paths: list[str], message: str, failure: Exception, at: int, size: int) -> Malformed:
    assert failure.__traceback__ is not None
    path = paths[failure.__traceback__.tb_lineno - 1]
    short = at > size or not isinstance(failure, ValueError)  # struct.error, IndexError: read beyond the end
    return Malformed(message, path, min(at, size), TRUNCATED if short else str(failure))
