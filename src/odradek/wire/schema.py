"""How a message is declared: one class for all its versions, whose annotations are the wire types.

The type checker sees plain `int`, `str` and `tuple`, a keyword-only constructor and frozen attributes. At run
time a message is an ordinary object with slots, which is the cheapest thing to build. There are hundreds of
classes and a process uses a few dozen of them, so `@message` does next to nothing: annotations stay strings
until the first codec is compiled, and the constructor is made when it is first called.
"""

from __future__ import annotations

import typing
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias, TypeVar, dataclass_transform

from odradek.wire.parts import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")
NEWEST: Final = 0x7FFF  # above every version


# -- what may stand in an annotation -----------------------------------------------------------------------


class Kind:
    """A primitive type on the wire. A fixed-width one carries its `struct` code."""

    def __init__(self, name: str, zero: object, code: str = "") -> None:
        self.name = name
        self.zero = zero
        self.code = code

    def __repr__(self) -> str:
        return self.name


# Marks are ordinary classes: `Annotated` caches by equality, and equal tuples of two meanings would be one.
class Since:
    """The field exists from this version on."""

    def __init__(self, version: int) -> None:
        self.version = version


class Until:
    """The field exists up to and including this version."""

    def __init__(self, version: int) -> None:
        self.version = version


class NullableSince:
    """Null is legal from this version on."""

    def __init__(self, version: int) -> None:
        self.version = version


class NullableUntil:
    """Null is legal up to and including this version."""

    def __init__(self, version: int) -> None:
        self.version = version


class Tagged:
    """From version `since` the field is a tagged one. Where `Since` is older it is an ordinary one before."""

    def __init__(self, tag: int, since: int) -> None:
        self.tag = tag
        self.since = since


class Classic:
    """The field keeps its classic form in flexible versions too."""


Bool = Annotated[bool, Kind("bool", False, "?")]
Int8 = Annotated[int, Kind("int8", 0, "b")]
Int16 = Annotated[int, Kind("int16", 0, "h")]
UInt16 = Annotated[int, Kind("uint16", 0, "H")]
Int32 = Annotated[int, Kind("int32", 0, "i")]
UInt32 = Annotated[int, Kind("uint32", 0, "I")]
Int64 = Annotated[int, Kind("int64", 0, "q")]
Float64 = Annotated[float, Kind("float64", 0.0, "d")]
Uuid = Annotated[bytes, Kind("uuid", bytes(16), "16s")]
String = Annotated[str, Kind("string", "")]
Bytes = Annotated[bytes, Kind("bytes", b"")]
Records = Annotated[Part, Kind("records", b"")]  # decoded: a view into the frame. Encoded: sent uncopied


# -- what a declaration says -------------------------------------------------------------------------------


class Array(NamedTuple):
    of: Kind | type


Shape: TypeAlias = Kind | type | Array  # a type is the class of a nested struct
UnknownTags: TypeAlias = tuple[tuple[int, bytes], ...]


class Field(NamedTuple):
    """One field, with its annotation understood."""

    name: str
    shape: Shape
    since: int
    until: int
    null_since: int  # after `null_until` where it is never null
    null_until: int
    tag: int | None
    tagged_since: int
    classic: bool
    has_default: bool
    default: object  # what is assumed where a version does not have the field

    def exists(self, version: int) -> bool:
        return self.since <= version <= self.until

    def nullable(self, version: int) -> bool:
        return self.null_since <= version <= self.null_until

    def tagged(self, version: int) -> bool:
        return self.tag is not None and version >= self.tagged_since


class Declaration:
    """What `@message` noted about a class, and what was worked out from it since."""

    def __init__(
        self, cls: type, stated: Mapping[str, object], versions: range | None, flexible: int | None
    ) -> None:
        self.cls = cls
        self.stated = stated  # the defaults, by name
        self.versions = versions
        self.flexible = flexible
        self.compiled: dict[tuple[str, int], object] = {}  # the codec's: (direction, version) -> function
        self._fields: tuple[Field, ...] | None = None
        self._zero: object = None

    @property
    def fields(self) -> tuple[Field, ...]:
        if self._fields is None:
            hints = typing.get_type_hints(self.cls, include_extras=True)
            self._fields = tuple(self._field(name, hints[name]) for name in self.cls.__annotations__)
        return self._fields

    @property
    def zero(self) -> object:
        """The struct with every field at its default; shared, as messages are not to be changed."""
        if self._zero is None:
            self._zero = self.cls(**{field.name: field.default for field in self.fields})
        return self._zero

    def is_flexible(self, version: int) -> bool:
        return self.flexible is not None and version >= self.flexible

    def _field(self, name: str, hint: object) -> Field:
        shape, nullable, marks = _understood(hint)
        since, until, null_since, null_until = 0, NEWEST, 0, NEWEST
        tag, tagged_since, classic, since_stated = None, 0, False, False
        for mark in marks:
            match mark:
                case Since(version=version):
                    since, since_stated = version, True
                case Until(version=version):
                    until = version
                case NullableSince(version=version):
                    null_since = version
                case NullableUntil(version=version):
                    null_until = version
                case Tagged():
                    tag, tagged_since = mark.tag, mark.since
                case Classic():
                    classic = True
                case _:
                    raise TypeError(f"{self.cls.__name__}.{name}: {mark!r} means nothing here")
        if tag is not None and not since_stated:
            since = tagged_since
        if not nullable:
            null_since, null_until = NEWEST, -1
        default = self.stated.get(name, _ZERO)
        return Field(
            name, shape, since, until, null_since, null_until, tag, tagged_since, classic,
            has_default=default is not _ZERO,
            default=_zero_of(shape) if default is _ZERO else _resolved(default),
        )  # fmt: skip


