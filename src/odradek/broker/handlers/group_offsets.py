"""The offsets of groups: to the shard that coordinates them."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from odradek.broker.verification import Verification
from odradek.groups.committing import Committer
from odradek.groups.offsets import Place
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_TOPIC_ID, Partition, TopicId
from odradek.model.outcome import Outcome
from odradek.transactions.transaction import Identity
from odradek.wire.messages.group_offsets import (
    OffsetCommitPartition,
    OffsetCommitResponse,
    OffsetCommitTopicResponse,
    OffsetDeleteResponse,
    OffsetDeleteTopicResponse,
    OffsetFetchGroup,
    OffsetFetchGroupResponse,
    OffsetFetchPartitionResponse,
    OffsetFetchResponse,
    OffsetFetchTopic,
    OffsetFetchTopicResponse,
    PartitionError,
    TxnOffsetCommitResponse,
    TxnOffsetCommitTopicResponse,
)
from odradek.wire.messages.stored import OffsetCommitValue
from odradek.wire.records import Producer

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.parked import Parked
    from odradek.broker.shards import HostedShard
    from odradek.groups.shard import GroupShard
    from odradek.model.image import ClusterImage
    from odradek.wire.messages.group_offsets import (
        OffsetCommitRequest,
        OffsetCommitTopic,
        OffsetDeleteRequest,
        OffsetFetchRequest,
        TxnOffsetCommitPartition,
        TxnOffsetCommitRequest,
        TxnOffsetCommitTopic,
    )

    Topics: TypeAlias = Sequence[OffsetCommitTopic | TxnOffsetCommitTopic]
    Partitions: TypeAlias = Sequence[OffsetCommitPartition | TxnOffsetCommitPartition]
    TxnOffsetCommitAnswer: TypeAlias = TxnOffsetCommitResponse | Parked[TxnOffsetCommitResponse]

BY_ID_SINCE = 10  # topics are told by their ids
MANY_GROUPS_SINCE = 8
GROUP_ERROR_SINCE = 2
ABORTABLE_SINCE = 4  # TxnOffsetCommit may answer TRANSACTION_ABORTABLE
JOINS_SINCE = 5  # TxnOffsetCommit of transactions v2
NOT_TOLD = -1
NO_OFFSET = -1


# -- OffsetCommit ------------------------------------------------------------------------------------------


class Commits:
    """The offsets of one request: those that can be committed, and how each of all fared."""

    def __init__(
        self,
        ctx: RequestContext,
        group_id: str,
        topics: Topics,
        retention_ms: int = NOT_TOLD,
    ) -> None:
        image = ctx.services.metadata.image
        now_ms = ctx.services.clock.wall_ms()
        expires_ms = NOT_TOLD if retention_ms == NOT_TOLD else now_ms + retention_ms
        self.errors = [[ErrorCode.NONE] * len(topic.partitions) for topic in topics]
        self.possible: list[tuple[Place, OffsetCommitValue]] = []
        self._where: list[tuple[list[ErrorCode], int]] = []
        for topic, errors in zip(topics, self.errors, strict=True):
            name = _name(image, topic)
            partitions: Partitions = topic.partitions
            for at, each in enumerate(partitions):
                if name is None:
                    errors[at] = ErrorCode.UNKNOWN_TOPIC_ID
                elif image.partition(Partition(name, each.partition_index)) is None:
                    errors[at] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                else:
                    place = Place(group_id, name, each.partition_index)
                    self.possible.append((place, _value(each, now_ms, expires_ms)))
                    self._where.append((errors, at))

    def fare(self, fates: Iterable[ErrorCode]) -> None:
        """How each of the possible ones does."""
        for (errors, at), fate in zip(self._where, fates, strict=True):
            errors[at] = fate

    def refuse(self, error: ErrorCode) -> None:
        self.fare([_COMMIT_ERRORS.get(error, error)] * len(self._where))

    def results(self, topics: Topics) -> Iterator[tuple[PartitionError, ...]]:
        """Topic by topic, as they were asked for."""
        for topic, errors in zip(topics, self.errors, strict=True):
            partitions: Partitions = topic.partitions
            yield tuple(
                PartitionError(partition_index=each.partition_index, error_code=error.code)
                for each, error in zip(partitions, errors, strict=True)
            )


_COMMIT_ERRORS = {  # what an append may answer, in the words of those who commit
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}


def offset_commit(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Parked[OffsetCommitResponse]:
    commits = Commits(ctx, request.group_id, request.topics, request.retention_time_ms)

    def respond() -> OffsetCommitResponse:
        return OffsetCommitResponse(
            topics=tuple(
                OffsetCommitTopicResponse(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
                for topic, partitions in zip(request.topics, commits.results(request.topics), strict=True)
            )
        )

    def refuse(refusal: ApiError) -> OffsetCommitResponse:
        commits.refuse(refusal.error)
        return respond()

    committer = Committer(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
    )
    groups = ctx.services.groups
    if not commits.possible:
        return respond()
    try:
        hosted = groups.hosting(request.group_id, may_be_empty=True)
        outcome = hosted.shard.commit(committer, commits.possible, groups.now())
    except ApiError as refusal:
        return refuse(refusal)
    commits.fare(outcome.reply)
    return hosted.carry_out(ctx, Outcome(outcome.records, respond()), refuse)


def refuse_offset_commit(request: OffsetCommitRequest, refusal: ApiError) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=tuple(
            OffsetCommitTopicResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=_everywhere(topic, refusal.error),
            )
            for topic in request.topics
        )
    )


def _everywhere(
    topic: OffsetCommitTopic | TxnOffsetCommitTopic, error: ErrorCode
) -> tuple[PartitionError, ...]:
    partitions: Partitions = topic.partitions
    return tuple(
        PartitionError(partition_index=each.partition_index, error_code=error.code) for each in partitions
    )


# -- TxnOffsetCommit ---------------------------------------------------------------------------------------


def txn_offset_commit(
    ctx: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitAnswer | Coroutine[object, object, TxnOffsetCommitAnswer]:
    """As part of a transaction: pending until that is decided."""
    commits = Commits(ctx, request.group_id, request.topics)
    if not commits.possible:
        return _txn_response(request, commits)
    try:
        hosted = ctx.services.groups.hosting(request.group_id)
    except ApiError as refusal:
        return _txn_refused(request, commits, refusal)
    identity = Identity(request.producer_id, request.producer_epoch)
    verification = Verification(
        ctx.services.transactions,
        request.transactional_id,
        joins=ctx.version >= JOINS_SINCE,
        knows_abortable=ctx.version >= ABORTABLE_SINCE,
    )
    if not hosted.partition.log.producers.is_open(*identity):
        verification.ask({hosted.partition.name: identity})
    if verification.is_settled:
        return _commit_in_transaction(ctx, request, commits, verification)
    return _settle_and_commit(ctx, request, commits, verification)


async def _settle_and_commit(
    ctx: RequestContext, request: TxnOffsetCommitRequest, commits: Commits, verification: Verification
) -> TxnOffsetCommitAnswer:
    await verification.settle()
    return _commit_in_transaction(ctx, request, commits, verification)


def _commit_in_transaction(
    ctx: RequestContext, request: TxnOffsetCommitRequest, commits: Commits, verification: Verification
) -> TxnOffsetCommitAnswer:
    groups = ctx.services.groups
    committer = Committer(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        is_transactional=True,
    )
    try:
        for refusal in verification.refusals.values():
            raise refusal
        hosted = groups.hosting(request.group_id)
        outcome = hosted.shard.commit(committer, commits.possible, groups.now())
    except ApiError as refusal:
        return _txn_refused(request, commits, refusal)
    commits.fare(outcome.reply)
    return hosted.carry_out(
        ctx,
        Outcome(outcome.records, _txn_response(request, commits)),
        lambda refusal: _txn_refused(request, commits, refusal),
        Producer(request.producer_id, request.producer_epoch),
    )


def refuse_txn_offset_commit(request: TxnOffsetCommitRequest, refusal: ApiError) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        topics=tuple(
            TxnOffsetCommitTopicResponse(
                name=topic.name, topic_id=topic.topic_id, partitions=_everywhere(topic, refusal.error)
            )
            for topic in request.topics
        )
    )


def _txn_refused(
    request: TxnOffsetCommitRequest, commits: Commits, refusal: ApiError
) -> TxnOffsetCommitResponse:
    commits.refuse(refusal.error)
    return _txn_response(request, commits)


def _txn_response(request: TxnOffsetCommitRequest, commits: Commits) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        topics=tuple(
            TxnOffsetCommitTopicResponse(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
            for topic, partitions in zip(request.topics, commits.results(request.topics), strict=True)
        )
    )


def _value(
    commit: OffsetCommitPartition | TxnOffsetCommitPartition, now_ms: int, expires_ms: int
) -> OffsetCommitValue:
    told_ms = commit.commit_timestamp if isinstance(commit, OffsetCommitPartition) else NOT_TOLD
    return OffsetCommitValue(
        offset=commit.committed_offset,
        leader_epoch=commit.committed_leader_epoch,
        metadata=commit.committed_metadata or "",
        commit_timestamp=now_ms if told_ms == NOT_TOLD else told_ms,
        expire_timestamp=expires_ms,
    )


def _name(
    image: ClusterImage, topic: OffsetCommitTopic | TxnOffsetCommitTopic | OffsetFetchTopic
) -> str | None:
    """None for an id that nobody has."""
    return topic.name if topic.topic_id == NO_TOPIC_ID else image.topic_names.get(TopicId(topic.topic_id))


# -- OffsetFetch -------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """One group's answer, and what it waits for: that everything below `end` is committed."""

    asked: OffsetFetchGroup
    hosted: HostedShard[GroupShard]
    end: int
    topics: tuple[OffsetFetchTopicResponse, ...]


