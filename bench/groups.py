"""How soon is a group of 500 stable, how many commits does a coordinator take? Ours and Kafka's in one run.

Both brokers are up all the time and asked by the same client, which costs as little as can be: members join,
sync and heartbeat as consumers do, each on its own connection, in one loop over bare sockets; committers keep
so many requests on their way. Each round asks one broker and then the other; the first warms up and does not
count. Told is the median.

    python bench/groups.py [--rounds N] [--members N]
"""

from __future__ import annotations

import argparse
import selectors
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

from _jars import kafka_jars
from _peers import Peer as Broker
from _peers import kafka, odradek
from _report import Cell, report
from odradek.testing.conversation import Conversation
from odradek.wire.apis import API_BY_KEY
from odradek.wire.frame import read_response, request_frame
from odradek.wire.messages.group_offsets import OffsetCommitPartition, OffsetCommitRequest, OffsetCommitTopic
from odradek.wire.messages.groups import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)
from odradek.wire.messages.metadata import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

COMMIT, JOIN, HEARTBEAT, SYNC = (API_BY_KEY[key] for key in (8, 11, 12, 14))
HEARTBEAT_S = 0.1
LOOK_S = 0.01
COMMITTERS = 8
ON_THEIR_WAY = 16  # requests of each committer
COMMITS = 40_000
ASSIGNMENT = bytes(60)
SUBSCRIPTION = bytes(40)

Run: TypeAlias = Callable[[list[socket.socket], str], None]


class Work(NamedTuple):
    name: str
    connections: int  # made before the clock starts
    run: Run


class Figure(NamedTuple):
    s: float
    cpu_s: float  # the broker's


def prepare(broker: Broker, group: str) -> None:
    """Its coordinator is there, and so is the topic that is committed for."""
    with Conversation(broker.bootstrap) as client:
        while True:
            found = client.ask(FindCoordinatorRequest(coordinator_keys=(group,)), 4)
            known = client.ask(MetadataRequest(topics=(MetadataRequestTopic(name="t"),)), 12)
            assert isinstance(found, FindCoordinatorResponse)
            assert isinstance(known, MetadataResponse)
            if not (found.coordinators[0].error_code or known.topics[0].error_code):
                return
            time.sleep(0.2)


@contextmanager
def connections(broker: Broker, count: int) -> Iterator[list[socket.socket]]:
    host, _, port = broker.bootstrap.rpartition(":")
    opened = [socket.create_connection((host, int(port))) for _ in range(count)]
    try:
        yield opened
    finally:
        for each in opened:
            each.close()


# -- joining -----------------------------------------------------------------------------------------------


class Member:
    """Joins, syncs, and heartbeats until it is told to join again, as a consumer does."""

    def __init__(self, connection: socket.socket, group: str) -> None:
        self._socket = connection
        self._group = group
        self._id = ""
        self._received = bytearray()
        self._asked = JOIN
        self.generation = -1
        self.is_synced = False
        self.heartbeat_at = 0.0

    def join(self) -> None:
        self.is_synced = False
        request = JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=300_000,
            member_id=self._id,
            protocol_type="bench",
            protocols=(JoinGroupProtocol(name="range", metadata=SUBSCRIPTION),),
        )
        self._send(JOIN, 3, request)

    def heartbeat(self) -> None:
        self.heartbeat_at = time.monotonic() + HEARTBEAT_S
        request = HeartbeatRequest(group_id=self._group, generation_id=self.generation, member_id=self._id)
        self._send(HEARTBEAT, 2, request)

    def receive(self) -> None:
        """What has come; a whole answer leads to the next request."""
        self._received += self._socket.recv(1 << 20)
        size = int.from_bytes(self._received[:4], "big") + 4
        if len(self._received) < max(size, 5):
            return
        frame = memoryview(bytes(self._received[4:size]))
        del self._received[:size]
        version = 3 if self._asked is JOIN else 2
        match read_response(self._asked, version, frame):
            case JoinGroupResponse() as joined:
                self._joined(joined)
            case SyncGroupResponse(error_code=0):
                self.is_synced = True
                self.heartbeat_at = time.monotonic() + HEARTBEAT_S
            case HeartbeatResponse(error_code=0):
                pass
            case _:
                self.join()

    def _joined(self, joined: JoinGroupResponse) -> None:
        assert joined.error_code == 0, joined
        self._id, self.generation = joined.member_id, joined.generation_id
        given = tuple(
            SyncGroupAssignment(member_id=each.member_id, assignment=ASSIGNMENT) for each in joined.members
        )
        request = SyncGroupRequest(
            group_id=self._group, generation_id=self.generation, member_id=self._id, assignments=given
        )
        self._send(SYNC, 2, request)

    def _send(self, api: object, version: int, request: object) -> None:
        assert api in (JOIN, SYNC, HEARTBEAT)
        self._asked = api
        parts = request_frame(self._asked, version, 1, "bench", request)
        self._socket.sendall(b"".join(cast("list[bytes]", parts)))


