"""What a setting's value may be: its type, its bounds, and how it is read from and written as text.

Text is read as Kafka reads it: blanks around a value do not count, numbers are plain, true and false may be
written in any case, and a list is split at its commas.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple, TypeAlias


class Password:
    """A secret. It has no readable form; whoever needs it asks for `secret`."""

    __slots__ = ("secret",)

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "[hidden]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.secret == self.secret

    def __hash__(self) -> int:
        return hash(self.secret)


Value: TypeAlias = bool | int | float | str | tuple[str, ...] | Password | None


class Kind(Enum):
    """The type of a setting; the number is how DescribeConfigs tells it."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


BOOLEAN, STRING, INT, SHORT, LONG, DOUBLE, LIST, CLASS, PASSWORD = Kind
LONG_MAX = (1 << 63) - 1
INT_MAX = (1 << 31) - 1
DOUBLE_MAX = 1.7976931348623157e308


_BITS = {Kind.SHORT: 16, Kind.INT: 32, Kind.LONG: 64}
_DIGITS_MAX = 40  # a longer text is not even converted


class Anything(NamedTuple):
    def complaint(self, value: Value) -> str | None:
        del value
        return None

    def __str__(self) -> str:
        return ""


ANYTHING = Anything()


class AtLeast(NamedTuple):
    low: int

    def complaint(self, value: Value) -> str | None:
        return None if _number(value) >= self.low else f"Value must be at least {self.low}"

    def __str__(self) -> str:
        return f"[{self.low},...]"


class Between(NamedTuple):
    """From low to high, both included; `besides` is one more value that is fine."""

    low: int
    high: int
    besides: int | None = None

    def complaint(self, value: Value) -> str | None:
        number = _number(value)
        if self.low <= number <= self.high or number == self.besides:
            return None
        if self.besides is not None:
            return f"Value must be between {self.low} and {self.high} or equal to {self.besides}"
        if number < self.low:
            return f"Value must be at least {self.low}"
        return f"Value must be no more than {self.high}"

    def __str__(self) -> str:
        bounds = f"[{self.low},...,{self.high}]"
        return bounds if self.besides is None else f"{bounds} or {self.besides}"


class Unlimited(NamedTuple):
    """At least `low`, or -1 for what `-1` stands for."""

    low: int

    def complaint(self, value: Value) -> str | None:
        number = _number(value)
        return None if number >= self.low or number == -1 else f"Value must be -1 or at least {self.low}"

    def __str__(self) -> str:
        return f"[{self.low},...] or -1"


class OneOf(NamedTuple):
    """One of these words; for a list, each of its items."""

    words: tuple[str, ...]

    def complaint(self, value: Value) -> str | None:
        items = value if isinstance(value, tuple) else (value,)
        if all(item in self.words for item in items):
            return None
        return f"String must be one of: {', '.join(self.words)}"

    def __str__(self) -> str:
        return f"[{', '.join(self.words)}]"


class NotEmpty(NamedTuple):
    """Something must be there: a character of a string, an item of a list. Not set at all is fine."""

    what: str

    def complaint(self, value: Value) -> str | None:
        return f"{self.what.capitalize()} must be non-empty" if value in ("", ()) else None

    def __str__(self) -> str:
        return f"non-empty {self.what}"


class NotNull(NamedTuple):
    def complaint(self, value: Value) -> str | None:
        return "Value must not be null" if value is None else None

    def __str__(self) -> str:
        return "non-null string"


class ThrottledReplicas(NamedTuple):
    """`partition:broker` pairs, or a star for all."""

    name: str  # of the setting, which its complaint repeats

    def complaint(self, value: Value) -> str | None:
        assert isinstance(value, tuple)
        if value == ("*",) or all(_is_pair(item) for item in value):
            return None
        return f"{self.name} must be the literal '*' or a list of replicas in the following format: {self}"

    def __str__(self) -> str:
        return "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


