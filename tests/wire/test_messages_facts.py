"""Declarations against facts: every message, version, field, order, type, null, default, tag and key.

`tests/golden/messages-*.json` hold what the schemas of two Kafka releases say. For each version both sides
are unrolled into the same plain `Layout`, so that `Since(4)` and "4+" need no common language.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeAlias, cast

import pytest

from odradek.wire import messages
from odradek.wire.apis import API_BY_KEY
from odradek.wire.messages import stored, stored_consumer_groups, stored_share_groups, stored_streams_groups
from odradek.wire.schema import Array, Declaration, Field, Kind, Shape, declaration

Json: TypeAlias = "Mapping[str, object]"
GOLDEN = Path(__file__).parents[1] / "golden"
RELEASES = ("3.9.2", "4.4.0")


class Exclusion(NamedTuple):
    releases: tuple[str, ...]
    reason: str
    names: tuple[str, ...]  # "Vote*" stands for VoteRequest and VoteResponse


NOT_DECLARED = (
    Exclusion(
        RELEASES,
        "spoken only to and among KRaft controllers, whose place here is ZooKeeper's",
        (
            "Vote*", "BeginQuorumEpoch*", "EndQuorumEpoch*", "FetchSnapshot*", "UpdateRaftVoter*",
            "BrokerRegistration*", "BrokerHeartbeat*", "ControllerRegistration*", "AssignReplicasToDirs*",
        ),
    ),
    Exclusion(
        RELEASES,
        "control records of the KRaft metadata log",
        ("LeaderChangeMessage", "SnapshotHeaderRecord", "SnapshotFooterRecord", "KRaftVersionRecord",
         "VotersRecord"),
    ),
    Exclusion(
        ("3.9.2",),
        "the preview of share groups, off by default there, changed in place and withdrawn since",
        (
            "ShareGroupHeartbeat*", "ShareGroupDescribe*", "ShareFetch*", "ShareAcknowledge*",
            "InitializeShareGroupState*", "ReadShareGroupState*", "WriteShareGroupState*",
            "DeleteShareGroupState*", "ReadShareGroupStateSummary*",
            "ShareGroupMemberMetadataKey", "ShareGroupMemberMetadataValue", "ShareGroupMetadataKey",
            "ShareGroupMetadataValue", "ShareGroupPartitionMetadataKey", "ShareGroupPartitionMetadataValue",
        ),
    ),
    Exclusion(("3.9.2",), "ListConfigResources v0 by its older name", ("ListClientMetricsResources*",)),
)  # fmt: skip

# Fields that a later release calls otherwise; the bytes are the same.
RENAMED = {("TxnOffsetCommitRequest", "GenerationId"): "GenerationIdOrMemberEpoch"}

RECORD_TABLES: tuple[Mapping[int, tuple[type, type]], ...] = (
    stored.GROUP_RECORDS,
    stored.TRANSACTION_RECORDS,
    stored_consumer_groups.GROUP_RECORDS,
    stored_share_groups.GROUP_RECORDS,
    stored_share_groups.SHARE_STATE_RECORDS,
    stored_streams_groups.GROUP_RECORDS,
)


# -- the common ground -------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """A struct in one version."""

    ordinary: tuple[Slot, ...]
    tagged: Mapping[int, Slot]


class Slot(NamedTuple):
    name: str
    type: str  # "int32", "[]int32", "struct", "[]struct"
    inside: Layout | None  # of a struct
    nullable: bool
    default: object
    classic: bool


def differences(path: str, facts: Layout, ours: Layout) -> Iterator[str]:
    names = [slot.name for slot in facts.ordinary], [slot.name for slot in ours.ordinary]
    tags = [{tag: slot.name for tag, slot in layout.tagged.items()} for layout in (facts, ours)]
    if names[0] != names[1] or tags[0] != tags[1]:
        yield f"{path}: {names[0]} and tags {tags[0]} in the facts; declared {names[1]} and tags {tags[1]}"
        return
    theirs = [*facts.ordinary, *facts.tagged.values()]
    for fact, slot in zip(theirs, [*ours.ordinary, *(ours.tagged[tag] for tag in facts.tagged)], strict=True):
        if fact._replace(inside=None) != slot._replace(inside=None):
            yield f"{path}.{fact.name}: {fact._replace(inside=None)}; declared {slot._replace(inside=None)}"
        elif fact.inside and slot.inside:
            yield from differences(f"{path}.{fact.name}", fact.inside, slot.inside)


# -- the facts ---------------------------------------------------------------------------------------------


class Versions(NamedTuple):
    """ "4+", "0-3", "2" or "none"."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last

    @staticmethod
    def read(text: object) -> Versions:
        match = re.fullmatch(r"(\d+)(\+|-(\d+))?", str(text))
        if match is None:
            return Versions(0, -1)
        first = int(match[1])
        return Versions(first, int(match[3]) if match[3] else 1 << 15 if match[2] else first)