def join_all(opened: list[socket.socket], group: str) -> None:
    """Come back when all are members of one generation and know their assignment."""
    with selectors.DefaultSelector() as selector:
        members = [Member(each, group) for each in opened]
        for each, member in zip(opened, members, strict=True):
            selector.register(each, selectors.EVENT_READ, member)
            member.join()
        look_at = 0.0
        while True:
            for key, _ in selector.select(LOOK_S):
                cast("Member", key.data).receive()
            now = time.monotonic()
            if now < look_at:
                continue
            look_at = now + LOOK_S
            generations = {member.generation if member.is_synced else None for member in members}
            if len(generations) == 1 and None not in generations:
                return
            for member in members:
                if member.is_synced and member.heartbeat_at <= now:
                    member.heartbeat()


# -- committing --------------------------------------------------------------------------------------------


def commit_all(opened: list[socket.socket], group: str) -> None:
    """Every answer is of one size, so nobody needs to read them."""
    with selectors.DefaultSelector() as selector:
        sizes = [_first_commit(each, f"{group}-{number}") for number, each in enumerate(opened)]
        left = COMMITS // COMMITTERS
        to_send = [left - ON_THEIR_WAY] * COMMITTERS
        to_come = [size * left for _, size in sizes]
        for number, each in enumerate(opened):
            each.sendall(sizes[number][0] * ON_THEIR_WAY)
            selector.register(each, selectors.EVENT_READ, number)
        while any(to_come):
            for key, _ in selector.select():
                number = cast("int", key.data)
                request, size = sizes[number]
                before = -(-to_come[number] // size)
                to_come[number] -= len(opened[number].recv(1 << 16))
                answered = min(before - -(-to_come[number] // size), to_send[number])
                if answered:
                    to_send[number] -= answered
                    opened[number].sendall(request * answered)


def _first_commit(connection: socket.socket, group: str) -> tuple[bytes, int]:
    """A request, and the size of its answer."""
    part = OffsetCommitPartition(partition_index=0, committed_offset=7, committed_metadata="")
    topics = (OffsetCommitTopic(name="t", partitions=(part,)),)
    parts = request_frame(COMMIT, 9, 1, "bench", OffsetCommitRequest(group_id=group, topics=topics))
    request = b"".join(cast("list[bytes]", parts))
    connection.sendall(request)
    answer = connection.recv(1 << 16)
    response = read_response(COMMIT, 9, memoryview(answer)[4:])
    assert "error_code=0" in repr(response), response
    return request, len(answer)


# -- comparing ---------------------------------------------------------------------------------------------


def measured(broker: Broker, work: Work, group: str) -> Figure:
    prepare(broker, group)
    with connections(broker, work.connections) as opened:
        began, cpu_s = time.perf_counter(), broker.cpu_s()
        work.run(opened, group)
        return Figure(time.perf_counter() - began, broker.cpu_s() - cpu_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--members", type=int, default=500)
    arguments = parser.parse_args()
    members = cast("int", arguments.members)
    works = (
        Work(f"{members} members, s until stable", members, join_all),
        Work(f"{COMMITS:,} commits, s", COMMITTERS, commit_all),
    )
    rows: list[tuple[Cell, ...]] = []
    with (
        tempfile.TemporaryDirectory() as home,
        odradek(Path(home) / "ours") as ours,
        kafka(kafka_jars(), Path(home) / "theirs") as theirs,
    ):
        for work in works:
            figures: dict[str, list[Figure]] = {ours.name: [], theirs.name: []}
            for number in range(arguments.rounds):
                for broker in (ours, theirs):
                    figure = measured(broker, work, f"{work.run.__name__}-{number}")
                    figures[broker.name] += [figure] if number else []
            (our_s, our_cpu_s), (their_s, their_cpu_s) = (
                (statistics.median(each.s for each in of), statistics.median(each.cpu_s for each in of))
                for of in (figures[ours.name], figures[theirs.name])
            )
            rows.append((work.name, our_s, their_s, our_s / their_s, our_cpu_s, their_cpu_s))
    report("groups", ("work", "ours", "kafka", "ratio", "our CPU s", "kafka's CPU s"), rows)
    print("  wanted: 0.7 of Kafka's time to stable; no more time for commits than Kafka")


if __name__ == "__main__":
    main()
