"""What a 4.x broker passes on to its KRaft controllers. Declared for our clients; we answer none of it.

DescribeQuorum (key 55)
  v1  when each replica last fetched and was caught up (KIP-836).
  v2  directories, nodes, error messages (KIP-853).

AddRaftVoter (key 80), RemoveRaftVoter (key 81): KIP-853.
  v1  adding: answer before it is committed.

UnregisterBroker (key 64), UnregisterController (key 94)
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int16, Int32, Int64, Since, String, UInt16, Uuid, message


@message
class QuorumPartition:
    partition_index: Int32


@message
class QuorumTopic:
    topic_name: String
    partitions: tuple[QuorumPartition, ...]


@message(versions=range(3), flexible=0)
class DescribeQuorumRequest:
    topics: tuple[QuorumTopic, ...]


@message
class QuorumReplica:
    replica_id: Int32
    replica_directory_id: Annotated[Uuid, Since(2)] = bytes(16)
    log_end_offset: Int64
    last_fetch_timestamp: Annotated[Int64, Since(1)] = -1  # -1: unknown
    last_caught_up_timestamp: Annotated[Int64, Since(1)] = -1


@message
class DescribedQuorumPartition:
    partition_index: Int32
    error_code: Int16
    error_message: Annotated[String | None, Since(2)] = ""
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]


@message
class DescribedQuorumTopic:
    topic_name: String
    partitions: tuple[DescribedQuorumPartition, ...]


@message
class Listener:
    name: String
    host: String
    port: UInt16


@message
class QuorumNode:
    node_id: Int32
    listeners: tuple[Listener, ...]


@message(versions=range(3), flexible=0)
class DescribeQuorumResponse:
    error_code: Int16
    error_message: Annotated[String | None, Since(2)] = ""
    topics: tuple[DescribedQuorumTopic, ...]
    nodes: Annotated[tuple[QuorumNode, ...], Since(2)] = ()


@message(versions=range(2), flexible=0)
class AddRaftVoterRequest:
    cluster_id: String | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: tuple[Listener, ...]
    ack_when_committed: Annotated[Bool, Since(1)] = True


@message(versions=range(2), flexible=0)
class AddRaftVoterResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None


@message(versions=range(1), flexible=0)
class RemoveRaftVoterRequest:
    cluster_id: String | None
    voter_id: Int32
    voter_directory_id: Uuid


@message(versions=range(1), flexible=0)
class RemoveRaftVoterResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None


@message(versions=range(1), flexible=0)
class UnregisterBrokerRequest:
    broker_id: Int32


@message(versions=range(1), flexible=0)
class UnregisterBrokerResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None


@message(versions=range(1), flexible=0)
class UnregisterControllerRequest:
    controller_id: Int32


@message(versions=range(1), flexible=0)
class UnregisterControllerResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None
