"""`odradek delete-records`: kafka-delete-records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import text, verb
from odradek.cli.output import Row, json_line
from odradek.cli.reach import ClusterFlags, administer
from odradek.model.ids import Partition

if TYPE_CHECKING:
    from odradek.client.failures import Refused


@dataclass(frozen=True, kw_only=True)
class DeleteRecordsFlags(ClusterFlags):
    offset_json_file: str | None = text(
        'Up to where: {"partitions": [{"topic": "t", "partition": 0, "offset": 7}], "version": 1}; '
        "offset -1 is the end.",
        shown="FILE",
    )


def run(flags: DeleteRecordsFlags) -> None:
    from odradek.cli.formats.java_order import hash_of_partition, in_map
    from odradek.client.offsets import delete_records

    for name in ("bootstrap_server", "offset_json_file"):
        if not getattr(flags, name):
            raise Misused(f'Missing required argument "[{name.replace("_", "-")}]"')
    before = offsets_in(_read(flags.offset_json_file or ""))
    if not flags.json:
        click.echo("Executing records delete operation")
    deleted = administer(flags, lambda cluster: delete_records(cluster, before))
    if not flags.json:
        click.echo("Records delete operation completed:")
    for partition in in_map(list(before), hash_of_partition):
        _print(partition, deleted[partition], in_json=flags.json)


def _print(partition: Partition, answer: int | Refused, *, in_json: bool) -> None:
    place: Row = {"topic": partition.topic, "partition": partition.number}
    if isinstance(answer, int):
        shown = f"partition: {partition}\tlow_watermark: {answer}"
        row = {**place, "low_watermark": answer}
    else:
        shown = f"partition: {partition}\terror: {said_as(answer)}: {message(answer)}"
        row = {**place, "error": answer.error.name}
    click.echo(json_line(row) if in_json else shown)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as failure:
        raise Impossible(f"Unable to read file {path}", "java.io.IOException") from failure


# -- the file ----------------------------------------------------------------------------------------------

_WRONG_FILE = "org.apache.kafka.server.common.AdminOperationException"
_WRONG_FIELD = "com.fasterxml.jackson.databind.JsonMappingException"


def offsets_in(text: str) -> dict[Partition, int]:
    """The offset below which each partition shall lose its records."""
    try:
        said = json.loads(text)
    except ValueError:
        raise Impossible("The input string is not a valid JSON", _WRONG_FILE) from None
    version = said.get("version", 1) if isinstance(said, dict) else 1
    if version != 1:
        raise Impossible(f"Not supported version field value {version}", _WRONG_FILE)
    if not isinstance(said, dict) or "partitions" not in said:
        raise Impossible("Missing partitions field", _WRONG_FILE)
    if not isinstance(said["partitions"], list):
        raise _unexpected("JSON array", said["partitions"])
    found: dict[Partition, int] = {}
    twice: list[str] = []
    for each in said["partitions"]:
        if not isinstance(each, dict):
            raise _unexpected("JSON object", each)
        partition = Partition(_text(each, "topic"), _number(each, "partition", "Integer"))
        if partition in found:
            twice.append(str(partition))
        found[partition] = _number(each, "offset", "Long")
    if twice:
        raise Impossible(
            f"Offset json file contains duplicate topic partitions: {','.join(twice)}",
            "org.apache.kafka.server.common.AdminCommandFailedException",
        )
    return found


def _text(said: Mapping[str, object], name: str) -> str:
    value = _field(said, name)
    if not isinstance(value, str):
        raise _unexpected("`String` value", value)
    return value


def _number(said: Mapping[str, object], name: str, kind: str) -> int:
    value = _field(said, name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unexpected(f"`{kind}` value", value)
    return value


def _field(said: Mapping[str, object], name: str) -> object:
    if name not in said:
        raise Impossible(f"No such field exists: `{name}`", _WRONG_FIELD)
    return said[name]


def _unexpected(what: str, value: object) -> Impossible:
    return Impossible(f"Expected {what}, received {json.dumps(value)}", _WRONG_FIELD)


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=f"{message(failure)}\n{said_as(failure)}: {message(failure)}")


delete_records = verb(
    "delete-records", DeleteRecordsFlags, run, help="Delete the oldest records of partitions.", failing=_told
)
