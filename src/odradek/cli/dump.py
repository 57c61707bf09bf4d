"""`odradek dump`: prints what the files of a data directory hold, without a broker or beside one.

With Kafka's `--files` it is Kafka's DumpLogSegments, flags, output and all. Without, it prints tables for
people or JSON for programs, knows every file of a data directory, and takes whole directories.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from odradek.cli.data_file import SegmentFile, Wrong, aborted, batches, positions, producers, times
from odradek.cli.kafka_dump import KafkaDump, Wanted
from odradek.cli.output import Json, Row, json_line, table
from odradek.cli.stored_records import group_text, transaction_text
from odradek.log import checkpoint
from odradek.log.disk import OsDisk
from odradek.log.segment import INDEX, LOG, TIME_INDEX, TXN_INDEX
from odradek.model.errors import ApiError, StorageError
from odradek.model.ids import id_text
from odradek.wire.batch import (
    COMPRESSION_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BadBatch,
    BatchHeader,
)
from odradek.wire.compression import Codec
from odradek.wire.markers import decode_marker
from odradek.wire.records import read_records

_FLAGS = ((TRANSACTIONAL, "transactional"), (CONTROL, "control"), (LOG_APPEND_TIME, "append-time"))
_OFFSETS = {
    checkpoint.RECOVERY_POINTS,
    checkpoint.HIGH_WATERMARKS,
    checkpoint.LOG_STARTS,
    checkpoint.CLEANED_UNTIL,
}
_TEXTS = {
    *_OFFSETS,
    checkpoint.LEADER_EPOCHS,
    checkpoint.PARTITION_METADATA,
    checkpoint.META_PROPERTIES,
    checkpoint.CLEAN_SHUTDOWN,
}


@click.command()
@click.argument("paths", nargs=-1, metavar="FILE...", type=click.Path(exists=True))
@click.option("--records", is_flag=True, help="Of a log its records, not its batches.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option(
    "--files", metavar="FILE,...", help="Print as Kafka's DumpLogSegments does; so do its flags below."
)
@click.option("--deep-iteration", is_flag=True, help="Records too.")
@click.option("--print-data-log", is_flag=True, help="Records with their keys and values.")
@click.option("--offsets-decoder", is_flag=True, help="Records of __consumer_offsets, decoded.")
@click.option("--transaction-log-decoder", is_flag=True, help="Records of __transaction_state, decoded.")
@click.option("--skip-record-metadata", is_flag=True, help="Of records nothing but key and value.")
@click.option("--index-sanity-check", is_flag=True, help="Indexes are only looked at, as on starting.")
@click.option("--verify-index-only", is_flag=True, help="Indexes are only compared with their logs.")
@click.option("--max-bytes", type=click.IntRange(0), metavar="SIZE", help="Of a log no more than this.")
@click.option("--max-message-size", type=int, hidden=True)  # how much Kafka's tool reads at once
def dump(
    paths: Sequence[str],
    records: bool,
    as_json: bool,
    files: str | None,
    **kafkas: bool | int | None,
) -> None:
    """Print logs, indexes, snapshots and checkpoints: FILE by file, or all that a directory holds.

    Ends with 1 if something is damaged, and says where."""
    if files is None:
        if not paths:
            raise click.UsageError("which file?")
        if any(kafkas.values()):
            raise click.UsageError("Kafka's flags go with Kafka's --files")
        is_damaged = _dump(paths, records=records, as_json=as_json)
    else:
        is_damaged = _dump_like_kafka(files.split(","), kafkas)
    sys.exit(1 if is_damaged else 0)


def _dump_like_kafka(paths: Sequence[str], flags: Mapping[str, bool | int | None]) -> bool:
    decoder = transaction_text if flags["transaction_log_decoder"] else None
    if flags["offsets_decoder"]:
        decoder = group_text
    contents = bool(flags["print_data_log"] or decoder)
    wanted = Wanted(
        records=bool(flags["deep_iteration"]) or contents,
        contents=contents,
        decoder=decoder,
        skips_metadata=bool(flags["skip_record_metadata"]),
        sanity_only=bool(flags["index_sanity_check"]),
        verify_only=bool(flags["verify_index_only"]),
        bytes_max=flags["max_bytes"],
    )
    kafka = KafkaDump(wanted)
    for line in kafka.lines([path.strip() for path in paths if path.strip()]):
        click.echo(line)
    kafka.say_what_is_wrong()
    return kafka.is_damaged


def _dump(paths: Sequence[str], *, records: bool, as_json: bool) -> bool:
    is_damaged = False

    def wrong(what: str) -> None:
        nonlocal is_damaged
        is_damaged = True
        click.echo(f"{path}: {what}", err=True)

    for path in _every_file(paths):
        try:
            what, rows = _rows(path, records, wrong)
            if as_json:
                for row in rows:
                    click.echo(json_line({"file": path, "what": what, **row}))
            else:
                click.echo(path)
                for line in table(rows):
                    click.echo(f"  {line}")
        except (StorageError, ApiError) as error:
            wrong(str(error).removeprefix(f"{path}: "))
    return is_damaged


def _every_file(paths: Sequence[str]) -> Iterator[str]:
    """The files themselves, and those in directories that are a broker's."""
    for path in paths:
        if os.path.isdir(path):
            inside = sorted(os.path.join(path, name) for name in os.listdir(path))
            yield from _every_file([each for each in inside if os.path.isdir(each) or _is_known(each)])
        else:
            yield path


