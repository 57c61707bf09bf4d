"""What a declaration says, and what a message is like once it is made."""

from __future__ import annotations

from typing import Annotated

import pytest

from odradek.wire.schema import (
    Array,
    Int16,
    Int32,
    Int64,
    Kind,
    NullableSince,
    Since,
    String,
    Tagged,
    Until,
    Uuid,
    declaration,
    default_of,
    message,
    unknown_tags,
    with_unknown_tags,
)


@message
class Position:
    epoch: Int32 = -1
    offset: Int64 = -1


@message(versions=range(6), flexible=4)
class Report:
    name: Annotated[String | None, Since(1), NullableSince(2)] = ""
    code: Int16
    positions: tuple[Position, ...]
    owner: Annotated[Uuid, Until(3)] = bytes(16)
    last: Annotated[Position, Since(2), Tagged(3, since=5)] = default_of(Position)

    def is_fine(self) -> bool:
        return self.code == 0


def test_a_message_is_made_from_names_and_knows_its_defaults() -> None:
    report = Report(code=7, positions=(Position(offset=4),))
    assert (report.name, report.code, report.owner, report.last) == ("", 7, bytes(16), Position())
    assert (report.positions[0].epoch, report.positions[0].offset) == (-1, 4)
    assert not report.is_fine()


def test_a_field_without_a_default_must_be_given() -> None:
    with pytest.raises(TypeError, match="code"):
        Report(positions=())  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="colour"):
        Report(code=1, positions=(), colour="red")  # type: ignore[call-arg]


def test_messages_are_equal_when_all_they_hold_is() -> None:
    assert Position(epoch=1) == Position(epoch=1)
    assert hash(Position(epoch=1)) == hash(Position(epoch=1))
    assert Position(epoch=1) != Position(epoch=2)
    assert Position() != with_unknown_tags(Position(), ((5, b"x"),))


def test_a_message_has_slots_and_nothing_else() -> None:
    assert not hasattr(Position(), "__dict__")
    with pytest.raises(AttributeError):
        Position().colour = "red"  # type: ignore[attr-defined]


def test_a_message_is_shown_by_what_is_not_at_its_default() -> None:
    assert repr(Position()) == "Position()"
    assert repr(Report(code=0, positions=())) == "Report(code=0, positions=())"
    shown = repr(with_unknown_tags(Position(offset=2), ((1, b""),)))
    assert shown == "Position(offset=2, unknown_tags=((1, b''),))"


def test_unknown_tags_are_empty_unless_given() -> None:
    assert unknown_tags(Position()) == ()
    assert unknown_tags(with_unknown_tags(Position(), ((9, b"z"),))) == ((9, b"z"),)


def test_annotations_are_understood() -> None:
    name, code, positions, owner, last = declaration(Report).fields
    assert isinstance(name.shape, Kind)
    assert name.shape.name == "string"
    assert [name.exists(version) for version in range(3)] == [False, True, True]
    assert [name.nullable(version) for version in range(3)] == [False, False, True]
    assert not code.has_default
    assert code.default == 0
    assert positions.shape == Array(Position)
    assert not positions.nullable(5)
    assert [owner.exists(version) for version in (3, 4)] == [True, False]
    assert [last.exists(version) for version in (1, 2, 5)] == [False, True, True]
    assert [last.tagged(version) for version in (4, 5)] == [False, True]
    assert last.tag == 3
    assert last.default == Position()


def test_a_tagged_field_without_since_begins_with_its_tag() -> None:
    @message
    class Hint:
        rack: Annotated[String | None, Tagged(0, since=4)] = None

    (rack,) = declaration(Hint).fields
    assert [rack.exists(version) for version in (3, 4)] == [False, True]


def test_what_is_no_type_of_the_wire_is_refused() -> None:
    @message
    class Wrong:
        when: float

    with pytest.raises(TypeError, match="no type of the wire"):
        _ = declaration(Wrong).fields