class HostAndPort(NamedTuple):
    """Where to listen: an IPv6 address stands in brackets, nothing before the colon is every address."""

    def complaint(self, value: Value) -> str | None:
        _host, colon, port = str(value).rpartition(":")
        if colon and port.isascii() and port.isdigit() and int(port) < 1 << 16:
            return None
        return "Value must be HOST:PORT"

    def __str__(self) -> str:
        return "host:port"


LOG_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")


class LogLevels(NamedTuple):
    """A level for all, then `logger=level` for some."""

    def complaint(self, value: Value) -> str | None:
        assert isinstance(value, tuple)
        for at, item in enumerate(value):
            logger, equals, level = item.rpartition("=")
            if level not in LOG_LEVELS or bool(equals) is not bool(at) or bool(logger) is not bool(at):
                return f"must be {self}"
        return None if value else f"must be {self}"

    def __str__(self) -> str:
        return f"one of {', '.join(LOG_LEVELS)}, followed by any number of logger=level"


class VersionName(NamedTuple):
    """A release, in full (3.9-IV0), short (3.9) or with its patch level (3.9.1)."""

    versions: tuple[str, ...]

    def complaint(self, value: Value) -> str | None:
        parts = str(value).split(".")
        release = ".".join(parts[: 3 if parts[0] == "0" else 2])
        if release in self.versions or f"{release}-IV0" in self.versions:
            return None
        return f"Version {value} is not a valid version"

    def __str__(self) -> str:
        return f"[{', '.join(self.versions)}]"


Valid: TypeAlias = (
    Anything
    | AtLeast
    | Between
    | Unlimited
    | OneOf
    | NotEmpty
    | NotNull
    | ThrottledReplicas
    | HostAndPort
    | LogLevels
    | VersionName
)


def blamed(valid: Valid, value: Value, text: str) -> str:
    """What of a value a complaint about it is about, as Kafka shows it."""
    if not isinstance(value, tuple):
        return text
    if isinstance(valid, OneOf):
        return next(item for item in value if item not in valid.words)
    return f"[{', '.join(value)}]"


def read(kind: Kind, text: str) -> Value:
    """The value that `text` stands for; `ValueError` says why it stands for none."""
    text = text.strip()
    match kind:
        case Kind.BOOLEAN:
            return _boolean(text)
        case Kind.INT | Kind.SHORT | Kind.LONG:
            return _integer(text, kind)
        case Kind.DOUBLE:
            return _double(text)
        case Kind.LIST:
            return tuple(item.strip() for item in text.split(",")) if text else ()
        case Kind.PASSWORD:
            return Password(text)
        case Kind.STRING | Kind.CLASS:
            return text


def write(value: Value) -> str | None:
    """As Kafka prints it: what clients see in DescribeConfigs. A secret is never printed."""
    match value:
        case None | Password():
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return _double_text(value)
        case tuple():
            return ",".join(value)
        case _:
            return str(value)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.lower() == "true"


def _integer(text: str, kind: Kind) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS_MAX:
        number, limit = int(text), 1 << _BITS[kind] - 1
        if -limit <= number < limit:
            return number
    raise ValueError(f"Not a number of type {kind.name}")


def _double(text: str) -> float:
    try:
        if "_" in text:  # Python's way of grouping digits, which Kafka does not read
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError("Not a number of type DOUBLE") from None


def _double_text(number: float) -> str:
    """Java's form: plain between a thousandth and ten million, an exponent with a capital E elsewhere."""
    if number == 0 or 1e-3 <= abs(number) < 1e7 or not math.isfinite(number):
        return repr(number)
    mantissa, exponent = f"{number:.17e}".split("e")
    shortest = repr(number).lower().replace("+", "")
    if "e" in shortest:
        mantissa = shortest.split("e")[0]
    else:
        digits = shortest.replace(".", "").lstrip("-0").rstrip("0")
        mantissa = ("-" if number < 0 else "") + digits[0] + "." + (digits[1:] or "0")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def _number(value: Value) -> float:
    assert isinstance(value, int | float)
    return value


def _is_pair(text: str) -> bool:
    partition, colon, broker = text.partition(":")
    return bool(colon) and all(part.isascii() and part.isdigit() for part in (partition, broker))
