"""The records of the internal topics as Kafka's DumpLogSegments prints them: key and payload as text."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

from odradek.cli.message_json import message_json
from odradek.cli.output import Json, json_line
from odradek.wire.codec import decode
from odradek.wire.messages.payloads import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from odradek.wire.messages.stored import (
    GROUP_RECORDS,
    TRANSACTION_RECORDS,
    GroupMetadataValue,
    MemberMetadata,
    TransactionLogKey,
    TransactionLogValue,
)
from odradek.wire.schema import declaration

StoredText: TypeAlias = Callable[[bytes, bytes | None], tuple[str, str]]

DELETED = "<DELETE>"
_UNKNOWN = "<UNKNOWN>"
_VERSION = struct.Struct(">h")
_CONSUMERS = "consumer"  # the protocol type of groups whose members' bytes we can read
_STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead")
_FENCING = "PrepareEpochFence"


def group_text(key: bytes, value: bytes | None) -> tuple[str, str]:
    """Of __consumer_offsets."""
    number, key_body = _versioned(key)
    if number not in GROUP_RECORDS:
        return _UNKNOWN, _UNKNOWN
    key_class, value_class = GROUP_RECORDS[number]
    key_text = _tagged(number, "type", message_json(decode(key_class, 0, key_body), 0))
    if value is None:
        return key_text, DELETED
    version, body = _versioned(value)
    message: object = decode(value_class, version, body)
    data = message_json(message, version)
    if isinstance(message, GroupMetadataValue) and message.protocol_type == _CONSUMERS:
        data["members"] = [_member(each, version) for each in message.members]
    return key_text, _tagged(version, "version", data)


def transaction_text(key: bytes, value: bytes | None) -> tuple[str, str]:
    """Of __transaction_state."""
    number, key_body = _versioned(key)
    if number not in TRANSACTION_RECORDS:
        return _UNKNOWN, _UNKNOWN
    transactional_id = decode(TransactionLogKey, 0, key_body).transactional_id
    key_text = f"transaction_metadata::transactionalId={transactional_id}"
    if value is None:
        return key_text, DELETED
    version, body = _versioned(value)
    told = decode(TransactionLogValue, version, body)
    topics = told.transaction_partitions or ()
    partitions = (f"{each.topic}-{number}" for each in topics for number in each.partition_ids)
    state = _STATES[told.transaction_status] if told.transaction_status < len(_STATES) else _FENCING
    return key_text, (
        f"producerId:{told.producer_id},producerEpoch:{told.producer_epoch},state={state},"
        f"partitions=[{','.join(partitions)}],"
        f"txnLastUpdateTimestamp={told.transaction_last_update_timestamp_ms},"
        f"txnTimeoutMs={told.transaction_timeout_ms}"
    )


def _versioned(data: bytes) -> tuple[int, bytes]:
    (version,) = _VERSION.unpack_from(data)
    return version, data[_VERSION.size :]


def _tagged(version: int, name: str, data: Json) -> str:
    return json_line({name: str(version), "data": data})


def _member(member: MemberMetadata, version: int) -> dict[str, Json]:
    """With what the member said to its group's leader, and was told by it."""
    return {
        **message_json(member, version),
        "subscription": _understood(ConsumerProtocolSubscription, member.subscription),
        "assignment": _understood(ConsumerProtocolAssignment, member.assignment),
    }


def _understood(cls: type, data: bytes) -> Json:
    if not data:
        return ""
    version, body = _versioned(data)
    known = min(version, _newest(cls))
    return message_json(decode(cls, known, body), known)


def _newest(cls: type) -> int:
    versions = declaration(cls).versions
    assert versions
    return versions[-1]