class Schema:
    """One message of one release."""

    def __init__(self, release: str, fact: Json) -> None:
        self.release = release
        self.fact = fact
        self.name = str(fact["name"])
        self.type = str(fact["type"])
        self.valid = Versions.read(fact["validVersions"])
        self.flexible = Versions.read(fact.get("flexibleVersions"))
        self._shared = {str(each["name"]): each for each in _list(fact, "commonStructs")}

    @property
    def record_numbers(self) -> bool:
        """3.9's keys of stored records: their versions are what 4.x calls the record's api key."""
        return self.release == "3.9.2" and self.type == "data" and self.name.endswith("Key")

    def versions(self) -> range:
        return range(self.valid.first, self.valid.last + 1)

    def layout(self, version: int) -> Layout:
        return self._layout(self.fact, version)

    def _layout(self, struct: Json, version: int) -> Layout:
        ordinary, tagged = [], {}
        for fact in _list(struct, "fields"):
            if version not in Versions.read(fact.get("versions") or fact["taggedVersions"]):
                continue
            slot = self._slot(fact, version)
            if version in Versions.read(fact.get("taggedVersions")):
                tagged[int(str(fact["tag"]))] = slot
            else:
                ordinary.append(slot)
        return Layout(tuple(ordinary), dict(sorted(tagged.items())))

    def _slot(self, fact: Json, version: int) -> Slot:
        array, item = re.fullmatch(r"(\[\])?(\w+)", str(fact["type"])).groups("")  # type: ignore[union-attr]
        inside = None
        if item[0].isupper():
            inside = self._layout(fact if "fields" in fact else self._shared[item], version)
            item = "struct"
        return Slot(
            name=_snake(RENAMED.get((self.name, str(fact["name"])), str(fact["name"]))),
            type=array + item,
            inside=inside,
            nullable=version in Versions.read(fact.get("nullableVersions")),
            default=_default(array + item, fact),
            classic=fact.get("flexibleVersions") == "none",
        )


def _list(fact: Json, name: str) -> list[Json]:
    return cast("list[Json]", fact.get(name, []))


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _default(type: str, fact: Json) -> object:
    """Kafka's default as Python's value. Null is the text "null"; a bare null says nothing. Numbers and
    booleans come both as such and as text."""
    stated = fact.get("default")
    if stated == "null":
        return None
    match type:
        case "struct":
            return "all defaults"
        case "bool":
            return str(stated).lower() == "true"
        case "float64":
            return float(str(stated or 0))
        case "string":
            return str(stated or "").strip("'")
        case "bytes" | "records":
            return b""
        case "uuid":
            return bytes(16)
        case _ if type.startswith("[]"):
            return ()
        case _:
            return int(str(stated or 0), 0)


@cache
def schemas() -> Mapping[str, tuple[Schema, ...]]:
    """By name: what each release that has the message says of it, those not declared aside."""
    found: dict[str, list[Schema]] = {}
    for release in RELEASES:
        left_out = excluded(release)
        for name, fact in facts(release).items():
            if name not in left_out and fact["validVersions"] != "none":
                found.setdefault(name, []).append(Schema(release, fact))
    return {name: tuple(each) for name, each in found.items()}


@cache
def facts(release: str) -> Mapping[str, Json]:
    return cast("Mapping[str, Json]", json.loads((GOLDEN / f"messages-{release}.json").read_text()))


def excluded(release: str) -> set[str]:
    patterns = [name for each in NOT_DECLARED if release in each.releases for name in each.names]
    return {
        pattern.replace("*", kind)
        for pattern in patterns
        for kind in (("Request", "Response") if "*" in pattern else ("",))
    }


def agreed(older: Layout, newer: Layout) -> Layout:
    """What two releases say of one version. Tagged fields may have been added to it since."""
    assert [slot.name for slot in older.ordinary] == [slot.name for slot in newer.ordinary]
    tagged = {
        tag: _slots_agreed(older.tagged.get(tag, slot), newer.tagged.get(tag, slot))
        for tag, slot in sorted({**older.tagged, **newer.tagged}.items())
    }
    return Layout(tuple(map(_slots_agreed, older.ordinary, newer.ordinary)), tagged)


