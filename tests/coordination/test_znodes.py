"""Znodes are what Kafka's are, both ways; what nobody can read is told with its path.

`znodes-3.9.tsv` is what a 3.9.2 broker had made in ZooKeeper after a few topics, a produced record,
configurations, a quota and a credential, read node by node with ZooKeeper's own client.
"""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.coordination import security_znodes, znodes
from odradek.coordination.json import BadZnode
from odradek.coordination.security_znodes import AclChangeZnode, AclZnode, TokenZnode
from odradek.coordination.znodes import (
    BrokerZnode,
    ClusterIdZnode,
    ConfigChangeZnode,
    ConfigZnode,
    ControllerEpochZnode,
    ControllerZnode,
    FeatureZnode,
    IsrChangeZnode,
    LogDirEventZnode,
    PartitionStateZnode,
    PreferredElectionZnode,
    ProducerIdBlockZnode,
    ReassignPartitionsZnode,
    TopicZnode,
)
from odradek.model.ids import NO_TOPIC_ID, BrokerId, Partition
from odradek.model.image import ConfigEntity


class Znode(Protocol):
    def encode(self) -> bytes: ...


Decode: TypeAlias = Callable[[str, bytes], Znode]

DECODERS: dict[str, Decode] = {
    "/controller": ControllerZnode.decode,
    "/controller_epoch": ControllerEpochZnode.decode,
    "/brokers/ids/0": BrokerZnode.decode,
    "/brokers/topics/orders": TopicZnode.decode,
    "/brokers/topics/orders/partitions/0/state": PartitionStateZnode.decode,
    "/cluster/id": ClusterIdZnode.decode,
    "/config/topics/orders": ConfigZnode.decode,
    "/config/changes/config_change_0": ConfigChangeZnode.decode,
    "/admin/reassign_partitions": ReassignPartitionsZnode.decode,
    "/admin/preferred_replica_election": PreferredElectionZnode.decode,
    "/isr_change_notification/isr_change_0": IsrChangeZnode.decode,
    "/log_dir_event_notification/log_dir_event_0": LogDirEventZnode.decode,
    "/latest_producer_id_block": ProducerIdBlockZnode.decode,
    "/feature": FeatureZnode.decode,
    "/kafka-acl/Topic/orders": AclZnode.decode,
    "/kafka-acl-changes/acl_changes_0": AclChangeZnode.decode,
    "/kafka-acl-extended-changes/acl_changes_0": AclChangeZnode.decode,
    "/delegation_token/tokens/t": TokenZnode.decode,
}

# What the documentation of each shows; nodes that the recording has none of.
EXAMPLES = {
    "/controller": '{"version":2,"brokerid":1,"timestamp":"1795037166426","kraftControllerEpoch":-1}',
    "/brokers/ids/0": (
        '{"features":{},"listener_security_protocol_map":{"IN":"SSL","OUT":"PLAINTEXT"},'
        '"endpoints":["IN://[::1]:9093","OUT://127.0.0.1:29090"],"rack":"rack0","jmx_port":-1,"port":29090,'
        '"host":"127.0.0.1","version":5,"timestamp":"1795037166457"}'
    ),
    "/brokers/topics/orders": (
        '{"partitions":{"0":[0,1],"1":[1,0]},"topic_id":"m8r189I-S8uvkrRmUbu4OQ","adding_replicas":{"0":[2]},'
        '"removing_replicas":{"0":[1]},"version":3}'
    ),
    "/brokers/topics/orders/partitions/0/state": (
        '{"controller_epoch":1,"leader":-1,"version":1,"leader_epoch":0,"isr":[0,1],"leader_recovery_state":1}'
    ),
    "/admin/reassign_partitions": (
        '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}'
    ),
    "/admin/preferred_replica_election": '{"version":1,"partitions":[{"topic":"orders","partition":0}]}',
    "/isr_change_notification/isr_change_0": '{"version":1,"partitions":[{"topic":"orders","partition":0}]}',
    "/log_dir_event_notification/log_dir_event_0": '{"version":1,"broker":0,"event":1}',
    "/latest_producer_id_block": '{"version":1,"broker":0,"block_start":"1000","block_end":"1999"}',
    "/kafka-acl/Topic/orders": (
        '{"acls":[{"principal":"User:alice","permissionType":"Allow","host":"*","operation":"Read"}],"version":1}'
    ),
    "/kafka-acl-changes/acl_changes_0": "TOPIC:orders",
    "/kafka-acl-extended-changes/acl_changes_0": (
        '{"version":1,"resourceType":"TOPIC","name":"pre","patternType":"PREFIXED"}'
    ),
    "/delegation_token/tokens/t": (
        '{"version":3,"owner":"User:alice","tokenRequester":"User:alice","renewers":["User:bob"],'
        '"issueTimestamp":1,"maxTimestamp":2,"expiryTimestamp":3,"tokenId":"t"}'
    ),
}


