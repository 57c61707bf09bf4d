"""What the cluster is: versions, brokers, topics, leaders, coordinators.

ApiVersions (key 18): what may be asked. Its answer always has response header v0, as the client that
asks does not know yet what we speak; a version we do not have is answered in v0.
  v1  answers a throttle time.
  v3  flexible versions; client software (KIP-511) and features (KIP-584).
  v4  features may start at version 0.
  v5  the client says which cluster and node it means to reach (KIP-1242).

Metadata (key 3): brokers, topics and who leads each partition.
  v1   racks, controller, internal topics; all topics are asked for by null, no longer by an empty list.
  v2   cluster id.                            v3   answers a throttle time.
  v4   topics are created only if allowed.    v5   replicas that are offline.
  v7   leader epochs.                         v8   authorised operations (KIP-430).
  v9   flexible versions.                     v10  topic ids (KIP-516).
  v11  the cluster's authorised operations moved to DescribeCluster (KIP-700).
  v12  topics may be asked for by id.         v13  an error for all: start over (KIP-1102).

DescribeTopicPartitions (key 75): the same for many partitions, a page at a time (KIP-966).

FindCoordinator (key 10): which broker hosts a group, transactional id or share partition.
  v1  transactional ids too.                  v3  flexible versions.
  v4  many keys at once (KIP-699).            v5  may answer TRANSACTION_ABORTABLE (KIP-890).
  v6  share groups (KIP-932).

DescribeCluster (key 60): the brokers, for administrators (KIP-700).
  v1  brokers or controllers (KIP-919).       v2  fenced brokers on demand (KIP-1073).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableSince,
    Since,
    String,
    Tagged,
    Until,
    Uuid,
    message,
)


@message(versions=range(6), flexible=3)
class ApiVersionsRequest:
    client_software_name: Annotated[String, Since(3)] = ""
    client_software_version: Annotated[String, Since(3)] = ""
    cluster_id: Annotated[String | None, Since(5)] = None
    node_id: Annotated[Int32, Since(5)] = -1  # -1: any node


@message
class ApiVersion:
    api_key: Int16
    min_version: Int16
    max_version: Int16


@message
class SupportedFeature:
    name: String
    min_version: Int16
    max_version: Int16


@message
class FinalizedFeature:
    name: String
    max_version_level: Int16
    min_version_level: Int16


@message(versions=range(6), flexible=3)
class ApiVersionsResponse:
    error_code: Int16
    api_keys: tuple[ApiVersion, ...]
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    supported_features: Annotated[tuple[SupportedFeature, ...], Tagged(0, since=3)] = ()
    finalized_features_epoch: Annotated[Int64, Tagged(1, since=3)] = -1  # -1: unknown
    finalized_features: Annotated[tuple[FinalizedFeature, ...], Tagged(2, since=3)] = ()
    zk_migration_ready: Annotated[Bool, Tagged(3, since=3)] = False


@message
class MetadataRequestTopic:
    topic_id: Annotated[Uuid, Since(10)] = bytes(16)
    name: Annotated[String | None, NullableSince(10)]


@message(versions=range(14), flexible=9)
class MetadataRequest:
    topics: Annotated[tuple[MetadataRequestTopic, ...] | None, NullableSince(1)]  # null: all of them
    allow_auto_topic_creation: Annotated[Bool, Since(4)] = True
    include_cluster_authorized_operations: Annotated[Bool, Since(8), Until(10)] = False
    include_topic_authorized_operations: Annotated[Bool, Since(8)] = False


@message
class MetadataBroker:
    node_id: Int32
    host: String
    port: Int32
    rack: Annotated[String | None, Since(1)] = None


@message
class MetadataPartition:
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Annotated[Int32, Since(7)] = -1
    replica_nodes: tuple[Int32, ...]
    isr_nodes: tuple[Int32, ...]
    offline_replicas: Annotated[tuple[Int32, ...], Since(5)] = ()


@message
class MetadataTopic:
    error_code: Int16
    name: Annotated[String | None, NullableSince(12)]
    topic_id: Annotated[Uuid, Since(10)] = bytes(16)
    is_internal: Annotated[Bool, Since(1)] = False
    partitions: tuple[MetadataPartition, ...]
    # a bit set; the default: not asked for
    topic_authorized_operations: Annotated[Int32, Since(8)] = -(2**31)


@message(versions=range(14), flexible=9)
class MetadataResponse:
    throttle_time_ms: Annotated[Int32, Since(3)] = 0
    brokers: tuple[MetadataBroker, ...]
    cluster_id: Annotated[String | None, Since(2)] = None
    controller_id: Annotated[Int32, Since(1)] = -1
    topics: tuple[MetadataTopic, ...]
    # a bit set; the default: not asked for
    cluster_authorized_operations: Annotated[Int32, Since(8), Until(10)] = -(2**31)
    error_code: Annotated[Int16, Since(13)] = 0


@message
class TopicName:
    name: String


@message
class Cursor:
    topic_name: String
    partition_index: Int32


@message(versions=range(1), flexible=0)
class DescribeTopicPartitionsRequest:
    topics: tuple[TopicName, ...]
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = None  # where the last answer stopped


@message
class DescribedPartition:
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = -1
    replica_nodes: tuple[Int32, ...]
    isr_nodes: tuple[Int32, ...]
    eligible_leader_replicas: tuple[Int32, ...] | None = None
    last_known_elr: tuple[Int32, ...] | None = None  # ELR: eligible leader replicas
    offline_replicas: tuple[Int32, ...]


@message
class DescribedTopic:
    error_code: Int16
    name: String | None
    topic_id: Uuid
    is_internal: Bool = False
    partitions: tuple[DescribedPartition, ...]
    topic_authorized_operations: Int32 = -(2**31)  # a bit set; the default: not asked for


@message(versions=range(1), flexible=0)
class DescribeTopicPartitionsResponse:
    throttle_time_ms: Int32 = 0
    topics: tuple[DescribedTopic, ...]
    next_cursor: Cursor | None = None


@message(versions=range(7), flexible=3)
class FindCoordinatorRequest:
    key: Annotated[String, Until(3)] = ""
    key_type: Annotated[Int8, Since(1)] = 0  # 0 group, 1 transactional id, 2 share partition
    coordinator_keys: Annotated[tuple[String, ...], Since(4)] = ()


@message
class Coordinator:
    key: String
    node_id: Int32
    host: String
    port: Int32
    error_code: Int16
    error_message: String | None


@message(versions=range(7), flexible=3)
class FindCoordinatorResponse:
    throttle_time_ms: Annotated[Int32, Since(1)] = 0
    error_code: Annotated[Int16, Until(3)] = 0
    error_message: Annotated[String | None, Since(1), Until(3)] = ""
    node_id: Annotated[Int32, Until(3)] = 0
    host: Annotated[String, Until(3)] = ""
    port: Annotated[Int32, Until(3)] = 0
    coordinators: Annotated[tuple[Coordinator, ...], Since(4)] = ()


@message(versions=range(3), flexible=0)
class DescribeClusterRequest:
    include_cluster_authorized_operations: Bool
    endpoint_type: Annotated[Int8, Since(1)] = 1  # 1 brokers, 2 controllers
    include_fenced_brokers: Annotated[Bool, Since(2)] = False


@message
class DescribeClusterBroker:
    broker_id: Int32
    host: String
    port: Int32
    rack: String | None = None
    is_fenced: Annotated[Bool, Since(2)] = False


@message(versions=range(3), flexible=0)
class DescribeClusterResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None = None
    endpoint_type: Annotated[Int8, Since(1)] = 1
    cluster_id: String
    controller_id: Int32 = -1
    brokers: tuple[DescribeClusterBroker, ...]
    cluster_authorized_operations: Int32 = -(2**31)  # a bit set; the default: not asked for
