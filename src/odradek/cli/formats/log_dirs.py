"""Data directories as `kafka-log-dirs --describe` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from odradek.cli.failures import said_as
from odradek.cli.formats.java_order import hash_of_partition, in_map
from odradek.client.failures import refusal
from odradek.model.ids import Partition

if TYPE_CHECKING:
    from odradek.cli.output import Row
    from odradek.wire.messages.reassign import DescribeLogDirsPartition, DescribeLogDirsResult


def described(brokers: Mapping[int, tuple[DescribeLogDirsResult, ...]], topics: Set[str]) -> Row:
    """`topics` are those to show; none given: all."""
    return {
        "brokers": [
            {"broker": id, "logDirs": [_directory(each, topics) for each in directories]}
            for id, directories in brokers.items()
        ],
        "version": 1,
    }


def replica_rows(brokers: Mapping[int, tuple[DescribeLogDirsResult, ...]], topics: Set[str]) -> Iterator[Row]:
    found = (
        (id, directory.log_dir, topic.name, each)
        for id, directories in brokers.items()
        for directory in directories
        for topic in directory.topics
        for each in topic.partitions
        if not topics or topic.name in topics
    )
    for id, directory, topic, each in found:
        yield {
            "broker": id,
            "directory": directory,
            "topic": topic,
            "partition": each.partition_index,
            "bytes": each.partition_size,
            "behind": each.offset_lag,
        }


def _directory(directory: DescribeLogDirsResult, topics: Set[str]) -> Row:
    refused = refusal(directory.error_code)
    replicas = {
        Partition(topic.name, each.partition_index): each
        for topic in directory.topics
        for each in topic.partitions
    }
    return {
        "partitions": [
            _replica(partition, replicas[partition])
            for partition in in_map(list(replicas), hash_of_partition)
            if not topics or partition.topic in topics
        ],
        "error": None if refused is None else said_as(refused),
        "logDir": directory.log_dir,
    }


def _replica(partition: Partition, replica: DescribeLogDirsPartition) -> Row:
    return {
        "partition": str(partition),
        "size": replica.partition_size,
        "offsetLag": replica.offset_lag,
        "isFuture": replica.is_future_key,
    }
