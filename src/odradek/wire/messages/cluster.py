"""Broker to broker where ZooKeeper keeps the cluster: the controller's orders, and the proposals to it.

LeaderAndIsr (key 4): lead these partitions, follow those.
  v1  says which partitions are new.          v2  grouped by topic; broker epochs (KIP-380).
  v3  reassignments (KIP-455).                v4  flexible versions.
  v5  topic ids; full or incremental.         v6  recovery after an unclean election (KIP-704).
  v7  a KRaft controller may send it (KIP-866).

StopReplica (key 5): stop, and perhaps delete.
  v1  grouped by topic; broker epochs.        v2  flexible versions.
  v3  each partition with its leader epoch and whether to delete it (KIP-570).
  v4  a KRaft controller may send it (KIP-866).

UpdateMetadata (key 6): what clients are to be told.
  v1  many endpoints a broker.                v2  racks.
  v3  named listeners (KIP-103).              v4  replicas that are offline (KIP-112).
  v5  grouped by topic; broker epochs.        v6  flexible versions.
  v7  topic ids (KIP-516).                    v8  a KRaft controller may send it (KIP-866).

ControlledShutdown (key 7): a broker wants to leave.
  v0  has request header v0, without a client id: the only request that does.
  v2  broker epochs.                          v3  flexible versions.

AlterPartition (key 56): a leader proposes who is in sync (KIP-497).
  v1  recovery after an unclean election.     v2  topics by id.
  v3  each member with its broker epoch (KIP-903).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Int64, Since, String, Tagged, Until, Uuid, message


@message
class LeaderAndIsrPartitionState:
    topic_name: Annotated[String, Until(1)] = ""
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32  # -1: none, -2: being deleted
    leader_epoch: Int32
    isr: tuple[Int32, ...]
    partition_epoch: Int32  # the version of its znode
    replicas: tuple[Int32, ...]
    adding_replicas: Annotated[tuple[Int32, ...], Since(3)] = ()
    removing_replicas: Annotated[tuple[Int32, ...], Since(3)] = ()
    is_new: Annotated[Bool, Since(1)] = False
    leader_recovery_state: Annotated[Int8, Since(6)] = 0  # 0 recovered, 1 recovering


@message
class LeaderAndIsrTopicState:
    topic_name: String
    topic_id: Annotated[Uuid, Since(5)] = bytes(16)
    partition_states: tuple[LeaderAndIsrPartitionState, ...]


@message
class LeaderAndIsrLiveLeader:
    broker_id: Int32
    host_name: String
    port: Int32


@message(versions=range(8), flexible=4)
class LeaderAndIsrRequest:
    controller_id: Int32
    is_k_raft_controller: Annotated[Bool, Since(7)] = False
    controller_epoch: Int32
    broker_epoch: Annotated[Int64, Since(2)] = -1  # -1: unknown
    type: Annotated[Int8, Since(5)] = 0  # 0 unknown, 1 incremental, 2 full
    ungrouped_partition_states: Annotated[tuple[LeaderAndIsrPartitionState, ...], Until(1)] = ()
    topic_states: Annotated[tuple[LeaderAndIsrTopicState, ...], Since(2)] = ()
    live_leaders: tuple[LeaderAndIsrLiveLeader, ...]


@message
class LeaderAndIsrPartitionError:
    topic_name: Annotated[String, Until(4)] = ""
    partition_index: Int32
    error_code: Int16


@message
class LeaderAndIsrTopicError:
    topic_id: Uuid
    partition_errors: tuple[LeaderAndIsrPartitionError, ...]


@message(versions=range(8), flexible=4)
class LeaderAndIsrResponse:
    error_code: Int16
    partition_errors: Annotated[tuple[LeaderAndIsrPartitionError, ...], Until(4)] = ()
    topics: Annotated[tuple[LeaderAndIsrTopicError, ...], Since(5)] = ()


@message
class StopReplicaPartitionV0:
    topic_name: String
    partition_index: Int32


@message
class StopReplicaTopicV1:
    name: String
    partition_indexes: tuple[Int32, ...]


@message
class StopReplicaPartitionState:
    partition_index: Int32
    leader_epoch: Int32 = -1  # -1: unknown, -2: being deleted
    delete_partition: Bool


@message
class StopReplicaTopicState:
    topic_name: String
    partition_states: tuple[StopReplicaPartitionState, ...]


@message(versions=range(5), flexible=2)
class StopReplicaRequest:
    controller_id: Int32
    is_k_raft_controller: Annotated[Bool, Since(4)] = False
    controller_epoch: Int32
    broker_epoch: Annotated[Int64, Since(1)] = -1
    delete_partitions: Annotated[Bool, Until(2)] = False
    ungrouped_partitions: Annotated[tuple[StopReplicaPartitionV0, ...], Until(0)] = ()
    topics: Annotated[tuple[StopReplicaTopicV1, ...], Since(1), Until(2)] = ()
    topic_states: Annotated[tuple[StopReplicaTopicState, ...], Since(3)] = ()


@message
class StopReplicaPartitionError:
    topic_name: String
    partition_index: Int32
    error_code: Int16


@message(versions=range(5), flexible=2)
class StopReplicaResponse:
    error_code: Int16
    partition_errors: tuple[StopReplicaPartitionError, ...]


@message
class UpdateMetadataPartitionState:
    topic_name: Annotated[String, Until(4)] = ""
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32  # -1: none, -2: being deleted
    leader_epoch: Int32
    isr: tuple[Int32, ...]
    zk_version: Int32  # the version of its znode: the partition epoch
    replicas: tuple[Int32, ...]
    offline_replicas: Annotated[tuple[Int32, ...], Since(4)] = ()


@message
class UpdateMetadataTopicState:
    topic_name: String
    topic_id: Annotated[Uuid, Since(7)] = bytes(16)
    partition_states: tuple[UpdateMetadataPartitionState, ...]


@message
class UpdateMetadataEndpoint:
    port: Int32
    host: String
    listener: Annotated[String, Since(3)] = ""
    security_protocol: Int16


@message
class UpdateMetadataBroker:
    id: Int32
    v0_host: Annotated[String, Until(0)] = ""
    v0_port: Annotated[Int32, Until(0)] = 0
    endpoints: Annotated[tuple[UpdateMetadataEndpoint, ...], Since(1)] = ()
    rack: Annotated[String | None, Since(2)] = ""


@message(versions=range(9), flexible=6)
class UpdateMetadataRequest:
    controller_id: Int32
    is_k_raft_controller: Annotated[Bool, Since(8)] = False
    type: Annotated[Int8, Tagged(0, since=8)] = 0  # 0 unknown, 1 incremental, 2 full
    controller_epoch: Int32
    broker_epoch: Annotated[Int64, Since(5)] = -1
    ungrouped_partition_states: Annotated[tuple[UpdateMetadataPartitionState, ...], Until(4)] = ()
    topic_states: Annotated[tuple[UpdateMetadataTopicState, ...], Since(5)] = ()
    live_brokers: tuple[UpdateMetadataBroker, ...]


@message(versions=range(9), flexible=6)
class UpdateMetadataResponse:
    error_code: Int16


@message(versions=range(4), flexible=3)
class ControlledShutdownRequest:
    broker_id: Int32
    broker_epoch: Annotated[Int64, Since(2)] = -1


@message
class RemainingPartition:
    topic_name: String
    partition_index: Int32


@message(versions=range(4), flexible=3)
class ControlledShutdownResponse:
    error_code: Int16
    remaining_partitions: tuple[RemainingPartition, ...]  # still led by the broker


@message
class BrokerState:
    broker_id: Int32
    broker_epoch: Int64 = -1


@message
class PartitionAlteration:
    partition_index: Int32
    leader_epoch: Int32
    new_isr: Annotated[tuple[Int32, ...], Until(2)] = ()
    new_isr_with_epochs: Annotated[tuple[BrokerState, ...], Since(3)] = ()
    leader_recovery_state: Annotated[Int8, Since(1)] = 0
    partition_epoch: Int32


@message
class AlterPartitionTopic:
    topic_name: Annotated[String, Until(1)] = ""
    topic_id: Annotated[Uuid, Since(2)] = bytes(16)
    partitions: tuple[PartitionAlteration, ...]


@message(versions=range(4), flexible=0)
class AlterPartitionRequest:
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: tuple[AlterPartitionTopic, ...]


@message
class AlteredPartition:
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: tuple[Int32, ...]
    leader_recovery_state: Annotated[Int8, Since(1)] = 0
    partition_epoch: Int32


@message
class AlteredTopic:
    topic_name: Annotated[String, Until(1)] = ""
    topic_id: Annotated[Uuid, Since(2)] = bytes(16)
    partitions: tuple[AlteredPartition, ...]


@message(versions=range(4), flexible=0)
class AlterPartitionResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    topics: tuple[AlteredTopic, ...]
