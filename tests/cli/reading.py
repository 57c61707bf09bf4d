"""A topic that is written to and a group that reads it, request by request."""

from __future__ import annotations

from itertools import count

from odradek.model.errors import ErrorCode
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.codec import encode
from odradek.wire.messages.group_offsets import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
)
from odradek.wire.messages.groups import (
    HeartbeatRequest,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)
from odradek.wire.messages.metadata import FindCoordinatorRequest
from odradek.wire.messages.offsets import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from odradek.wire.messages.payloads import ConsumerProtocolAssignment, TopicPartition
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData

COORDINATED_WITHIN = 500  # attempts
SESSION_MS = 10_000

_numbers = count()


class Reading:
    """Of a topic and a group that nobody else uses."""

    def __init__(self, broker: Broker, *, partitions: int = 1) -> None:
        number = next(_numbers)
        self.broker = broker
        self.topic = f"orders-{number}"
        self.group = f"readers-{number}"
        self._clients = [Conversation(broker.bootstrap, client_id=f"client-{number}") for _ in range(2)]
        broker.create_topic(self.topic, partitions=partitions)

    def close(self) -> None:
        for each in self._clients:
            each.close()

    def ask(self, request: object, version: int) -> object:
        return self._clients[0].ask(request, version)

    # -- the log -----------------------------------------------------------------------------------------

    def produce(self, *timestamps: int, number: int = 0) -> None:
        data = PartitionData(index=number, records=memoryview(batch_of(*timestamps)))
        topic = TopicData(name=self.topic, partition_data=(data,))
        self.ask(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=(topic,)), 9)

    def delete_records(self, before: int) -> None:
        place = DeleteRecordsPartition(partition_index=0, offset=before)
        topic = DeleteRecordsTopic(name=self.topic, partitions=(place,))
        self.ask(DeleteRecordsRequest(topics=(topic,), timeout_ms=1000), 2)

    # -- the group ---------------------------------------------------------------------------------------

    def commit(self, offset: int, *, number: int = 0) -> None:
        """By nobody in particular."""
        place = OffsetCommitPartition(partition_index=number, committed_offset=offset, committed_metadata="")
        topic = OffsetCommitTopic(name=self.topic, partitions=(place,))
        request = OffsetCommitRequest(group_id=self.group, topics=(topic,))
        for _ in range(COORDINATED_WITHIN):
            answer = self.ask(request, 8)
            assert isinstance(answer, OffsetCommitResponse)
            if not answer.topics[0].partitions[0].error_code:
                return
            self.ask(FindCoordinatorRequest(coordinator_keys=(self.group,)), 4)
        raise AssertionError(f"{self.group} has no coordinator")

    def join(self) -> str:
        """A first member, which gets partition 0."""
        for _ in range(COORDINATED_WITHIN):
            joined = self._join()
            if not joined.error_code:
                break
            self.ask(FindCoordinatorRequest(coordinator_keys=(self.group,)), 4)
        self._sync(joined.member_id, joined.generation_id)
        return joined.member_id

    def join_and_wait(self) -> None:
        """Another one, which is not answered before the first has joined again."""
        self._clients[1].send(self._joining(), 3)

    def heartbeat(self, member_id: str, generation: int = 1) -> None:
        self.ask(HeartbeatRequest(group_id=self.group, generation_id=generation, member_id=member_id), 3)

    def _join(self) -> JoinGroupResponse:
        answer = self.ask(self._joining(), 3)
        assert isinstance(answer, JoinGroupResponse)
        return answer

    def _joining(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=60_000,
            member_id="",
            protocol_type="consumer",
            protocols=(JoinGroupProtocol(name="range", metadata=b"meta"),),
        )

    def _sync(self, member_id: str, generation: int) -> None:
        owned = ConsumerProtocolAssignment(
            assigned_partitions=(TopicPartition(topic=self.topic, partitions=(0,)),)
        )
        assignment = SyncGroupAssignment(member_id=member_id, assignment=b"\0\0" + encode(owned, 0))
        request = SyncGroupRequest(
            group_id=self.group, generation_id=generation, member_id=member_id, assignments=(assignment,)
        )
        answer = self.ask(request, 3)
        assert isinstance(answer, SyncGroupResponse)
        assert ErrorCode.of(answer.error_code) is ErrorCode.NONE
