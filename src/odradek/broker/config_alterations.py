"""What altering a configuration makes of it, key by key: set, unset, added to, taken from.

Pure. Values are checked afterwards, by whoever knows what the entity is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple, TypeAlias

from odradek.model.config.setting import Setting
from odradek.model.config.values import Kind
from odradek.model.errors import ApiError, ErrorCode

SettingOf: TypeAlias = Callable[[str], Setting | None]


class Operation(Enum):
    """The number is the one on the wire."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Alteration(NamedTuple):
    key: str
    operation: Operation
    text: str  # of no meaning for a deletion


def alteration(key: str, operation: int, text: str | None) -> Alteration:
    try:
        known = Operation(operation)
    except ValueError:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operation {operation} on {key}") from None
    return Alteration(key, known, text or "")


def check_pairs(pairs: Iterable[tuple[str, str | None]], *, may_be_null: Callable[[str], bool]) -> None:
    """`ApiError` if a key is there twice, or has no value and needs one."""
    pairs = list(pairs)
    if any(count > 1 for count in Counter(key for key, _ in pairs).values()):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [key for key, text in pairs if text is None and not may_be_null(key)]
    if nulls:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")


def altered(
    texts: Mapping[str, str], alterations: Iterable[Alteration], setting_of: SettingOf
) -> dict[str, str]:
    after = dict(texts)
    for key, operation, text in alterations:
        match operation:
            case Operation.SET:
                after[key] = text
            case Operation.DELETE:
                after.pop(key, None)
            case Operation.APPEND:
                items = _items(after, key, setting_of, "append")
                after[key] = ",".join(dict.fromkeys([*items, *_split(text)]))
            case Operation.SUBTRACT:
                items = _items(after, key, setting_of, "subtract")
                after[key] = ",".join(each for each in items if each not in text.split(","))
    return after


def _items(texts: Mapping[str, str], key: str, setting_of: SettingOf, what: str) -> list[str]:
    """The list that is there to be changed: what was set, or else the default."""
    setting = setting_of(key)
    if setting is None or setting.kind is not Kind.LIST:
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Config value {what} is not allowed for config key: {key}")
    return _split(texts[key] if key in texts else setting.default_text() or "")


def _split(text: str) -> list[str]:
    """As it was written: Kafka compares items with the blanks around them."""
    return [each for each in text.split(",") if each]
