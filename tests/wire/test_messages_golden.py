"""Bytes written by Kafka's own Java classes: ours read them, and write the same.

`tests/golden/messages/` holds the vectors and the program that made them. Each has the value beside the
bytes, as Kafka's JSON converters print it, so both directions start from what Kafka says.
"""

from __future__ import annotations

import base64
import gzip
import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

import pytest

from odradek.wire import messages
from odradek.wire.codec import decode, encode
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.messages.group_offsets import TxnOffsetCommitRequest
from odradek.wire.messages.payloads import ControlRecordTypeSchema, EndTxnMarker
from odradek.wire.messages.stored import TransactionLogValue
from odradek.wire.records import read_records
from odradek.wire.schema import Array, Field, Kind, Shape, declaration

Json: TypeAlias = "Mapping[str, object]"
VECTORS = Path(__file__).parents[1] / "golden" / "messages"
RELEASES = ("3.9.2", "4.3.1", "4.4.0")  # 4.3.1: only what is stored, see the README there


class Vector(NamedTuple):
    message: type[object]
    version: int
    variant: str
    wire: bytes
    value: Json


@cache
def classes() -> Mapping[str, type[object]]:
    names = [each.name for each in pkgutil.iter_modules(messages.__path__)]
    modules = [importlib.import_module(f"odradek.wire.messages.{name}") for name in names]
    declared = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    return {cls.__name__: cls for cls in declared if "__declaration__" in vars(cls)}


@cache
def vectors(release: str) -> Mapping[str, list[Vector]]:
    """Of every message we declare. What we do not is listed in test_messages_facts.py, with reasons."""
    found: dict[str, list[Vector]] = {}
    with gzip.open(VECTORS / f"{release}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            vector = _read(release, json.loads(line))
            if vector is not None:
                found.setdefault(vector.message.__name__, []).append(vector)
    return found


def _read(release: str, line: Json) -> Vector | None:
    name, version = str(line["message"]), cast("int", line["version"])
    cls = classes().get(name) or classes().get(name.removesuffix("Data"))
    if cls is None or (release == "3.9.2" and "Share" in name):  # 3.9's preview of share groups
        return None
    if release == "3.9.2" and name.endswith("Key"):
        version = 0  # there the version is the record's number
    value = cast("Json", line["value"])
    return Vector(cls, version, str(line["variant"]), bytes.fromhex(str(line["bytes"])), value)


# -- Kafka's JSON as our value -----------------------------------------------------------------------------


def built(cls: type, version: int, value: Json) -> object:
    """The value that the JSON tells. Tagged fields at their defaults are absent from it."""
    value = {_name(cls, key): node for key, node in value.items()}
    fields = {_key(field): field for field in declaration(cls).fields if field.exists(version)}
    assert set(value) <= set(fields)
    assert {key for key, field in fields.items() if not field.tagged(version)} <= set(value)
    return cls(**{fields[key].name: _built(fields[key].shape, version, node) for key, node in value.items()})


def _built(shape: Shape, version: int, node: object) -> object:
    if node is None:
        return None
    if isinstance(shape, Array):
        return tuple(_built(shape.of, version, each) for each in cast("list[object]", node))
    if not isinstance(shape, Kind):
        return built(shape, version, cast("Json", node))
    match shape.name:
        case "records":
            return bytes(range(cast("int", node)))  # as many bytes as it says, counting up
        case "bytes":
            return base64.b64decode(str(node))
        case "uuid":
            return base64.urlsafe_b64decode(f"{node}==")
        case _:
            return node


def _name(cls: type, key: str) -> str:
    """3.9's TxnOffsetCommit says generationId, and of records the JSON has their size alone."""
    renamed = {"recordsSizeInBytes": "records"}
    if cls is TxnOffsetCommitRequest:
        renamed["generationId"] = "generationIdOrMemberEpoch"
    return renamed.get(key, key)


def _key(field: Field) -> str:
    first, *rest = field.name.split("_")
    return "".join([first, *(word.capitalize() for word in rest)])


# -- the tests ---------------------------------------------------------------------------------------------


def check(vector: Vector) -> None:
    value = built(vector.message, vector.version, vector.value)
    assert decode(vector.message, vector.version, vector.wire) == value
    assert encode(value, vector.version).hex() == vector.wire.hex()


@pytest.mark.parametrize(
    ("release", "name"), [(release, name) for release in RELEASES for name in vectors(release)]
)
def test_we_read_and_write_the_bytes_kafka_writes(release: str, name: str) -> None:
    for vector in vectors(release)[name]:
        check(vector)


def test_no_declared_version_or_field_lacks_golden_bytes() -> None:
    filled = {
        (vector.message, vector.version): vector
        for release in RELEASES  # the newest that has it counts: older ones may lack tagged fields
        for found in vectors(release).values()
        for vector in found
        if vector.variant == "filled"
    }
    for cls in classes().values():
        for version in declaration(cls).versions or ():
            vector = filled.pop((cls, version))
            assert not list(_unfilled(cls, version, vector.value))
    assert not filled


def _unfilled(cls: type, version: int, value: Json) -> Iterator[str]:
    value = {_name(cls, key): node for key, node in value.items()}
    for field in declaration(cls).fields:
        node = value.get(_key(field))
        if field.exists(version) and node in (None, [], "", b""):
            yield f"{cls.__name__}.{field.name}"
        shape = field.shape.of if isinstance(field.shape, Array) else field.shape
        if not isinstance(shape, Kind):
            for each in cast("list[Json]", node if isinstance(node, list) else [node] if node else []):
                yield from _unfilled(shape, version, each)


def test_no_two_fields_of_a_struct_are_filled_alike() -> None:
    """So that one in another's place, or one left out, cannot go unnoticed. (Booleans cannot help it.)"""
    filled = [each for found in vectors("4.4.0").values() for each in found if each.variant == "filled"]
    for struct in (struct for vector in filled for struct in _structs(vector.value)):
        nodes = [json.dumps(node) for node in struct.values() if not isinstance(node, bool)]
        assert len(set(nodes)) == len(nodes)


def _structs(node: object) -> Iterator[Json]:
    if isinstance(node, dict):
        yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _structs(each)


def test_a_wrong_value_and_a_wrong_byte_are_noticed() -> None:
    vector = vectors("3.9.2")["HeartbeatResponse"][-1]
    check(vector)
    with pytest.raises(AssertionError):
        check(vector._replace(value={**vector.value, "errorCode": 1}))
    with pytest.raises(AssertionError):
        check(vector._replace(wire=b"\x01" + vector.wire[1:]))


def test_a_record_that_an_older_release_wrote_has_the_defaults_of_what_it_lacks() -> None:
    (older,) = (
        each
        for each in vectors("3.9.2")["TransactionLogValue"]
        if (each.version, each.variant) == (1, "filled")
    )
    value = decode(TransactionLogValue, 1, older.wire)
    assert (value.previous_producer_id, value.client_transaction_version) == (-1, 0)


@pytest.mark.parametrize("type", MarkerType)
def test_the_markers_we_write_by_hand_are_these_messages(type: MarkerType) -> None:
    (record,) = read_records(build_marker(Marker(type, 77), 1000, 3, timestamp=0))
    assert record.key == b"\0\0" + encode(ControlRecordTypeSchema(type=type), 0)
    assert record.value == b"\0\0" + encode(EndTxnMarker(coordinator_epoch=77), 0)
