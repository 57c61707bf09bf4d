"""JSON as znodes hold it, read with care: what is not as it should be is `BadZnode`, which names the path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonToWrite: TypeAlias = (
    "bool | int | str | list[JsonToWrite] | tuple[JsonToWrite, ...] | Mapping[str, JsonToWrite] | None"
)


class BadZnode(Exception):
    """Somebody wrote what cannot be read. The message names the path and what was expected."""

    def __init__(self, path: str, complaint: str) -> None:
        super().__init__(f"{path}: {complaint}")
        self.path = path


def write(value: Mapping[str, JsonToWrite]) -> bytes:
    """Without blanks and in UTF-8, as Kafka writes it; half a surrogate pair stays the escape it was."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(errors="backslashreplace")


class Fields:
    """The fields of one JSON object. A missing one is an error unless a default is given."""

    __slots__ = ("_fields", "_path")

    def __init__(self, path: str, fields: dict[str, Json]) -> None:
        self._path = path
        self._fields = fields

    @staticmethod
    def of(path: str, data: bytes) -> Fields:
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as failure:
            raise BadZnode(path, f"is not JSON: {failure}") from None
        if not isinstance(fields, dict):
            raise BadZnode(path, "is not a JSON object")
        return Fields(path, fields)

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def integer(self, name: str, default: int | None = None) -> int:
        value = self._fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.bad(name, "a whole number")
        return value

    def digits(self, name: str) -> int:
        """A number that is written as a string."""
        value = self.text(name)
        if not (value.lstrip("-").isascii() and value.lstrip("-").isdigit() and len(value) <= 20):
            raise self.bad(name, "a whole number in quotes")
        return int(value)

    def text(self, name: str) -> str:
        value = self.optional_text(name)
        if value is None:
            raise self.bad(name, "a string")
        return value

    def optional_text(self, name: str) -> str | None:
        value = self._fields.get(name)
        if value is not None and not isinstance(value, str):
            raise self.bad(name, "a string")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise self.bad(name, "a list of strings")
        texts = tuple(each for each in value if isinstance(each, str))
        if len(texts) != len(value):
            raise self.bad(name, "a list of strings")
        return texts

    def integers(self, name: str) -> tuple[int, ...]:
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise self.bad(name, "a list of whole numbers")
        numbers = tuple(each for each in value if isinstance(each, int) and not isinstance(each, bool))
        if len(numbers) != len(value):
            raise self.bad(name, "a list of whole numbers")
        return numbers

    def within(self, name: str) -> Fields:
        """An object; an empty one where there is none."""
        value = self._fields.get(name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.bad(name, "an object")
        return Fields(self._path, value)

    def each(self, name: str) -> list[Fields]:
        """A list of objects."""
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise self.bad(name, "a list of objects")
        found = []
        for each in value:
            if not isinstance(each, dict):
                raise self.bad(name, "a list of objects")
            found.append(Fields(self._path, each))
        return found

    def names(self) -> tuple[str, ...]:
        return tuple(self._fields)

    def bad(self, name: str, wanted: str) -> BadZnode:
        return BadZnode(self._path, f"{name} should be {wanted}, is {self._fields.get(name)!r:.100}")
