"""Where replicas live and who leads: elections, reassignments, log directories.

ElectLeaders (key 43)
  v1  unclean elections too; an error for all (KIP-460).
  v2  flexible versions.

AlterPartitionReassignments (key 45), ListPartitionReassignments (key 46): KIP-455.
  v1  the first: may insist that the replication factor stays (KIP-860).

AlterReplicaLogDirs (key 34): move replicas between directories of one broker (KIP-113).
  v2  flexible versions.

DescribeLogDirs (key 35)
  v2  flexible versions.                      v3  an error for all.
  v4  bytes on the disk (KIP-827).            v5  directories that take no new replicas (KIP-1066).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Int64, Since, String, message


@message
class ElectionTopic:
    topic: String
    partitions: tuple[Int32, ...]


@message(versions=range(3), flexible=2)
class ElectLeadersRequest:
    election_type: Annotated[Int8, Since(1)] = 0  # 0 preferred, 1 unclean
    topic_partitions: tuple[ElectionTopic, ...] | None  # null: all of them
    timeout_ms: Int32 = 60000


@message
class PartitionElectionResult:
    partition_id: Int32
    error_code: Int16
    error_message: String | None


@message
class ReplicaElectionResult:
    topic: String
    partition_result: tuple[PartitionElectionResult, ...]


@message(versions=range(3), flexible=2)
class ElectLeadersResponse:
    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, Since(1)] = 0
    replica_election_results: tuple[ReplicaElectionResult, ...]


@message
class ReassignablePartition:
    partition_index: Int32
    replicas: tuple[Int32, ...] | None = None  # null: cancel


@message
class ReassignableTopic:
    name: String
    partitions: tuple[ReassignablePartition, ...]


@message(versions=range(2), flexible=0)
class AlterPartitionReassignmentsRequest:
    timeout_ms: Int32 = 60000
    allow_replication_factor_change: Annotated[Bool, Since(1)] = True
    topics: tuple[ReassignableTopic, ...]


@message
class ReassignablePartitionResponse:
    partition_index: Int32
    error_code: Int16
    error_message: String | None


@message
class ReassignableTopicResponse:
    name: String
    partitions: tuple[ReassignablePartitionResponse, ...]


@message(versions=range(2), flexible=0)
class AlterPartitionReassignmentsResponse:
    throttle_time_ms: Int32 = 0
    allow_replication_factor_change: Annotated[Bool, Since(1)] = True
    error_code: Int16
    error_message: String | None
    responses: tuple[ReassignableTopicResponse, ...]


@message
class ListReassignmentsTopic:
    name: String
    partition_indexes: tuple[Int32, ...]


@message(versions=range(1), flexible=0)
class ListPartitionReassignmentsRequest:
    timeout_ms: Int32 = 60000
    topics: tuple[ListReassignmentsTopic, ...] | None = None  # null: all of them


@message
class OngoingPartitionReassignment:
    partition_index: Int32
    replicas: tuple[Int32, ...]
    adding_replicas: tuple[Int32, ...]
    removing_replicas: tuple[Int32, ...]


@message
class OngoingTopicReassignment:
    name: String
    partitions: tuple[OngoingPartitionReassignment, ...]


@message(versions=range(1), flexible=0)
class ListPartitionReassignmentsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None
    topics: tuple[OngoingTopicReassignment, ...]


@message
class AlterReplicaLogDirTopic:
    name: String
    partitions: tuple[Int32, ...]


@message
class AlterReplicaLogDir:
    path: String
    topics: tuple[AlterReplicaLogDirTopic, ...]


@message(versions=range(3), flexible=2)
class AlterReplicaLogDirsRequest:
    dirs: tuple[AlterReplicaLogDir, ...]


@message
class AlterReplicaLogDirPartitionResult:
    partition_index: Int32
    error_code: Int16


@message
class AlterReplicaLogDirTopicResult:
    topic_name: String
    partitions: tuple[AlterReplicaLogDirPartitionResult, ...]


@message(versions=range(3), flexible=2)
class AlterReplicaLogDirsResponse:
    throttle_time_ms: Int32 = 0
    results: tuple[AlterReplicaLogDirTopicResult, ...]


@message
class DescribableLogDirTopic:
    topic: String
    partitions: tuple[Int32, ...]


@message(versions=range(6), flexible=2)
class DescribeLogDirsRequest:
    topics: tuple[DescribableLogDirTopic, ...] | None  # null: all of them


@message
class DescribeLogDirsPartition:
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64  # a future log's: behind the current one; else: behind the high watermark
    is_future_key: Bool  # a replica on its way into this directory


@message
class DescribeLogDirsTopic:
    name: String
    partitions: tuple[DescribeLogDirsPartition, ...]


@message
class DescribeLogDirsResult:
    error_code: Int16
    log_dir: String
    topics: tuple[DescribeLogDirsTopic, ...]
    total_bytes: Annotated[Int64, Since(4)] = -1  # -1: unknown
    usable_bytes: Annotated[Int64, Since(4)] = -1
    is_cordoned: Annotated[Bool, Since(5)] = False


@message(versions=range(6), flexible=2)
class DescribeLogDirsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, Since(3)] = 0
    results: tuple[DescribeLogDirsResult, ...]
