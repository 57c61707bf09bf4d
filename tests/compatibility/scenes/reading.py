"""Records are fetched, with sessions and without; and not."""

from __future__ import annotations

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.producing import batch, producing
from tests.compatibility.scenes.topics import CRASH, creating, id_of, topic

from odradek.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from odradek.wire.messages.metadata import MetadataResponse

BY_ID_SINCE = 13
NAMED = 12  # the newest version that tells topics by name


def part(
    number: int, offset: int, *, max_bytes: int = 1 << 20, leader_epoch: int = -1, last_epoch: int = -1
) -> FetchPartition:
    return FetchPartition(
        partition=number,
        fetch_offset=offset,
        partition_max_bytes=max_bytes,
        current_leader_epoch=leader_epoch,
        last_fetched_epoch=last_epoch,
    )


def of(name: str, *parts: FetchPartition, id: bytes = bytes(16)) -> FetchTopic:
    return FetchTopic(topic=name, topic_id=id, partitions=parts)


def fetching(
    *topics: FetchTopic,
    version: int = NAMED,
    wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 24,
    isolation: int = 0,
    session: tuple[int, int] = (0, -1),
    forgotten: tuple[ForgottenTopic, ...] = (),
) -> Ask:
    request = FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation,
        session_id=session[0],
        session_epoch=session[1],
        topics=topics,
        forgotten_topics_data=forgotten,
    )
    return Ask(request, version)


def fetches() -> Script:
    yield creating(topic("made", 2))
    yield producing("made", batch(b"a", b"b"))
    yield producing("made", batch(b"c"))
    yield producing("made", batch(b"d"), partition=1)
    known = yield id_of("made")
    assert isinstance(known, MetadataResponse)
    id = known.topics[0].topic_id
    for version in versions("Fetch"):
        for offset in (0, 1, 2, 3, 4, -1):
            yield fetching(of("made", part(0, offset), id=id), version=version)
        yield fetching(of("made", part(0, 0), part(1, 0), id=id), version=version, isolation=1)
        yield fetching(of("made", part(7, 0), id=id), version=version)
        if version < BY_ID_SINCE:
            yield fetching(of("never-made", part(0, 0)), version=version)
        else:
            yield fetching(of("", part(0, 0), id=b"\1" * 16), version=version)
    yield fetching(of("made", part(-1, 0)))
    yield fetching(of("", part(0, 0)))
    yield fetching(of("with blank", part(0, 0)))
    yield fetching()
    yield fetching(of("made"))
    yield fetching(of("made", part(0, 0)), of("made", part(1, 0)))
    yield fetching(of("made", part(0, 0), part(0, 2)))


def fetches_within_bounds() -> Script:
    yield creating(topic("made", 2))
    for value in (b"a" * 100, b"b" * 100, b"c" * 100):
        for number in (0, 1):
            yield producing("made", batch(value), partition=number)
    for max_bytes in (0, 1, 170, 171, 342, 400, 1000):
        yield fetching(of("made", part(0, 0, max_bytes=max_bytes)))
        yield fetching(of("made", part(0, 0), part(1, 0)), max_bytes=max_bytes)
        yield fetching(of("made", part(0, 1, max_bytes=max_bytes), part(1, 1, max_bytes=max_bytes)))
        yield fetching(of("made", part(0, 0, max_bytes=max_bytes)), version=4, max_bytes=max_bytes)
    yield fetching(of("made", part(0, 0)), wait_ms=100, min_bytes=100_000)
    yield fetching(of("made", part(0, 3)), wait_ms=100)
    yield fetching(of("made", part(0, 3)), wait_ms=100, min_bytes=0)
    yield fetching(of("made", part(0, 4)), wait_ms=60_000)
    yield fetching(of("made", part(0, 3)), wait_ms=-1)
    unlike = ("error_code", "high_watermark", "last_stable_offset", "log_start_offset", "records")
    yield fetching(of("made", part(0, 0, max_bytes=-1)), max_bytes=-1).but(
        CRASH, *(f"responses.partitions.{field}" for field in unlike)
    )


def fetches_of_epochs() -> Script:
    yield creating(topic("made"))
    yield producing("made", batch(b"a", b"b"))
    for epoch in (-1, 0, 1, 7):
        yield fetching(of("made", part(0, 0, leader_epoch=epoch)))
        yield fetching(of("made", part(0, 0, last_epoch=epoch)))
        yield fetching(of("made", part(0, 2, last_epoch=epoch)))
    yield fetching(of("made", part(0, 3, last_epoch=0)))


def fetch_sessions() -> Script:
    yield creating(topic("made", 3))
    yield producing("made", batch(b"a", b"b"))
    everything = of("made", part(0, 0), part(1, 0), part(2, 0))
    answer = yield fetching(everything, session=(0, 0))
    assert isinstance(answer, FetchResponse)
    id = answer.session_id
    yield fetching(session=(id, 1))  # all that is not empty
    yield fetching(of("made", part(0, 2)), session=(id, 2))
    yield fetching(session=(id, 3))  # nothing new
    yield producing("made", batch(b"c"), partition=1)
    yield fetching(session=(id, 4))
    forgotten = (ForgottenTopic(topic="made", partitions=(1,)),)
    yield fetching(session=(id, 5), forgotten=forgotten)
    yield producing("made", batch(b"d"), partition=1)
    yield fetching(session=(id, 6))
    yield fetching(of("made", part(9, 0)), session=(id, 7))
    yield fetching(session=(id, 8))
    yield fetching(session=(id, 8))  # said before
    yield fetching(session=(id, 20))
    yield fetching(session=(id, 9))
    yield fetching(session=(id, -1))  # it ends
    yield fetching(session=(id, 10))
    yield fetching(session=(12345, 1))
    yield fetching(everything, session=(12345, -1))
    yield fetching(session=(0, 0)).but("nothing is no use to remember", "session_id")
    yield fetching(session=(0, 1))
    yield fetching(of("never-made", part(0, 0)), of("made", part(0, 0)), session=(0, 0))


def fetch_sessions_by_id() -> Script:
    yield creating(topic("made"), topic("other"))
    yield producing("made", batch(b"a", b"b"))
    known = yield id_of("made")
    assert isinstance(known, MetadataResponse)
    id = known.topics[0].topic_id
    answer = yield fetching(of("", part(0, 0), id=id), version=17, session=(0, 0))
    assert isinstance(answer, FetchResponse)
    session = answer.session_id
    yield fetching(version=17, session=(session, 1))
    yield fetching(of("", part(0, 0), id=b"\1" * 16), version=17, session=(session, 2))
    yield fetching(version=17, session=(session, 3))
    yield fetching(of("other", part(0, 0)), version=12, session=(session, 4))
    yield fetching(of("", part(0, 0), id=bytes(16)), version=17)


SCENES = (
    Scene(fetches),
    Scene(fetches_within_bounds),
    Scene(fetches_of_epochs),
    Scene(fetch_sessions),
    Scene(fetch_sessions_by_id),
)
