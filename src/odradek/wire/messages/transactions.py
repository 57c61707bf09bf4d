"""Producer ids, and the life of a transaction.

InitProducerId (key 22): a new producer id, or a new epoch of the one that is known.
  v2  flexible versions.                      v3  a producer may bump its own epoch (KIP-360).
  v4  may answer PRODUCER_FENCED.             v5  may answer TRANSACTION_ABORTABLE (KIP-890).
  v6  transactions in two phases (KIP-939).

AddPartitionsToTxn (key 24)
  v2  may answer PRODUCER_FENCED.             v3  flexible versions.
  v4  brokers verify many transactions at once (KIP-890); clients stay with v3's fields.
  v5  may answer TRANSACTION_ABORTABLE (KIP-890).

AddOffsetsToTxn (key 25), EndTxn (key 26)
  v2  may answer PRODUCER_FENCED.             v3  flexible versions.
  v4  may answer TRANSACTION_ABORTABLE.       v5  EndTxn: each transaction gets a new epoch (KIP-890).

WriteTxnMarkers (key 27): coordinator to leaders.
  v1  flexible versions.                      v2  the transaction's version.

DescribeTransactions (key 65), DescribeProducers (key 61): for finding what hangs (KIP-664).

ListTransactions (key 66)
  v1  by how long they run (KIP-994).         v2  by pattern (KIP-1152).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Int64, Since, String, Until, message


@message(versions=range(7), flexible=2)
class InitProducerIdRequest:
    transactional_id: String | None  # null: idempotence only
    transaction_timeout_ms: Int32
    producer_id: Annotated[Int64, Since(3)] = -1
    producer_epoch: Annotated[Int16, Since(3)] = -1
    enable2_pc: Annotated[Bool, Since(6)] = False
    keep_prepared_txn: Annotated[Bool, Since(6)] = False


@message(versions=range(7), flexible=2)
class InitProducerIdResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    producer_id: Int64 = -1
    producer_epoch: Int16
    ongoing_txn_producer_id: Annotated[Int64, Since(6)] = -1
    ongoing_txn_producer_epoch: Annotated[Int16, Since(6)] = -1


@message
class AddPartitionsToTxnTopic:
    name: String
    partitions: tuple[Int32, ...]


@message
class AddPartitionsToTxnTransaction:
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    verify_only: Bool = False  # do not add, only say whether they were
    topics: tuple[AddPartitionsToTxnTopic, ...]


@message(versions=range(6), flexible=3)
class AddPartitionsToTxnRequest:
    transactions: Annotated[tuple[AddPartitionsToTxnTransaction, ...], Since(4)] = ()
    v3_and_below_transactional_id: Annotated[String, Until(3)] = ""
    v3_and_below_producer_id: Annotated[Int64, Until(3)] = 0
    v3_and_below_producer_epoch: Annotated[Int16, Until(3)] = 0
    v3_and_below_topics: Annotated[tuple[AddPartitionsToTxnTopic, ...], Until(3)] = ()


@message
class AddPartitionsToTxnPartitionResult:
    partition_index: Int32
    partition_error_code: Int16


@message
class AddPartitionsToTxnTopicResult:
    name: String
    results_by_partition: tuple[AddPartitionsToTxnPartitionResult, ...]


@message
class AddPartitionsToTxnResult:
    transactional_id: String
    topic_results: tuple[AddPartitionsToTxnTopicResult, ...]


@message(versions=range(6), flexible=3)
class AddPartitionsToTxnResponse:
    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, Since(4)] = 0
    results_by_transaction: Annotated[tuple[AddPartitionsToTxnResult, ...], Since(4)] = ()
    results_by_topic_v3_and_below: Annotated[tuple[AddPartitionsToTxnTopicResult, ...], Until(3)] = ()


@message(versions=range(5), flexible=3)
class AddOffsetsToTxnRequest:
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    group_id: String


@message(versions=range(5), flexible=3)
class AddOffsetsToTxnResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16


@message(versions=range(6), flexible=3)
class EndTxnRequest:
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    committed: Bool  # or else aborted


@message(versions=range(6), flexible=3)
class EndTxnResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    producer_id: Annotated[Int64, Since(5)] = -1
    producer_epoch: Annotated[Int16, Since(5)] = -1


@message
class WritableTxnMarkerTopic:
    name: String
    partition_indexes: tuple[Int32, ...]


@message
class WritableTxnMarker:
    producer_id: Int64
    producer_epoch: Int16
    transaction_result: Bool  # true: committed
    topics: tuple[WritableTxnMarkerTopic, ...]
    coordinator_epoch: Int32
    transaction_version: Annotated[Int8, Since(2)] = 0


@message(versions=range(3), flexible=1)
class WriteTxnMarkersRequest:
    markers: tuple[WritableTxnMarker, ...]


@message
class WritableTxnMarkerPartitionResult:
    partition_index: Int32
    error_code: Int16


@message
class WritableTxnMarkerTopicResult:
    name: String
    partitions: tuple[WritableTxnMarkerPartitionResult, ...]


@message
class WritableTxnMarkerResult:
    producer_id: Int64
    topics: tuple[WritableTxnMarkerTopicResult, ...]


@message(versions=range(3), flexible=1)
class WriteTxnMarkersResponse:
    markers: tuple[WritableTxnMarkerResult, ...]


@message(versions=range(1), flexible=0)
class DescribeTransactionsRequest:
    transactional_ids: tuple[String, ...]


@message
class TransactionTopic:
    topic: String
    partitions: tuple[Int32, ...]


@message
class DescribedTransaction:
    error_code: Int16
    transactional_id: String
    transaction_state: String
    transaction_timeout_ms: Int32
    transaction_start_time_ms: Int64
    producer_id: Int64
    producer_epoch: Int16
    topics: tuple[TransactionTopic, ...]


@message(versions=range(1), flexible=0)
class DescribeTransactionsResponse:
    throttle_time_ms: Int32 = 0
    transaction_states: tuple[DescribedTransaction, ...]


@message(versions=range(3), flexible=0)
class ListTransactionsRequest:
    state_filters: tuple[String, ...]
    producer_id_filters: tuple[Int64, ...]
    duration_filter: Annotated[Int64, Since(1)] = -1  # in ms; -1: all
    transactional_id_pattern: Annotated[String | None, Since(2)] = None  # null: all


@message
class ListedTransaction:
    transactional_id: String
    producer_id: Int64
    transaction_state: String


@message(versions=range(3), flexible=0)
class ListTransactionsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    unknown_state_filters: tuple[String, ...]
    transaction_states: tuple[ListedTransaction, ...]


@message
class DescribeProducersTopic:
    name: String
    partition_indexes: tuple[Int32, ...]


@message(versions=range(1), flexible=0)
class DescribeProducersRequest:
    topics: tuple[DescribeProducersTopic, ...]


@message
class ProducerState:
    producer_id: Int64
    producer_epoch: Int32
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32
    current_txn_start_offset: Int64 = -1  # -1: no transaction is open


@message
class DescribeProducersPartitionResponse:
    partition_index: Int32
    error_code: Int16
    error_message: String | None = None
    active_producers: tuple[ProducerState, ...]


@message
class DescribeProducersTopicResponse:
    name: String
    partitions: tuple[DescribeProducersPartitionResponse, ...]


@message(versions=range(1), flexible=0)
class DescribeProducersResponse:
    throttle_time_ms: Int32 = 0
    topics: tuple[DescribeProducersTopicResponse, ...]