def offset_fetch(
    ctx: RequestContext, request: OffsetFetchRequest
) -> OffsetFetchResponse | Coroutine[object, object, OffsetFetchResponse]:
    if ctx.version >= MANY_GROUPS_SINCE:
        asked = request.groups
    else:
        asked = (OffsetFetchGroup(group_id=request.group_id, topics=request.topics),)
    found = [_find(ctx, group, stable=request.require_stable) for group in asked]
    waiting = [each for each in found if isinstance(each, _Found) and not _is_committed(each)]
    if waiting:
        return _fetched_later(ctx, found)
    return _fetched(ctx, [_told(each) if isinstance(each, _Found) else each for each in found])


async def _fetched_later(
    ctx: RequestContext, found: Sequence[_Found | OffsetFetchGroupResponse]
) -> OffsetFetchResponse:
    answers = []
    for each in found:
        if isinstance(each, _Found):
            try:
                await each.hosted.committed(each.end)
                answers.append(_told(each))
            except ApiError as refusal:
                late = refusal.error is ErrorCode.REQUEST_TIMED_OUT
                error = ErrorCode.COORDINATOR_NOT_AVAILABLE if late else refusal.error
                answers.append(_refused(ctx, each.asked, error))
        else:
            answers.append(each)
    return _fetched(ctx, answers)


