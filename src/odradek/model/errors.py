"""The error-code table, and the three kinds of failure.

The client is refused (`ApiError`, answered), the world failed (`StorageError`: the log directory goes
offline, the broker lives on), or the program is wrong (`AssertionError`: the node stops). No fourth kind.
"""

from __future__ import annotations

from enum import Enum


class ErrorCode(Enum):
    """Every error a reply can carry: its number on the wire, whether trying again may help, and whether the
    client should fetch metadata first."""

    UNKNOWN_SERVER_ERROR = (-1, False, False)
    NONE = (0, False, False)
    OFFSET_OUT_OF_RANGE = (1, False, False)
    CORRUPT_MESSAGE = (2, True, False)
    UNKNOWN_TOPIC_OR_PARTITION = (3, True, True)
    INVALID_FETCH_SIZE = (4, False, False)
    LEADER_NOT_AVAILABLE = (5, True, True)
    NOT_LEADER_OR_FOLLOWER = (6, True, True)
    REQUEST_TIMED_OUT = (7, True, False)
    BROKER_NOT_AVAILABLE = (8, False, False)
    REPLICA_NOT_AVAILABLE = (9, True, True)
    MESSAGE_TOO_LARGE = (10, False, False)
    STALE_CONTROLLER_EPOCH = (11, False, False)
    OFFSET_METADATA_TOO_LARGE = (12, False, False)
    NETWORK_EXCEPTION = (13, True, True)
    COORDINATOR_LOAD_IN_PROGRESS = (14, True, False)
    COORDINATOR_NOT_AVAILABLE = (15, True, False)
    NOT_COORDINATOR = (16, True, False)
    INVALID_TOPIC_EXCEPTION = (17, False, False)
    RECORD_LIST_TOO_LARGE = (18, False, False)
    NOT_ENOUGH_REPLICAS = (19, True, False)
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (20, True, False)
    INVALID_REQUIRED_ACKS = (21, False, False)
    ILLEGAL_GENERATION = (22, False, False)
    INCONSISTENT_GROUP_PROTOCOL = (23, False, False)
    INVALID_GROUP_ID = (24, False, False)
    UNKNOWN_MEMBER_ID = (25, False, False)
    INVALID_SESSION_TIMEOUT = (26, False, False)
    REBALANCE_IN_PROGRESS = (27, False, False)
    INVALID_COMMIT_OFFSET_SIZE = (28, False, False)
    TOPIC_AUTHORIZATION_FAILED = (29, False, False)
    GROUP_AUTHORIZATION_FAILED = (30, False, False)
    CLUSTER_AUTHORIZATION_FAILED = (31, False, False)
    INVALID_TIMESTAMP = (32, False, False)
    UNSUPPORTED_SASL_MECHANISM = (33, False, False)
    ILLEGAL_SASL_STATE = (34, False, False)
    UNSUPPORTED_VERSION = (35, False, False)
    TOPIC_ALREADY_EXISTS = (36, False, False)
    INVALID_PARTITIONS = (37, False, False)
    INVALID_REPLICATION_FACTOR = (38, False, False)
    INVALID_REPLICA_ASSIGNMENT = (39, False, False)
    INVALID_CONFIG = (40, False, False)
    NOT_CONTROLLER = (41, True, False)
    INVALID_REQUEST = (42, False, False)
    UNSUPPORTED_FOR_MESSAGE_FORMAT = (43, False, False)
    POLICY_VIOLATION = (44, False, False)
    OUT_OF_ORDER_SEQUENCE_NUMBER = (45, False, False)
    DUPLICATE_SEQUENCE_NUMBER = (46, False, False)
    INVALID_PRODUCER_EPOCH = (47, False, False)
    INVALID_TXN_STATE = (48, False, False)
    INVALID_PRODUCER_ID_MAPPING = (49, False, False)
    INVALID_TRANSACTION_TIMEOUT = (50, False, False)
    CONCURRENT_TRANSACTIONS = (51, True, False)
    TRANSACTION_COORDINATOR_FENCED = (52, False, False)
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = (53, False, False)
    SECURITY_DISABLED = (54, False, False)
    OPERATION_NOT_ATTEMPTED = (55, False, False)
    KAFKA_STORAGE_ERROR = (56, True, True)
    LOG_DIR_NOT_FOUND = (57, False, False)
    SASL_AUTHENTICATION_FAILED = (58, False, False)
    UNKNOWN_PRODUCER_ID = (59, False, False)
    REASSIGNMENT_IN_PROGRESS = (60, False, False)
    DELEGATION_TOKEN_AUTH_DISABLED = (61, False, False)
    DELEGATION_TOKEN_NOT_FOUND = (62, False, False)
    DELEGATION_TOKEN_OWNER_MISMATCH = (63, False, False)
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (64, False, False)
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = (65, False, False)
    DELEGATION_TOKEN_EXPIRED = (66, False, False)
    INVALID_PRINCIPAL_TYPE = (67, False, False)
    NON_EMPTY_GROUP = (68, False, False)
    GROUP_ID_NOT_FOUND = (69, False, False)
    FETCH_SESSION_ID_NOT_FOUND = (70, True, False)
    INVALID_FETCH_SESSION_EPOCH = (71, True, False)
    LISTENER_NOT_FOUND = (72, True, True)
    TOPIC_DELETION_DISABLED = (73, False, False)
    FENCED_LEADER_EPOCH = (74, True, True)
    UNKNOWN_LEADER_EPOCH = (75, True, False)
    UNSUPPORTED_COMPRESSION_TYPE = (76, False, False)
    STALE_BROKER_EPOCH = (77, False, False)
    OFFSET_NOT_AVAILABLE = (78, True, False)
    MEMBER_ID_REQUIRED = (79, False, False)
    PREFERRED_LEADER_NOT_AVAILABLE = (80, True, True)
    GROUP_MAX_SIZE_REACHED = (81, False, False)
    FENCED_INSTANCE_ID = (82, False, False)
    ELIGIBLE_LEADERS_NOT_AVAILABLE = (83, True, True)
    ELECTION_NOT_NEEDED = (84, True, True)
    NO_REASSIGNMENT_IN_PROGRESS = (85, False, False)
    GROUP_SUBSCRIBED_TO_TOPIC = (86, False, False)
    INVALID_RECORD = (87, False, False)
    UNSTABLE_OFFSET_COMMIT = (88, True, False)
    THROTTLING_QUOTA_EXCEEDED = (89, True, False)
    PRODUCER_FENCED = (90, False, False)
    RESOURCE_NOT_FOUND = (91, False, False)
    DUPLICATE_RESOURCE = (92, False, False)
    UNACCEPTABLE_CREDENTIAL = (93, False, False)
    INCONSISTENT_VOTER_SET = (94, False, False)
    INVALID_UPDATE_VERSION = (95, False, False)
    FEATURE_UPDATE_FAILED = (96, False, False)
    PRINCIPAL_DESERIALIZATION_FAILURE = (97, False, False)
    SNAPSHOT_NOT_FOUND = (98, False, False)
    POSITION_OUT_OF_RANGE = (99, False, False)
    UNKNOWN_TOPIC_ID = (100, True, True)
    DUPLICATE_BROKER_REGISTRATION = (101, False, False)
    BROKER_ID_NOT_REGISTERED = (102, False, False)
    INCONSISTENT_TOPIC_ID = (103, True, True)
    INCONSISTENT_CLUSTER_ID = (104, False, False)
    TRANSACTIONAL_ID_NOT_FOUND = (105, False, False)
    FETCH_SESSION_TOPIC_ID_ERROR = (106, True, False)
    INELIGIBLE_REPLICA = (107, False, False)
    NEW_LEADER_ELECTED = (108, False, False)
    OFFSET_MOVED_TO_TIERED_STORAGE = (109, False, False)
    FENCED_MEMBER_EPOCH = (110, False, False)
    UNRELEASED_INSTANCE_ID = (111, False, False)
    UNSUPPORTED_ASSIGNOR = (112, False, False)
    STALE_MEMBER_EPOCH = (113, False, False)
    MISMATCHED_ENDPOINT_TYPE = (114, False, False)
    UNSUPPORTED_ENDPOINT_TYPE = (115, False, False)
    UNKNOWN_CONTROLLER_ID = (116, False, False)
    UNKNOWN_SUBSCRIPTION_ID = (117, False, False)
    TELEMETRY_TOO_LARGE = (118, False, False)
    INVALID_REGISTRATION = (119, False, False)
    TRANSACTION_ABORTABLE = (120, False, False)
    INVALID_RECORD_STATE = (121, False, False)
    SHARE_SESSION_NOT_FOUND = (122, True, False)
    INVALID_SHARE_SESSION_EPOCH = (123, True, False)
    FENCED_STATE_EPOCH = (124, False, False)
    INVALID_VOTER_KEY = (125, False, False)
    DUPLICATE_VOTER = (126, False, False)
    VOTER_NOT_FOUND = (127, False, False)
    INVALID_REGULAR_EXPRESSION = (128, False, False)
    REBOOTSTRAP_REQUIRED = (129, False, False)
    STREAMS_INVALID_TOPOLOGY = (130, False, False)
    STREAMS_INVALID_TOPOLOGY_EPOCH = (131, False, False)
    STREAMS_TOPOLOGY_FENCED = (132, False, False)
    SHARE_SESSION_LIMIT_REACHED = (133, True, False)
    GROUP_DELETION_FAILED = (134, False, False)
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = (135, False, False)
    CONTROLLER_ID_NOT_REGISTERED = (136, False, False)

    def __init__(self, code: int, retriable: bool, refreshes_metadata: bool) -> None:
        self.code = code
        self.retriable = retriable
        self.refreshes_metadata = refreshes_metadata

    @staticmethod
    def of(code: int) -> ErrorCode:
        """The error of this number; a number from a newer peer is an unknown server error."""
        return _BY_CODE.get(code, ErrorCode.UNKNOWN_SERVER_ERROR)


_BY_CODE = {error.code: error for error in ErrorCode}


class ApiError(Exception):
    """The client asked for something we refuse. Expected; answered, never logged as a fault."""

    def __init__(self, error: ErrorCode, detail: str = "") -> None:
        super().__init__(f"{error.name}: {detail}" if detail else error.name)
        self.error = error
        self.detail = detail


class StorageError(Exception):
    """A disk failed or lied. The log directory goes offline; the broker lives on."""