def _slots_agreed(older: Slot, newer: Slot) -> Slot:
    assert older._replace(inside=None) == newer._replace(inside=None)
    return (
        newer._replace(inside=agreed(older.inside, newer.inside)) if older.inside and newer.inside else newer
    )


# -- the declarations --------------------------------------------------------------------------------------


class Declared:
    """Every declared class, and which of their fields some layout has shown."""

    def __init__(self, modules: tuple[ModuleType, ...]) -> None:
        self.classes = {
            cls: declaration(cls)
            for module in modules
            for cls in vars(module).values()
            if isinstance(cls, type) and "__declaration__" in vars(cls)
        }
        self.messages = {
            cls.__name__: declared for cls, declared in self.classes.items() if declared.versions is not None
        }
        self.shown: set[tuple[type, str]] = set()

    def layout(self, cls: type, version: int) -> Layout:
        ordinary, tagged = [], {}
        for field in self.classes[cls].fields:
            if not field.exists(version):
                assert field.has_default, f"{cls.__name__}.{field.name} has no default for v{version}"
                continue
            self.shown.add((cls, field.name))
            slot = self._slot(field, version)
            if field.tagged(version):
                tagged[cast("int", field.tag)] = slot
            else:
                ordinary.append(slot)
        return Layout(tuple(ordinary), dict(sorted(tagged.items())))

    def _slot(self, field: Field, version: int) -> Slot:
        array, item = ("[]", field.shape.of) if isinstance(field.shape, Array) else ("", field.shape)
        return Slot(
            name=field.name,
            type=array + (item.name if isinstance(item, Kind) else "struct"),
            inside=None if isinstance(item, Kind) else self.layout(item, version),
            nullable=field.nullable(version),
            default=self._default(field.shape, field.default),
            classic=field.classic,
        )

    def _default(self, shape: Shape, default: object) -> object:
        is_zero_struct = isinstance(shape, type) and default == self.classes[shape].zero
        return "all defaults" if is_zero_struct else default


@cache
def declared() -> Declared:
    names = [each.name for each in pkgutil.iter_modules(messages.__path__)]
    return Declared(tuple(importlib.import_module(f"odradek.wire.messages.{name}") for name in names))


def complaints(name: str, ours: Declared) -> Iterator[str]:
    """What the facts of both releases have against our class of this name."""
    found = [schema for schema in schemas()[name] if not schema.record_numbers]
    if not found:
        return  # 3.9's key of a stored record: test_the_number_of_a_stored_record
    if name not in ours.messages:
        yield f"{name} is not declared"
        return
    message: Declaration = ours.messages[name]
    versions = sorted({version for schema in found for version in schema.versions()})
    if versions != list(message.versions or ()):
        yield f"{name}: versions {versions}; declared {message.versions}"
        return
    for version in versions:
        speaking = [schema for schema in found if version in schema.valid]
        if any(message.is_flexible(version) != (version in schema.flexible) for schema in speaking):
            yield f"{name} v{version}: flexible or not"
        layouts = [schema.layout(version) for schema in speaking]
        theirs = agreed(layouts[0], layouts[-1])
        yield from differences(f"{name} v{version}", theirs, ours.layout(message.cls, version))


# -- the tests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(schemas()))
def test_a_message_is_what_the_facts_say(name: str) -> None:
    assert not list(complaints(name, declared()))


def test_nothing_is_declared_that_no_facts_know() -> None:
    assert not list(unknown(declared()))


def unknown(ours: Declared) -> Iterator[str]:
    """What is declared and in no version known to the facts: messages, then fields and whole structs."""
    yield from (name for name in ours.messages if name not in schemas())
    for name in schemas().keys() & ours.messages.keys():
        yield from complaints(name, ours)
    for cls, found in ours.classes.items():
        yield from (
            f"{cls.__name__}.{field.name}" for field in found.fields if (cls, field.name) not in ours.shown
        )


@pytest.mark.parametrize("each", NOT_DECLARED, ids=lambda each: each.reason)
def test_what_is_not_declared_exists_and_is_really_not_declared(each: Exclusion) -> None:
    for release in each.releases:
        assert excluded(release) <= set(facts(release))
    everywhere = set.intersection(*map(excluded, RELEASES))
    assert not everywhere & set(declared().messages)


def test_every_api_has_its_key() -> None:
    assert not list(wrong_keys(schemas()))


def wrong_keys(found: Mapping[str, tuple[Schema, ...]]) -> Iterator[str]:
    for schema in (schema for each in found.values() for schema in each):
        if schema.type in ("request", "response"):
            api = API_BY_KEY.get(cast("int", schema.fact["apiKey"]))
            cls = None if api is None else api.request if schema.type == "request" else api.response
            if cls is None or cls.__name__ != schema.name:
                yield f"{schema.name}: key {schema.fact['apiKey']}; there we have {api}"


