"""A message as JSON, the way Kafka's tools print it: its own names, and only what its version has."""

from __future__ import annotations

import base64

from odradek.cli.output import Json
from odradek.model.ids import id_text
from odradek.wire.schema import Array, Field, Kind, Shape, declaration


def message_json(message: object, version: int) -> dict[str, Json]:
    fields = declaration(type(message)).fields
    return {
        _camel(field.name): _json(getattr(message, field.name), field.shape, version)
        for field in fields
        if field.exists(version) and not _is_left_out(field, message, version)
    }


def _is_left_out(field: Field, message: object, version: int) -> bool:
    """A tagged field is only there if it says something."""
    return field.tagged(version) and getattr(message, field.name) == field.default


def _json(value: object, shape: Shape, version: int) -> Json:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(shape, Array):
        assert isinstance(value, tuple)
        return [_json(item, shape.of, version) for item in value]
    if isinstance(value, bytes | memoryview):
        is_id = isinstance(shape, Kind) and shape.name == "uuid"
        return id_text(bytes(value)) if is_id else base64.b64encode(value).decode()
    return message_json(value, version)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
