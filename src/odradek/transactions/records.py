"""What a transactional id keeps in __transaction_state, as records.

In version 0, which is what Kafka 3.9 writes, as long as that has room for all there is to say. Version 1
only adds tagged fields, which a Kafka 3.9 passes over.
"""

from __future__ import annotations

import struct
from itertools import groupby
from typing import Final

from odradek.model.ids import Partition
from odradek.model.outcome import StoredRecord
from odradek.transactions.states import State
from odradek.transactions.transaction import Identity, Protocol, Transaction
from odradek.wire.codec import decode, encode
from odradek.wire.messages.stored import TransactionLogKey, TransactionLogValue, TransactionPartitions
from odradek.wire.primitives import Malformed
from odradek.wire.schema import declaration

_NUMBER: Final = struct.Struct(">h")
_KEY: Final = 0
_PLAIN, _TAGGED = 0, 1
_STATES: Final = frozenset(State)


class UnknownRecord(Exception):
    """A newer broker wrote something that we cannot read."""


def record_of(transactional_id: str, transaction: Transaction | None) -> StoredRecord:
    """Without a transaction: the id is forgotten."""
    key = _NUMBER.pack(_KEY) + encode(TransactionLogKey(transactional_id=transactional_id), 0)
    return StoredRecord(key, None if transaction is None else _value(transaction))


def read(record: StoredRecord) -> tuple[str, Transaction | None]:
    try:
        key = decode(TransactionLogKey, _version(TransactionLogKey, record.key), record.key, _NUMBER.size)
        return key.transactional_id, None if record.value is None else _read_value(record.value)
    except Malformed as malformed:
        raise UnknownRecord(str(malformed)) from None


def _value(transaction: Transaction) -> bytes:
    is_plain = (transaction.previous_id, transaction.next_id, transaction.protocol) == (-1, -1, 0)
    version = _PLAIN if is_plain else _TAGGED
    value = TransactionLogValue(
        producer_id=transaction.identity.id,
        previous_producer_id=transaction.previous_id,
        next_producer_id=transaction.next_id,
        producer_epoch=transaction.identity.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=None if transaction.state is State.EMPTY else _topics(transaction.partitions),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
        client_transaction_version=transaction.protocol,
    )
    return _NUMBER.pack(version) + encode(value, version)


def _read_value(data: bytes) -> Transaction:
    value = decode(TransactionLogValue, _version(TransactionLogValue, data), data, _NUMBER.size)
    if value.transaction_status not in _STATES:
        raise UnknownRecord(f"a transaction in state {value.transaction_status}")
    return Transaction(
        Identity(value.producer_id, value.producer_epoch),
        value.transaction_timeout_ms,
        State(value.transaction_status),
        value.transaction_last_update_timestamp_ms,
        value.transaction_start_timestamp_ms,
        frozenset(
            Partition(topic.topic, number)
            for topic in value.transaction_partitions or ()
            for number in topic.partition_ids
        ),
        value.previous_producer_id,
        value.next_producer_id,
        Protocol.V2 if value.client_transaction_version >= Protocol.V2 else Protocol.V0,
    )


def _topics(partitions: frozenset[Partition]) -> tuple[TransactionPartitions, ...]:
    return tuple(
        TransactionPartitions(topic=topic, partition_ids=tuple(each.number for each in its))
        for topic, its in groupby(sorted(partitions), key=lambda each: each.topic)
    )


def _version(cls: type, data: bytes) -> int:
    """The two bytes it begins with."""
    versions = declaration(cls).versions
    assert versions is not None
    version = int.from_bytes(data[: _NUMBER.size], "big")
    if version not in versions:
        raise UnknownRecord(f"{cls.__name__} of version {version}")
    return version