def _is_known(path: str) -> bool:
    return os.path.basename(path) in _TEXTS or SegmentFile.of(path) is not None


def _rows(path: str, records: bool, wrong: Wrong) -> tuple[str, Iterator[Row]]:
    """What a file's rows are, and the rows."""
    file = SegmentFile.of(path)
    if file is None:
        return _text_rows(path)
    if file.kind == LOG:
        return ("record", _record_rows(file, wrong)) if records else ("batch", _batch_rows(file, wrong))
    if file.kind == INDEX:
        found = ({"offset": each.offset, "position": each.position} for each in positions(file, wrong))
        return "position", found
    if file.kind == TIME_INDEX:
        return "time", ({"timestamp": each.timestamp, "offset": each.offset} for each in times(file, wrong))
    if file.kind == TXN_INDEX:
        return "aborted transaction", (each._asdict() for each in aborted(file, wrong))
    return "producer", (_without_minus_one(each._asdict()) for each in producers(file))


def _batch_rows(file: SegmentFile, wrong: Wrong) -> Iterator[Row]:
    for position, header, _, is_sound in batches(file, wrong):
        known = _without_minus_one(
            {
                "timestamp": header.max_timestamp,
                "leader_epoch": header.leader_epoch,
                "producer_id": header.producer_id,
                "producer_epoch": header.producer_epoch,
                "sequence": header.base_sequence,
            }
        )
        yield {
            "offset": header.base_offset,
            "last_offset": header.last_offset,
            "records": header.record_count,
            "position": position,
            "size": header.size,
            **known,
            "codec": Codec(header.attributes & COMPRESSION_MASK).name.lower(),
            "delete_horizon": header.delete_horizon_ms,
            "flags": _flags(header),
            "sound": is_sound,
        }


def _record_rows(file: SegmentFile, wrong: Wrong) -> Iterator[Row]:
    for position, header, data, _ in batches(file, wrong):
        try:
            for record in read_records(data):
                marker = decode_marker(record.key, record.value) if header.attributes & CONTROL else None
                yield {
                    "offset": record.offset,
                    "timestamp": record.timestamp,
                    "key": _shown(record.key),
                    "value": _shown(record.value),
                    "headers": [[name, _shown(value)] for name, value in record.headers] or None,
                    "marker": marker and marker.type.name.lower(),
                }
        except BadBatch as error:
            wrong(f"byte {position}: {error.detail}")


def _text_rows(path: str) -> tuple[str, Iterator[Row]]:
    disk, name = OsDisk(), os.path.basename(path)
    if name in _OFFSETS:
        offsets = checkpoint.read_offsets(disk, path).items()
        return "offset", ({"topic": at.topic, "partition": at.number, "offset": each} for at, each in offsets)
    if name == checkpoint.LEADER_EPOCHS:
        return "epoch", (each._asdict() for each in checkpoint.read_epochs(disk, path))
    if name == checkpoint.PARTITION_METADATA:
        topic_id = checkpoint.read_partition_metadata(disk, path)
        return "partition", iter([{"topic_id": topic_id and id_text(topic_id)}])
    if name == checkpoint.META_PROPERTIES:
        meta = checkpoint.read_meta(disk, path)
        return "directory", iter([meta._asdict()] if meta else [])
    if name == checkpoint.CLEAN_SHUTDOWN:
        return "clean shutdown", iter([{"broker_epoch": checkpoint.read_clean_shutdown(disk, path)}])
    raise StorageError(f"{path}: not a file of a data directory")


def _without_minus_one(numbers: Mapping[str, int]) -> dict[str, Json]:
    """-1 is how files say that there is none."""
    return {name: None if number == -1 else number for name, number in numbers.items()}


def _flags(header: BatchHeader) -> str | None:
    return " ".join(name for bit, name in _FLAGS if header.attributes & bit) or None


def _shown(data: bytes | None) -> Json:
    """Text where it is text."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
