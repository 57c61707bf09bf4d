"""What groups keep in __consumer_offsets: written in the versions Kafka 3.9 writes, read in all it reads."""

from __future__ import annotations

import struct
from typing import Final, TypeAlias, cast

from odradek.model.outcome import StoredRecord
from odradek.wire.codec import decode, decoder, encode_parts
from odradek.wire.messages.stored import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from odradek.wire.schema import declaration

Key: TypeAlias = OffsetCommitKey | GroupMetadataKey

_NUMBER = struct.Struct(">h")
_OFFSET_KEYS: Final = (0, 1)  # 0 is of Kafka 0.8, and says the same
_OFFSET_KEY, _GROUP_KEY = 1, 2
_OFFSET_VALUE, _GROUP_VALUE = 3, 3
_OFFSET_VALUE_THAT_EXPIRES: Final = 1  # the only version with an expiry of its own


class UnknownRecord(Exception):
    """A newer broker wrote something that we cannot read."""


def offset_record(key: OffsetCommitKey, value: OffsetCommitValue) -> StoredRecord:
    expires = value.expire_timestamp >= 0
    version = _OFFSET_VALUE_THAT_EXPIRES if expires else _OFFSET_VALUE
    return StoredRecord(_key(key), _numbered(version, value, version))


def group_record(group_id: str, value: GroupMetadataValue) -> StoredRecord:
    key = _key(GroupMetadataKey(group=group_id))
    return StoredRecord(key, _numbered(_GROUP_VALUE, value, _GROUP_VALUE))


def offset_tombstone(key: OffsetCommitKey) -> StoredRecord:
    return StoredRecord(_key(key), None)


def group_tombstone(group_id: str) -> StoredRecord:
    return StoredRecord(_key(GroupMetadataKey(group=group_id)), None)


def read_key(key: bytes) -> Key:
    (number,) = _NUMBER.unpack_from(key)
    if number in _OFFSET_KEYS:
        return _offset_key(key, _NUMBER.size)[0]
    if number == _GROUP_KEY:
        return decode(GroupMetadataKey, 0, key, _NUMBER.size)
    raise UnknownRecord(f"a record whose key begins with {number}")


def read_offset(value: bytes) -> OffsetCommitValue:
    return decode(OffsetCommitValue, _version(OffsetCommitValue, value), value, _NUMBER.size)


def read_group(value: bytes) -> GroupMetadataValue:
    return decode(GroupMetadataValue, _version(GroupMetadataValue, value), value, _NUMBER.size)


_offset_key = decoder(OffsetCommitKey, 0)


def _key(key: Key) -> bytes:
    return _numbered(_OFFSET_KEY if isinstance(key, OffsetCommitKey) else _GROUP_KEY, key, 0)


def _numbered(number: int, message: object, version: int) -> bytes:
    """The message after the number that says what it is, or in which version."""
    return b"".join(cast("list[bytearray]", encode_parts(message, version, _NUMBER.pack(number))))


def _version(cls: type, value: bytes) -> int:
    (version,) = _NUMBER.unpack_from(value)
    versions = declaration(cls).versions
    assert versions is not None
    if version not in versions:
        raise UnknownRecord(f"{cls.__name__} of version {version}")
    return int(version)
