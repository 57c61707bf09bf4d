"""Where share groups stand, for administrators (KIP-932).

DescribeShareGroupOffsets (key 90)
  v1  the lag (KIP-1226).

AlterShareGroupOffsets (key 91), DeleteShareGroupOffsets (key 92)
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Int16, Int32, Int64, Since, String, Uuid, message


@message
class DescribeOffsetsTopic:
    topic_name: String
    partitions: tuple[Int32, ...]


@message
class DescribeOffsetsGroup:
    group_id: String
    topics: tuple[DescribeOffsetsTopic, ...] | None


@message(versions=range(2), flexible=0)
class DescribeShareGroupOffsetsRequest:
    groups: tuple[DescribeOffsetsGroup, ...]


@message
class DescribedOffsetsPartition:
    partition_index: Int32
    start_offset: Int64
    leader_epoch: Int32
    lag: Annotated[Int64, Since(1)] = -1
    error_code: Int16
    error_message: String | None = None


@message
class DescribedOffsetsTopic:
    topic_name: String
    topic_id: Uuid
    partitions: tuple[DescribedOffsetsPartition, ...]


@message
class DescribedOffsetsGroup:
    group_id: String
    topics: tuple[DescribedOffsetsTopic, ...]
    error_code: Int16
    error_message: String | None = None


@message(versions=range(2), flexible=0)
class DescribeShareGroupOffsetsResponse:
    throttle_time_ms: Int32 = 0
    groups: tuple[DescribedOffsetsGroup, ...]


@message
class AlterOffsetsPartition:
    partition_index: Int32
    start_offset: Int64


@message
class AlterOffsetsTopic:
    topic_name: String
    partitions: tuple[AlterOffsetsPartition, ...]


@message(versions=range(1), flexible=0)
class AlterShareGroupOffsetsRequest:
    group_id: String
    topics: tuple[AlterOffsetsTopic, ...]


@message
class AlteredOffsetsPartition:
    partition_index: Int32
    error_code: Int16
    error_message: String | None = None


@message
class AlteredOffsetsTopic:
    topic_name: String
    topic_id: Uuid
    partitions: tuple[AlteredOffsetsPartition, ...]


@message(versions=range(1), flexible=0)
class AlterShareGroupOffsetsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    responses: tuple[AlteredOffsetsTopic, ...]


@message
class DeleteOffsetsTopic:
    topic_name: String


@message(versions=range(1), flexible=0)
class DeleteShareGroupOffsetsRequest:
    group_id: String
    topics: tuple[DeleteOffsetsTopic, ...]


@message
class DeletedOffsetsTopic:
    topic_name: String
    topic_id: Uuid
    error_code: Int16
    error_message: String | None = None


@message(versions=range(1), flexible=0)
class DeleteShareGroupOffsetsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    responses: tuple[DeletedOffsetsTopic, ...]