def recorded() -> list[tuple[str, str]]:
    golden = Path(__file__).parents[1] / "golden" / "znodes-3.9.tsv"
    with golden.open(newline="") as file:
        return [
            (row[0], row[3]) for row in list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
        ]


def decoder(path: str) -> Decode | None:
    kinds = {
        "/brokers/ids/": "/brokers/ids/0",
        "/config/changes/": "/config/changes/config_change_0",
        "/config/": "/config/topics/orders",
    }
    if path.endswith("/state"):
        return PartitionStateZnode.decode
    if path.startswith("/brokers/topics/"):
        return TopicZnode.decode
    kind = next((kinds[each] for each in kinds if path.startswith(each)), path)
    return DECODERS.get(kind)


WITH_DATA = [(path, data) for path, data in recorded() if data not in ("", "null")]


@pytest.mark.parametrize(("path", "data"), [*WITH_DATA, *EXAMPLES.items()])
def test_what_kafka_wrote_is_read_and_written_again_to_the_letter(path: str, data: str) -> None:
    decode = decoder(path)
    assert decode is not None
    assert decode(path, data.encode()).encode().decode() == data


def test_the_nodes_that_are_always_there_are_kafkas() -> None:
    """Those below, and the parents of all that have data."""
    empty = {path for path, data in recorded() if data == "null"}
    made_with_something = {each for each in empty if "orders" in each or "probe" in each or "alice" in each}
    assert empty - made_with_something <= set(znodes.PERSISTENT)
    assert set(znodes.PERSISTENT) <= {path for path, _ in recorded()}


@pytest.mark.parametrize("paths", [znodes.PERSISTENT, security_znodes.PERSISTENT])
def test_parents_come_before_their_children(paths: tuple[str, ...]) -> None:
    seen = {""}
    for path in paths:
        assert path.rpartition("/")[0] in seen
        seen.add(path)