def declaration(cls: type) -> Declaration:
    found = vars(cls)["__declaration__"]
    assert isinstance(found, Declaration)
    return found


# -- the decorator -----------------------------------------------------------------------------------------


@typing.overload
@dataclass_transform(kw_only_default=True, frozen_default=True)
def message(cls: type[T], /) -> type[T]: ...


@typing.overload
def message(*, versions: range, flexible: int | None = None) -> Callable[[type[T]], type[T]]: ...


def message(
    cls: type[T] | None = None, /, *, versions: range | None = None, flexible: int | None = None
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a message. What travels by itself states its versions, and since when it is flexible."""
    if cls is not None:
        return _made(cls, None, None)
    return lambda declared: _made(declared, versions, flexible)


def default_of(struct: type[T]) -> T:
    """As a default: the struct with all its fields at their defaults."""
    return typing.cast("T", _DefaultOf(struct))


def unknown_tags(value: object) -> UnknownTags:
    """The tagged fields a decoded message carried that its declaration does not know, by ascending tag."""
    tags: UnknownTags = getattr(value, _UNKNOWN_TAGS)
    return tags


def with_unknown_tags(value: T, tags: UnknownTags) -> T:
    """Give a newly made message tagged fields that its declaration does not know."""
    setattr(value, _UNKNOWN_TAGS, tags)
    return value


_ZERO = object()
_UNKNOWN_TAGS = "unknown_tags"


class _DefaultOf:
    def __init__(self, struct: type) -> None:
        self.struct = struct


def _made(cls: type[T], versions: range | None, flexible: int | None) -> type[T]:
    """The same class with slots in the place of its defaults."""
    body = dict(vars(cls))
    names = tuple(cls.__annotations__)
    stated = {name: body.pop(name) for name in names if name in body}
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    body["__slots__"] = (*names, _UNKNOWN_TAGS)
    body["__match_args__"] = ()
    body["__init__"] = _init_on_first_call
    body["__eq__"] = _equal
    body["__hash__"] = _hash
    body["__repr__"] = _text
    made = typing.cast("type[T]", type(cls.__name__, cls.__bases__, body))
    setattr(made, "__declaration__", Declaration(made, stated, versions, flexible))  # noqa: B010
    return made


def _init_on_first_call(self: object, **values: object) -> None:
    cls = type(self)
    for name, function in _constructor(declaration(cls)).items():
        setattr(cls, name, function)
    typing.cast("Callable[..., None]", getattr(cls, "__init__"))(self, **values)  # noqa: B009


def _constructor(declared: Declaration) -> dict[str, object]:
    stated = {f"default_{name}": _resolved(default) for name, default in declared.stated.items()}
    names = list(declared.cls.__annotations__)
    arguments = [f"{name}=default_{name}" if name in declared.stated else name for name in names]
    lines = [f"def __init__({', '.join(['self', '*', *arguments] if names else ['self'])}):"]
    lines += [f"    self.{name} = {name}" for name in names]
    lines += [f"    self.{_UNKNOWN_TAGS} = ()"]
    made: dict[str, object] = {}
    exec("\n".join(lines), stated, made)
    return made


def _values(value: object) -> Iterator[object]:
    return (getattr(value, name) for name in getattr(type(value), "__slots__"))  # noqa: B009


def _equal(self: object, other: object) -> bool:
    if type(self) is not type(other):
        return False
    return tuple(_values(self)) == tuple(_values(other))


def _hash(self: object) -> int:
    return hash(tuple(_values(self)))


def _text(self: object) -> str:
    """The fields that are not at their defaults."""
    fields = declaration(type(self)).fields
    shown = [(field.name, getattr(self, field.name)) for field in fields]
    told = [
        f"{name}={value!r}"
        for (name, value), field in zip(shown, fields, strict=True)
        if not field.has_default or value != field.default
    ]
    told += [f"{_UNKNOWN_TAGS}={unknown_tags(self)!r}"] * bool(unknown_tags(self))
    return f"{type(self).__name__}({', '.join(told)})"


# -- reading annotations -----------------------------------------------------------------------------------


def _understood(hint: object) -> tuple[Shape, bool, list[object]]:
    """The shape, whether null may be, and the marks."""
    if typing.get_origin(hint) is Annotated:
        inner, *marks = typing.get_args(hint)
        if isinstance(marks[0], Kind):
            return marks[0], False, marks[1:]
        shape, nullable, inner_marks = _understood(inner)
        return shape, nullable, inner_marks + marks
    if typing.get_origin(hint) in (typing.Union, UnionType):
        (inner,) = (each for each in typing.get_args(hint) if each is not type(None))
        shape, _, marks = _understood(inner)
        return shape, True, marks
    if typing.get_origin(hint) is tuple:
        item, _ = typing.get_args(hint)
        of, _, _ = _understood(item)
        assert not isinstance(of, Array)
        return Array(of), False, []
    if isinstance(hint, type) and "__declaration__" in vars(hint):
        return hint, False, []
    raise TypeError(f"{hint!r} is no type of the wire")


def _zero_of(shape: Shape) -> object:
    match shape:
        case Kind():
            return shape.zero
        case Array():
            return ()
        case _:
            return declaration(shape).zero


def _resolved(default: object) -> object:
    return declaration(default.struct).zero if isinstance(default, _DefaultOf) else default