def _is_committed(found: _Found) -> bool:
    try:
        return found.hosted.is_committed(found.end)
    except ApiError:
        return False  # whoever waits for it is told


def _find(ctx: RequestContext, group: OffsetFetchGroup, *, stable: bool) -> _Found | OffsetFetchGroupResponse:
    try:
        hosted = ctx.services.groups.hosting(group.group_id, may_be_empty=True)
    except ApiError as refusal:
        return _refused(ctx, group, refusal.error)
    shard = hosted.shard
    topics = group.topics if group.topics is not None else _all_topics(ctx, shard, group.group_id)
    return _Found(
        group,
        hosted,
        hosted.end,
        tuple(_topic(ctx, shard, group.group_id, topic, stable=stable) for topic in topics),
    )


def _all_topics(ctx: RequestContext, shard: GroupShard, group_id: str) -> Iterator[OffsetFetchTopic]:
    """What the group has committed; told by ids, without the topics that are gone."""
    known = ctx.services.metadata.image.topics
    for name, partitions in shard.offsets.topics(group_id):
        if ctx.version < BY_ID_SINCE:
            yield OffsetFetchTopic(name=name, partition_indexes=tuple(partitions))
        elif name in known:
            yield OffsetFetchTopic(topic_id=known[name].id, partition_indexes=tuple(partitions))


