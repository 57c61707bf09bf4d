"""Who leads and holds partitions is the controller's to change; in which directory a replica lies is ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.model.ids import BrokerId, Partition
from odradek.wire.messages.reassign import (
    AlterPartitionReassignmentsResponse,
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
    ElectLeadersResponse,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
    PartitionElectionResult,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.log.directory import DataDirectory
    from odradek.log.log import PartitionLog
    from odradek.model.image import ClusterImage
    from odradek.wire.messages.reassign import (
        AlterPartitionReassignmentsRequest,
        AlterReplicaLogDirsRequest,
        DescribeLogDirsRequest,
        ElectLeadersRequest,
        ListPartitionReassignmentsRequest,
    )

Value = TypeVar("Value")
Results = Mapping[Partition, "ApiError | None"]


class Election(Enum):
    """The number is the one on the wire."""

    PREFERRED = 0
    UNCLEAN = 1


# -- ElectLeaders ------------------------------------------------------------------------------------------


async def elect_leaders(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    ctx.require_controller()
    if request.election_type not in (Election.PREFERRED.value, Election.UNCLEAN.value):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"unknown election type {request.election_type}")
    partitions = _to_elect(ctx, request)
    if request.election_type == Election.UNCLEAN.value:
        results = await ctx.services.controller.ask(lambda machine: machine.elect_unclean(partitions))
    else:
        results = await ctx.services.controller.ask(lambda machine: machine.elect_preferred(partitions))
    results = await _until_led(ctx, results, request.timeout_ms)
    if request.topic_partitions is None:  # of all there are, only those count that needed it
        results = {
            each: refusal
            for each, refusal in results.items()
            if refusal is None or refusal.error is not ErrorCode.ELECTION_NOT_NEEDED
        }
    return _elected(results)


def refuse_elect_leaders(request: ElectLeadersRequest, refusal: ApiError) -> ElectLeadersResponse:
    asked = [
        Partition(topic.topic, number)
        for topic in request.topic_partitions or ()
        for number in topic.partitions
    ]
    return _elected(dict.fromkeys(asked, refusal), refusal.error)


def _to_elect(ctx: RequestContext, request: ElectLeadersRequest) -> list[Partition]:
    if request.topic_partitions is None:
        topics = ctx.services.metadata.image.topics.values()
        return [Partition(topic.name, number) for topic in topics for number in topic.partitions]
    asked = (
        Partition(topic.topic, number) for topic in request.topic_partitions for number in topic.partitions
    )
    return list(dict.fromkeys(asked))


async def _until_led(ctx: RequestContext, results: Results, timeout_ms: int) -> Results:
    """Wait until everybody here is told of the new leaders; too late for some: so they learn."""
    services = ctx.services
    machine = services.controller.machine
    if machine is None:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    elected = {
        partition: state.leader
        for partition, refusal in results.items()
        if refusal is None and (state := machine.image.partition(partition)) is not None
    }

    def shows(partition: Partition) -> bool:
        state = services.metadata.image.partition(partition)
        return state is None or state.leader == elected[partition]

    if timeout_ms > 0:
        await services.topics.until(lambda: all(map(shows, elected)), timeout_ms / 1000)
    late = ApiError(ErrorCode.REQUEST_TIMED_OUT)
    return {**results, **{partition: late for partition in elected if not shows(partition)}}


def _elected(results: Results, error: ErrorCode = ErrorCode.NONE) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=error.code,
        replica_election_results=tuple(
            ReplicaElectionResult(
                topic=topic,
                partition_result=tuple(
                    PartitionElectionResult(
                        partition_id=number, error_code=_code(refusal), error_message=_message(refusal)
                    )
                    for number, refusal in partitions
                ),
            )
            for topic, partitions in _by_topic(results)
        ),
    )


# -- AlterPartitionReassignments ---------------------------------------------------------------------------


async def alter_partition_reassignments(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    ctx.require_controller()
    wanted = {
        Partition(topic.name, each.partition_index): (
            None if each.replicas is None else tuple(map(BrokerId, each.replicas))
        )
        for topic in request.topics
        for each in topic.partitions
    }
    refused = {} if request.allow_replication_factor_change else _resizing(ctx, wanted)
    kept = {partition: brokers for partition, brokers in wanted.items() if partition not in refused}
    results = await ctx.services.controller.ask(lambda machine: machine.reassign(kept))
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=0,
        error_message="",
        responses=tuple(
            ReassignableTopicResponse(
                name=topic,
                partitions=tuple(
                    ReassignablePartitionResponse(
                        partition_index=number, error_code=_code(refusal), error_message=_message(refusal)
                    )
                    for number, refusal in partitions
                ),
            )
            for topic, partitions in _by_topic({**results, **refused})
        ),
    )


def refuse_alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, refusal: ApiError
) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=refusal.error.code,
        error_message=refusal.detail or None,
        responses=(),
    )


def _resizing(
    ctx: RequestContext, wanted: Mapping[Partition, tuple[BrokerId, ...] | None]
) -> dict[Partition, ApiError | None]:
    """Those that would change how many replicas a partition has."""
    refused: dict[Partition, ApiError | None] = {}
    for partition, brokers in wanted.items():
        state = ctx.services.metadata.image.partition(partition)
        if state is None or not brokers:
            continue
        staying = len(state.replicas) - len(state.adding)
        if len(brokers) != staying:
            refused[partition] = ApiError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"The replication factor is changed from {staying} to {len(brokers)}",
            )
    return refused


# -- ListPartitionReassignments ----------------------------------------------------------------------------


def list_partition_reassignments(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    machine = ctx.services.controller.machine
    if machine is None:
        raise ApiError(ErrorCode.NOT_CONTROLLER, "This is not the correct controller for this cluster.")
    ongoing = dict(_ongoing(machine.image, request))
    return ListPartitionReassignmentsResponse(
        error_code=0,
        error_message="",
        topics=tuple(
            OngoingTopicReassignment(name=topic, partitions=tuple(each for _, each in partitions))
            for topic, partitions in _by_topic(ongoing)
        ),
    )


def _ongoing(
    image: ClusterImage, request: ListPartitionReassignmentsRequest
) -> Iterator[tuple[Partition, OngoingPartitionReassignment]]:
    asked: Iterable[Partition]
    if request.topics is None:
        asked = (Partition(topic.name, each) for topic in image.topics.values() for each in topic.partitions)
    else:
        asked = (Partition(topic.name, each) for topic in request.topics for each in topic.partition_indexes)
    for partition in asked:
        state = image.partition(partition)
        if state is not None and (state.adding or state.removing):
            yield (
                partition,
                OngoingPartitionReassignment(
                    partition_index=partition.number,
                    replicas=state.replicas,
                    adding_replicas=state.adding,
                    removing_replicas=state.removing,
                ),
            )


# -- DescribeLogDirs ---------------------------------------------------------------------------------------


def describe_log_dirs(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    wanted = None
    if request.topics is not None:
        wanted = {Partition(topic.topic, number) for topic in request.topics for number in topic.partitions}
    return DescribeLogDirsResponse(
        error_code=0,
        results=tuple(_described(ctx, directory, wanted) for directory in ctx.services.directories),
    )


def _described(
    ctx: RequestContext, directory: DataDirectory, wanted: set[Partition] | None
) -> DescribeLogDirsResult:
    try:
        if directory.failure is not None:
            raise StorageError(directory.failure)
        space = directory.space()
    except StorageError:
        return DescribeLogDirsResult(
            error_code=ErrorCode.KAFKA_STORAGE_ERROR.code, log_dir=directory.path, topics=()
        )
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for partition, log in _logs(ctx, directory, wanted):
        topics.setdefault(partition.topic, []).append(log)
    return DescribeLogDirsResult(
        error_code=0,
        log_dir=directory.path,
        topics=tuple(
            DescribeLogDirsTopic(name=name, partitions=tuple(partitions))
            for name, partitions in topics.items()
        ),
        total_bytes=space.total,
        usable_bytes=space.usable,
    )


def _logs(
    ctx: RequestContext, directory: DataDirectory, wanted: set[Partition] | None
) -> Iterator[tuple[Partition, DescribeLogDirsPartition]]:
    for partition, log in directory.logs.items():
        if wanted is None or partition in wanted:
            yield partition, _log(partition, log, max(log.high_watermark - log.log_end, 0), is_future=False)
    for partition, log in directory.futures.items():
        if wanted is None or partition in wanted:
            serving = ctx.services.directories.log(partition)
            end = log.log_end if serving is None else serving.log_end
            yield partition, _log(partition, log, max(end - log.log_end, 0), is_future=True)


def _log(partition: Partition, log: PartitionLog, lag: int, *, is_future: bool) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=partition.number, partition_size=log.size, offset_lag=lag, is_future_key=is_future
    )


# -- AlterReplicaLogDirs -----------------------------------------------------------------------------------


def alter_replica_log_dirs(
    ctx: RequestContext, request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    wanted = {
        Partition(topic.name, number): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for number in topic.partitions
    }
    return _moving({partition: _move(ctx, partition, path) for partition, path in wanted.items()})


def refuse_alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, refusal: ApiError
) -> AlterReplicaLogDirsResponse:
    asked = [
        Partition(topic.name, number)
        for directory in request.dirs
        for topic in directory.topics
        for number in topic.partitions
    ]
    return _moving(dict.fromkeys(asked, refusal))


def _move(ctx: RequestContext, partition: Partition, path: str) -> ApiError | None:
    try:
        ctx.services.directory_moves.move(partition, path)
    except ApiError as refusal:
        return refusal
    except StorageError as failure:
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure))
    return None


def _moving(results: Results) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=tuple(
            AlterReplicaLogDirTopicResult(
                topic_name=topic,
                partitions=tuple(
                    AlterReplicaLogDirPartitionResult(partition_index=number, error_code=_code(refusal))
                    for number, refusal in partitions
                ),
            )
            for topic, partitions in _by_topic(results)
        )
    )


# -- parts -------------------------------------------------------------------------------------------------


def _by_topic(by_partition: Mapping[Partition, Value]) -> Iterator[tuple[str, list[tuple[int, Value]]]]:
    found: dict[str, list[tuple[int, Value]]] = {}
    for partition, value in by_partition.items():
        found.setdefault(partition.topic, []).append((partition.number, value))
    yield from found.items()


def _code(refusal: ApiError | None) -> int:
    return 0 if refusal is None else refusal.error.code


def _message(refusal: ApiError | None) -> str | None:
    return None if refusal is None else refusal.detail or None