def test_the_number_of_a_stored_record() -> None:
    checked = 0
    for name, schema in ((name, schema) for name, each in schemas().items() for schema in each):
        if schema.type in ("coordinator-key", "coordinator-value"):
            place = 0 if schema.type == "coordinator-key" else 1
            number = cast("int", schema.fact["apiKey"])
            assert name in {table[number][place].__name__ for table in RECORD_TABLES if number in table}
            checked += 1
        elif schema.record_numbers:
            for number in schema.versions():
                keys = [table[number][0] for table in RECORD_TABLES if number in table]
                assert schema.layout(number) in [declared().layout(key, 0) for key in keys]
                checked += 1
    assert checked == 2 * sum(map(len, RECORD_TABLES)) + 10


# -- and they bite -----------------------------------------------------------------------------------------

LOG_START = "log_start_offset: Annotated[Int64, Since(5)] = -1"
REQUEST = "@message(versions=range(14), flexible=9)\nclass ProduceRequest"
IN_ORDER = "    leader_id: Int32 = -1\n    leader_epoch: Int32 = -1"
CURRENT_LEADER = "Tagged(0, since=10)] = default_of"

PLANTED = [
    ("produce", "    acks: Int16", "    acks: Int32"),
    ("produce", "    acks: Int16", "    acknowledgements: Int16"),
    ("produce", "    acks: Int16", "    extra: Int16\n    acks: Int16"),
    ("produce", "    acks: Int16", "    extra: Annotated[Int16, Since(14)] = 0\n    acks: Int16"),
    ("produce", "    timeout_ms: Int32\n", ""),
    ("produce", IN_ORDER, "    leader_epoch: Int32 = -1\n    leader_id: Int32 = -1"),
    ("produce", LOG_START, "log_start_offset: Annotated[Int64, Since(6)] = -1"),
    ("produce", LOG_START, "log_start_offset: Annotated[Int64, Since(5), Until(12)] = -1"),
    ("produce", LOG_START, "log_start_offset: Annotated[Int64, Since(5)] = 0"),
    ("produce", LOG_START, "log_start_offset: Annotated[Int64, Since(5)]"),
    ("produce", "records: Records | None", "records: Records"),
    ("produce", "records: Records | None", "records: Bytes | None"),
    ("produce", "    topic_data: tuple[TopicData, ...]", "    topic_data: TopicData"),
    ("produce", "tuple[RecordError, ...]", "tuple[CurrentLeader, ...]"),
    ("produce", REQUEST, "@message(versions=range(13), flexible=9)\nclass ProduceRequest"),
    ("produce", REQUEST, "@message(versions=range(14), flexible=8)\nclass ProduceRequest"),
    ("produce", REQUEST, "@message(versions=range(14), flexible=9)\nclass PublishRequest"),
    ("produce", REQUEST, "@message\nclass Unused:\n    number: Int32\n\n" + REQUEST),
    ("produce", CURRENT_LEADER, "Tagged(1, since=10)] = default_of"),
    ("produce", CURRENT_LEADER, "Tagged(0, since=9)] = default_of"),
    ("groups", "NullableSince(7)", "NullableSince(6)"),
    ("headers", ", Classic()]", "]"),
]


@pytest.mark.parametrize(("family", "original", "mutated"), PLANTED)
def test_a_planted_mistake_is_found(
    family: str, original: str, mutated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = importlib.import_module(f"odradek.wire.messages.{family}")
    text = Path(cast("str", true.__file__)).read_text()
    assert text.count(original) == 1
    false = ModuleType(f"{family}_with_a_mistake")
    monkeypatch.setitem(sys.modules, false.__name__, false)
    exec("from odradek.wire.schema import Bytes\n", vars(false))
    exec(compile(text.replace(original, mutated), "mutated", "exec"), vars(false))
    assert found_against(Declared((false,)), Declared((true,)))
    assert not found_against(Declared((true,)), Declared((true,)))


def found_against(ours: Declared, true: Declared) -> list[str]:
    try:
        return [*(each for name in true.messages for each in complaints(name, ours)), *unknown(ours)]
    except AssertionError as missing_default:
        return [str(missing_default)]


def test_a_wrong_key_is_found() -> None:
    fact = {**facts("4.4.0")["FetchRequest"], "apiKey": 0}
    assert list(wrong_keys({"FetchRequest": (Schema("4.4.0", fact),)}))