def _topic(
    ctx: RequestContext, shard: GroupShard, group_id: str, topic: OffsetFetchTopic, *, stable: bool
) -> OffsetFetchTopicResponse:
    name = _name(ctx.services.metadata.image, topic)
    partitions = []
    for number in topic.partition_indexes:
        if name is None:
            partitions.append(_nothing(number, ErrorCode.UNKNOWN_TOPIC_ID))
            continue
        place = Place(group_id, name, number)
        if stable and shard.offsets.is_pending(place):
            partitions.append(_nothing(number, ErrorCode.UNSTABLE_OFFSET_COMMIT))
        else:
            partitions.append(_partition(number, shard.offsets.get(place)))
    return OffsetFetchTopicResponse(name=topic.name, topic_id=topic.topic_id, partitions=tuple(partitions))


def _partition(number: int, committed: OffsetCommitValue | None) -> OffsetFetchPartitionResponse:
    if committed is None:
        return _nothing(number, ErrorCode.NONE)
    return OffsetFetchPartitionResponse(
        partition_index=number,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        error_code=0,
    )


def _nothing(number: int, error: ErrorCode) -> OffsetFetchPartitionResponse:
    return OffsetFetchPartitionResponse(
        partition_index=number, committed_offset=NO_OFFSET, metadata="", error_code=error.code
    )


def _told(found: _Found) -> OffsetFetchGroupResponse:
    return OffsetFetchGroupResponse(group_id=found.asked.group_id, topics=found.topics)


def _refused(ctx: RequestContext, group: OffsetFetchGroup, error: ErrorCode) -> OffsetFetchGroupResponse:
    """Where the version has no place for an error of the group, every partition has it."""
    topics = () if ctx.version >= GROUP_ERROR_SINCE else group.topics or ()
    return OffsetFetchGroupResponse(
        group_id=group.group_id,
        topics=tuple(
            OffsetFetchTopicResponse(
                name=topic.name,
                partitions=tuple(_nothing(number, error) for number in topic.partition_indexes),
            )
            for topic in topics
        ),
        error_code=error.code,
    )


def _fetched(ctx: RequestContext, groups: Sequence[OffsetFetchGroupResponse]) -> OffsetFetchResponse:
    if ctx.version >= MANY_GROUPS_SINCE:
        return OffsetFetchResponse(groups=tuple(groups))
    (group,) = groups
    return OffsetFetchResponse(topics=group.topics, error_code=group.error_code)


# -- OffsetDelete ------------------------------------------------------------------------------------------


def offset_delete(
    ctx: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Parked[OffsetDeleteResponse]:
    hosted = ctx.services.groups.hosting(request.group_id)
    image = ctx.services.metadata.image
    places = [
        Place(request.group_id, topic.name, each.partition_index)
        for topic in request.topics
        for each in topic.partitions
    ]
    known = [each for each in places if image.partition(Partition(each.topic, each.partition)) is not None]
    outcome = hosted.shard.delete_offsets(request.group_id, known)
    errors = dict.fromkeys(places, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) | dict(
        zip(known, outcome.reply, strict=True)
    )
    response = OffsetDeleteResponse(
        error_code=0,
        topics=tuple(
            OffsetDeleteTopicResponse(
                name=topic.name,
                partitions=tuple(
                    PartitionError(
                        partition_index=each.partition_index,
                        error_code=errors[Place(request.group_id, topic.name, each.partition_index)].code,
                    )
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        ),
    )
    return hosted.carry_out(ctx, Outcome(outcome.records, response), _refuse_delete)


def _refuse_delete(refusal: ApiError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=refusal.error.code, topics=())
