"""What each fetching client was told last (KIP-227), so that it is told only what has changed.

A client that fetches many partitions names them once; from then on a request carries what differs, and so
does the answer. A session is a promise to remember, bounded in number: a new client takes the place of one
that has been silent for long, of one that asks for fewer partitions, or gets none and names everything every
time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_TOPIC_ID
from odradek.wire.messages.fetch import FetchedTopic, FetchResponse

if TYPE_CHECKING:
    from odradek.runtime.entropy import Entropy
    from odradek.wire.messages.fetch import FetchedPartition, FetchPartition, FetchRequest, FetchTopic

NO_SESSION = 0
FIRST_EPOCH = 0  # the request names everything, and wants a session
NO_EPOCH = -1  # the request names everything, and wants none
EPOCH_MAX = 0x7FFFFFFF
SILENCE_MS_MAX = 120_000
UNTOLD = -1


class Wanted:
    """One partition a client wants to read, and what it was told of it last."""

    __slots__ = (
        "index",
        "last_fetched_epoch",
        "leader_epoch",
        "log_start",
        "max_bytes",
        "offset",
        "told_high_watermark",
        "told_log_start",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: FetchTopic, partition: FetchPartition) -> None:
        self.topic = topic.topic  # empty where the topic is told by its id
        self.topic_id = topic.topic_id
        self.index = partition.partition
        self.told_high_watermark = UNTOLD
        self.told_log_start = UNTOLD
        self.ask(partition)

    def ask(self, partition: FetchPartition) -> None:
        self.offset = partition.fetch_offset
        self.max_bytes = partition.partition_max_bytes
        self.leader_epoch = partition.current_leader_epoch
        self.last_fetched_epoch = partition.last_fetched_epoch
        self.log_start = partition.log_start_offset

    def is_news(self, data: FetchedPartition, size: int) -> bool:
        """Does the client have to be told this?"""
        return (
            size > 0
            or data.error_code != 0
            or data.high_watermark != self.told_high_watermark
            or data.log_start_offset != self.told_log_start
            or data.preferred_read_replica >= 0
            or data.diverging_epoch.epoch >= 0
        )

    def told(self, data: FetchedPartition) -> None:
        self.told_log_start = data.log_start_offset
        # After an error or a divergence the client has to be told anew, whatever the watermark is.
        is_plain = data.error_code == 0 and data.diverging_epoch.epoch < 0
        self.told_high_watermark = data.high_watermark if is_plain else UNTOLD


Key = tuple[str | bytes, int]
Found = tuple[Wanted, "FetchedPartition", int]  # with the size of its records


def _key(topic: str, topic_id: bytes, index: int) -> Key:
    return (topic if topic_id == NO_TOPIC_ID else topic_id, index)


class FetchSession:
    __slots__ = ("by_id", "created_ms", "epoch", "id", "is_replica", "used_ms", "wanted")

    def __init__(self, id: int, *, by_id: bool, is_replica: bool, now_ms: int) -> None:
        self.id = id
        self.epoch = FIRST_EPOCH
        self.by_id = by_id
        self.is_replica = is_replica
        self.created_ms = self.used_ms = now_ms
        self.wanted: dict[Key, Wanted] = {}

    def change(self, request: FetchRequest) -> None:
        """Take in what an incremental request adds, changes and forgets."""
        wanted = self.wanted
        for topic in request.topics:
            for partition in topic.partitions:
                key = _key(topic.topic, topic.topic_id, partition.partition)
                known = wanted.get(key)
                if known is None:
                    wanted[key] = Wanted(topic, partition)
                else:
                    known.ask(partition)
        for forgotten in request.forgotten_topics_data:
            for index in forgotten.partitions:
                wanted.pop(_key(forgotten.topic, forgotten.topic_id, index), None)

    def answered(self, found: Iterable[Found]) -> list[Found]:
        """What of it is news. A partition that had records is read last the next time, so that all get
        their turn."""
        news = [each for each in found if each[0].is_news(each[1], each[2])]
        wanted = self.wanted
        for each, data, size in news:
            each.told(data)
            key = _key(each.topic, each.topic_id, each.index)
            if size and key in wanted:
                wanted[key] = wanted.pop(key)
        return news


class FetchContext:
    """What one request is about: the partitions to read, and how to answer."""

    __slots__ = ("_is_incremental", "_session", "_session_id", "wanted")

    def __init__(
        self, wanted: Collection[Wanted], session: FetchSession | None, *, is_incremental: bool
    ) -> None:
        self.wanted = wanted
        self._session = session
        self._session_id = session.id if session is not None else NO_SESSION
        self._is_incremental = is_incremental

    def answer(self, found: list[Found], throttle_ms: int = 0) -> FetchResponse:
        if self._session is not None:
            news = self._session.answered(found)
            if self._is_incremental:
                found = news
        topics: dict[str | bytes, list[FetchedPartition]] = {}
        for wanted, data, _ in found:
            topics.setdefault(wanted.topic or wanted.topic_id, []).append(data)
        return FetchResponse(
            throttle_time_ms=throttle_ms,
            session_id=self._session_id,
            responses=tuple(
                FetchedTopic(
                    topic=key if isinstance(key, str) else "",
                    topic_id=key if isinstance(key, bytes) else NO_TOPIC_ID,
                    partitions=tuple(partitions),
                )
                for key, partitions in topics.items()
            ),
        )


class FetchSessions:
    """All sessions of a broker."""

    def __init__(self, entropy: Entropy, count_max: int) -> None:
        self._entropy = entropy
        self._count_max = count_max
        self._sessions: dict[int, FetchSession] = {}
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        return sum(len(session.wanted) for session in self._sessions.values())

    def begin(self, request: FetchRequest, *, by_id: bool, is_replica: bool, now_ms: int) -> FetchContext:
        """`by_id`: this version tells topics by their ids. A session that is not there, or is elsewhere in
        its conversation, is refused: the client begins anew."""
        if request.session_epoch in (FIRST_EPOCH, NO_EPOCH):
            return self._begin_full(request, by_id=by_id, is_replica=is_replica, now_ms=now_ms)
        session = self._sessions.get(request.session_id)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != request.session_epoch:
            raise ApiError(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH, f"{request.session_epoch}, expected {session.epoch}"
            )
        if session.by_id != by_id:
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.change(request)
        if not session.wanted:
            del self._sessions[session.id]
            return FetchContext((), None, is_incremental=False)
        session.used_ms = now_ms
        session.epoch = 1 if session.epoch == EPOCH_MAX else session.epoch + 1
        return FetchContext(tuple(session.wanted.values()), session, is_incremental=True)

    def _begin_full(
        self, request: FetchRequest, *, by_id: bool, is_replica: bool, now_ms: int
    ) -> FetchContext:
        self._sessions.pop(request.session_id, None)
        wanted = {
            _key(topic.topic, topic.topic_id, partition.partition): Wanted(topic, partition)
            for topic in request.topics
            for partition in topic.partitions
        }
        session = None
        if request.session_epoch == FIRST_EPOCH and wanted:
            session = self._new_session(len(wanted), is_replica=is_replica, by_id=by_id, now_ms=now_ms)
        if session is not None:
            session.wanted = wanted
            session.epoch = 1
        return FetchContext(tuple(wanted.values()), session, is_incremental=False)

    def _new_session(self, size: int, *, is_replica: bool, by_id: bool, now_ms: int) -> FetchSession | None:
        if len(self._sessions) >= self._count_max and not self._evict(size, is_replica, now_ms):
            return None
        id = NO_SESSION
        while id == NO_SESSION or id in self._sessions:
            id = self._entropy.below(EPOCH_MAX)
        session = self._sessions[id] = FetchSession(id, by_id=by_id, is_replica=is_replica, now_ms=now_ms)
        return session

    def _evict(self, size: int, is_replica: bool, now_ms: int) -> bool:
        """Make room for a session of `size` partitions, if it is worth more than one that is there."""
        if not self._sessions:
            return False
        oldest = min(self._sessions.values(), key=lambda each: each.used_ms)
        if now_ms - oldest.used_ms > SILENCE_MS_MAX:
            return self._drop(oldest)
        least = min(self._sessions.values(), key=lambda each: (each.is_replica, len(each.wanted)))
        is_worth_less = (least.is_replica, len(least.wanted)) < (is_replica, size)
        if is_worth_less and now_ms - least.created_ms > SILENCE_MS_MAX:
            return self._drop(least)
        return is_replica and not least.is_replica and self._drop(least)

    def _drop(self, session: FetchSession) -> bool:
        del self._sessions[session.id]
        self.evicted += 1
        return True
