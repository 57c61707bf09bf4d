"""The words of group dialogues: what can be said to a coordinator, and how its answers are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from odradek.model.errors import ErrorCode
from odradek.wire.messages.group_offsets import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
)
from odradek.wire.messages.groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)

Options: TypeAlias = Mapping[str, str]
Text: TypeAlias = Callable[[str], str]  # an id as it is told

TOPIC = "t"


@dataclass(slots=True)
class Self:
    """What a member knows of itself, and uses where it does not say otherwise."""

    id: str = ""
    generation: int = -1
    instance: str | None = None


# -- said --------------------------------------------------------------------------------------------------


def asked(verb: str, options: Options, group: str, me: Self) -> tuple[object, int]:
    """The request, and its version."""
    make, newest = _VERBS[verb]
    return make(_Said(options, group, me)), int(options.get("v", newest))


class _Said:
    """The options of one request."""

    def __init__(self, options: Options, group: str, me: Self) -> None:
        self._options = options
        self.group = options.get("group", group)
        self.id = {"none": ""}.get(options.get("id", me.id), options.get("id", me.id))
        self.generation = int(options.get("generation", me.generation))
        instance = options.get("instance", me.instance)
        self.instance = None if instance == "none" else instance

    def text(self, name: str, default: str | None = None) -> str | None:
        return self._options.get(name, default)

    def number(self, name: str, default: int) -> int:
        return int(self._options.get(name, default))

    def pairs(self, name: str, default: str = "") -> list[tuple[str, str]]:
        """Of `a:1,b:2`."""
        pairs = (each.partition(":") for each in self._options.get(name, default).split(",") if each)
        return [(key, value) for key, _, value in pairs]


def _join(said: _Said) -> JoinGroupRequest:
    session_ms = said.number("session", 10_000)
    return JoinGroupRequest(
        group_id=said.group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=said.number("rebalance", 30_000),
        member_id=said.id,
        group_instance_id=said.instance,
        protocol_type=said.text("type", "consumer") or "",
        protocols=tuple(
            JoinGroupProtocol(name=name, metadata=metadata.encode())
            for name, metadata in said.pairs("protocols", "range:meta")
        ),
    )


def _sync(said: _Said) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=said.group,
        generation_id=said.generation,
        member_id=said.id,
        group_instance_id=said.instance,
        protocol_type=said.text("type", "consumer"),
        protocol_name=said.text("protocol", "range"),
        assignments=tuple(
            SyncGroupAssignment(member_id=id, assignment=assignment.encode())
            for id, assignment in said.pairs("give")
        ),
    )


def _heartbeat(said: _Said) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=said.group,
        generation_id=said.generation,
        member_id=said.id,
        group_instance_id=said.instance,
    )


def _leave(said: _Said) -> LeaveGroupRequest:
    """`who=ann-1,:a` names several: by id, or after a colon by the name of a static member."""
    who = said.pairs("who") or [(said.id, said.instance or "")]
    return LeaveGroupRequest(
        group_id=said.group,
        member_id=said.id,
        members=tuple(
            LeavingMember(member_id=id, group_instance_id=instance or None) for id, instance in who
        ),
    )


def _commit(said: _Said) -> OffsetCommitRequest:
    partition = OffsetCommitPartition(
        partition_index=said.number("partition", 0),
        committed_offset=said.number("offset", 1),
        committed_leader_epoch=said.number("epoch", -1),
        committed_metadata=said.text("note"),
    )
    return OffsetCommitRequest(
        group_id=said.group,
        generation_id_or_member_epoch=said.generation,
        member_id=said.id,
        group_instance_id=said.instance,
        topics=(OffsetCommitTopic(name=said.text("topic", TOPIC) or "", partitions=(partition,)),),
    )


def _fetch(said: _Said) -> OffsetFetchRequest:
    """Of one partition, or with `all=yes` of all."""
    topics = (OffsetFetchTopic(name=TOPIC, partition_indexes=(said.number("partition", 0),)),)
    wanted = None if said.text("all") else topics
    return OffsetFetchRequest(
        group_id=said.group,
        topics=wanted,
        groups=(OffsetFetchGroup(group_id=said.group, topics=wanted),),
        require_stable=False,
    )


def _forget(said: _Said) -> OffsetDeleteRequest:
    partitions = (OffsetDeletePartition(partition_index=said.number("partition", 0)),)
    topic = OffsetDeleteTopic(name=said.text("topic", TOPIC) or "", partitions=partitions)
    return OffsetDeleteRequest(group_id=said.group, topics=(topic,))


def _describe(said: _Said) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(groups=(said.group,))


def _list(said: _Said) -> ListGroupsRequest:
    return ListGroupsRequest(
        states_filter=tuple(state for state, _ in said.pairs("states")),
        types_filter=tuple(kind for kind, _ in said.pairs("types")),
    )


def _delete(said: _Said) -> DeleteGroupsRequest:
    return DeleteGroupsRequest(groups_names=(said.group,))


# Each verb's request, and the newest version of it that Kafka 3.9 serves.
_VERBS: Mapping[str, tuple[Callable[[_Said], object], int]] = {
    "join": (_join, 9),
    "sync": (_sync, 5),
    "heartbeat": (_heartbeat, 4),
    "leave": (_leave, 5),
    "commit": (_commit, 9),
    "fetch": (_fetch, 9),
    "forget": (_forget, 0),
    "describe": (_describe, 5),
    "list": (_list, 5),
    "delete": (_delete, 2),
}


# -- told --------------------------------------------------------------------------------------------------


def told(response: object, id_text: Text, group: str) -> str:
    match response:
        case JoinGroupResponse():
            return _told_join(response, id_text)
        case SyncGroupResponse(error_code=error, assignment=assignment):
            given = f", {response.protocol_type}/{response.protocol_name}: {assignment.decode()!r}"
            return f"sync {_error(error)}{'' if error else given}"
        case HeartbeatResponse(error_code=error):
            return f"heartbeat {_error(error)}"
        case LeaveGroupResponse(error_code=error, members=left):
            members = [
                f"{_member(id_text(each.member_id), each.group_instance_id)} {_error(each.error_code)}"
                for each in left
            ]
            return "; ".join([f"leave {_error(error)}", *members])
        case DescribeGroupsResponse(groups=(one,)):
            members = sorted(
                f"{_member(id_text(each.member_id), each.group_instance_id)} of {each.client_id} "
                f"wants {each.member_metadata.decode()!r} has {each.member_assignment.decode()!r}"
                for each in one.members
            )
            what = (
                f"describe {_error(one.error_code)} {one.group_state} {one.protocol_type}/{one.protocol_data}"
            )
            return "; ".join([what, *members])
        case ListGroupsResponse(error_code=error, groups=groups):
            listed = [
                f"{each.group_state} {each.protocol_type!r} {each.group_type}"
                for each in groups
                if each.group_id == group
            ]
            return "; ".join([f"list {_error(error)}", *listed])
        case DeleteGroupsResponse(results=(one,)):
            return f"delete {_error(one.error_code)}"
        case _:
            return _told_offsets(response)


def _told_join(response: JoinGroupResponse, id_text: Text) -> str:
    words = [f"join {_error(response.error_code)}"]
    if response.generation_id >= 0:
        words += [f"generation {response.generation_id} of {response.protocol_type}/{response.protocol_name}"]
    if response.member_id:
        words += [f"as {id_text(response.member_id)}"]
    if response.leader:
        words += [f"led by {id_text(response.leader)}"]
    if response.skip_assignment:
        words += ["not to assign"]
    members = sorted(
        f"{_member(id_text(each.member_id), each.group_instance_id)} wants {each.metadata.decode()!r}"
        for each in response.members
    )
    return "; ".join([", ".join(words), *members])


def _told_offsets(response: object) -> str:
    match response:
        case OffsetCommitResponse(topics=topics):
            return f"commit {_error(topics[0].partitions[0].error_code)}"
        case OffsetDeleteResponse(error_code=error, topics=topics):
            parts = [f"{each.name}: {_error(each.partitions[0].error_code)}" for each in topics]
            return "; ".join([f"forget {_error(error)}", *parts])
        case OffsetFetchResponse():
            fetched = response.groups[0].topics if response.groups else response.topics
            error = response.groups[0].error_code if response.groups else response.error_code
            parts = [
                f"{topic.name}-{each.partition_index} at {each.committed_offset} epoch "
                f"{each.committed_leader_epoch} {each.metadata!r} {_error(each.error_code)}"
                for topic in fetched
                for each in topic.partitions
            ]
            return "; ".join([f"fetch {_error(error)}", *parts])
        case _:
            raise AssertionError(f"nobody asks for {response!r}")


def _member(id: str, instance_id: str | None) -> str:
    return id if instance_id is None else f"{id}({instance_id})"


def _error(code: int) -> str:
    return ErrorCode.of(code).name