NO_OBJECTS = (b"", b"{", b"[]", b"null", b"1 ", b'"x"', b"\xff\xfe", b"[" * 100_000, b"9" * 5000)
WRONG_FIELDS = {
    "/controller": (b'{"brokerid":1,"timestamp":"soon"}', b'{"timestamp":"1"}', b'{"brokerid":true}'),
    "/brokers/ids/0": (
        b'{"endpoints":["A://a:1"],"listener_security_protocol_map":{"A":"B"},"timestamp":"1"}',
        b'{"endpoints":["x"],"timestamp":"1"}',
        b'{"endpoints":"A://a:1","timestamp":"1"}',
        b'{"endpoints":[1],"timestamp":"1"}',
    ),
    "/brokers/topics/orders": (
        *(b'{"partitions":{"x":[0]}}', b'{"partitions":{"0":["a"]}}', b'{"partitions":{"0":[true]}}'),
        *(b'{"partitions":{"0":0}}', b'{"partitions":[1]}', b'{"partitions":{},"topic_id":"short"}'),
    ),
    "/brokers/topics/orders/partitions/0/state": (
        b"{}",
        b'{"controller_epoch":1,"leader":"1","leader_epoch":0,"isr":[]}',
        b'{"controller_epoch":1,"leader":1.5,"leader_epoch":0,"isr":[]}',
    ),
    "/cluster/id": (b"{}", b'{"id":1}'),
    "/config/topics/orders": (b'{"config":{"a":1}}', b'{"config":[]}'),
    "/config/changes/config_change_0": (b"{}", b'{"version":2,"entity_path":"topics"}'),
    "/admin/reassign_partitions": (b"{}", b'{"partitions":[1]}', b'{"partitions":[{"topic":"a"}]}'),
    "/latest_producer_id_block": (b"{}", b'{"block_start":"1","block_end":2}'),
    "/feature": (b"{}", b'{"features":{"a":"1"},"status":1}'),
    "/kafka-acl/Topic/orders": (b"{}", b'{"acls":[1]}', b'{"acls":[{"principal":"User:a"}]}'),
    "/kafka-acl-extended-changes/acl_changes_0": (b"{}",),
    "/delegation_token/tokens/t": (b"{}",),
}
NOT_JSON = {
    "/controller_epoch": (b"", b"-1", b"9" * 100, b"x"),
    "/kafka-acl-changes/acl_changes_0": (b"", b"TOPIC"),
}
GARBAGE = [
    (path, data)
    for path in DECODERS
    for data in NOT_JSON.get(path, (*NO_OBJECTS, *WRONG_FIELDS.get(path, ())))
]


@pytest.mark.parametrize(("path", "data"), GARBAGE, ids=lambda each: str(each)[:40])
def test_garbage_is_told_with_its_path(path: str, data: bytes) -> None:
    with pytest.raises(BadZnode) as bad:
        DECODERS[path](path, data)
    assert bad.value.path == path
    assert str(bad.value).startswith(f"{path}: ")
    assert len(str(bad.value)) < 300


@given(st.data())
def test_a_mutated_znode_is_read_or_refused(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(EXAMPLES)))
    raw = bytearray(EXAMPLES[path].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BadZnode):
        DECODERS[path](path, bytes(raw)).encode()


def test_half_a_character_does_no_harm() -> None:
    data = b'{"version":1,"config":{"a":"\\ud800"}}'
    assert ConfigZnode.decode("/x", data).encode() == data


def test_a_topic_of_an_older_version_has_no_id() -> None:
    old = TopicZnode.decode("/x", b'{"version":1,"partitions":{"1":[1],"0":[0]}}')
    assert old.id == NO_TOPIC_ID
    assert list(old.replicas) == [0, 1]
    assert b"topic_id" not in old.encode()


def test_paths_are_kafkas() -> None:
    partition = Partition("orders", 3)
    assert PartitionStateZnode.path(partition) == "/brokers/topics/orders/partitions/3/state"
    assert TopicZnode.path("orders") == "/brokers/topics/orders"
    assert BrokerZnode.path(BrokerId(7)) == "/brokers/ids/7"
    assert ConfigZnode.path(ConfigEntity.every_broker()) == "/config/brokers/<default>"
    assert ConfigZnode.path(ConfigEntity("users", "alice/clients/app")) == "/config/users/alice/clients/app"
    assert AclZnode.path("Topic", "pre", "PREFIXED") == "/kafka-acl-extended/prefixed/Topic/pre"
    assert AclChangeZnode("TOPIC", "orders").prefix() == "/kafka-acl-changes/acl_changes_"


def test_an_older_notice_of_a_change_is_read() -> None:
    data = json.dumps({"version": 1, "entity_type": "topics", "entity_name": "orders"}).encode()
    assert ConfigChangeZnode.decode("/x", data).entity == ConfigEntity.topic("orders")
