"""What clients are told of a cluster before anything else."""

from __future__ import annotations

from tests.compatibility.scenes.asking import Ask, Scene, Script, versions
from tests.compatibility.scenes.topics import CRASH, creating, topic

from odradek.wire.messages.metadata import (
    ApiVersionsRequest,
    DescribeClusterRequest,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

OFFERS = "we serve something else, transactions v2 among it"


def about(
    *names: str | None,
    version: int = 12,
    ids: tuple[bytes, ...] = (),
    creates: bool = False,
    operations: bool = False,
) -> Ask:
    topics = [MetadataRequestTopic(name=name) for name in names]
    topics += [MetadataRequestTopic(name=None, topic_id=id) for id in ids]
    return Ask(
        MetadataRequest(
            topics=tuple(topics),
            allow_auto_topic_creation=creates,
            include_topic_authorized_operations=operations,
            include_cluster_authorized_operations=operations,
        ),
        version,
    )


def everything(version: int, *, operations: bool = False) -> Ask:
    return Ask(
        MetadataRequest(
            topics=None if version >= 1 else (),
            include_topic_authorized_operations=operations,
            include_cluster_authorized_operations=operations,
        ),
        version,
    )


def metadata() -> Script:
    for version in versions("Metadata"):
        yield everything(version)
    yield creating(topic("made", 3), topic("other"))
    known = yield about("made")
    assert isinstance(known, MetadataResponse)
    for version in versions("Metadata"):
        yield everything(version, operations=True)
        yield about("made", "never-made", "with blank", version=version)
        if version >= 1:
            yield about(version=version)
    yield about("made", "made", "other")
    yield about("made", "never-made", operations=True)
    yield about("", "..", "x" * 250)
    yield about(ids=(known.topics[0].topic_id, b"\1" * 16))
    yield about("made", ids=(known.topics[0].topic_id,))
    fields = ("brokers", "cluster_id", "controller_id", "topics.error_code")
    yield about(None).but(CRASH, *fields)


def creation_by_metadata() -> Script:
    """Kafka says first that there is no leader yet; what it says in the end counts."""

    def is_led(answer: object) -> bool:
        assert isinstance(answer, MetadataResponse)
        return all(each.error_code == 0 for each in answer.topics)

    for version in (0, 1, 4, 8, 12):
        asked = about(f"made-{version}", version=version, creates=True)
        yield Ask(asked.request, version, is_led)
    yield about("with blank", "", creates=True)
    yield creating(topic("a.b"))
    yield about("a_b", creates=True)
    yield about("never-made", creates=False)


def no_creation_by_metadata() -> Script:
    for version in (0, 1, 4, 8, 12):
        yield about(f"made-{version}", version=version, creates=True)


def cluster() -> Script:
    for operations in (False, True):
        yield Ask(DescribeClusterRequest(include_cluster_authorized_operations=operations), 0)
        for endpoints in (1, 2, 3):
            request = DescribeClusterRequest(
                include_cluster_authorized_operations=operations, endpoint_type=endpoints
            )
            yield Ask(request, 1)


def what_is_spoken() -> Script:
    for version in versions("ApiVersions"):
        good = ApiVersionsRequest(client_software_name="scene", client_software_version="1.0-a")
        features = ["supported_features", "finalized_features"] if version >= 3 else []
        yield Ask(good, version).but(OFFERS, "api_keys", *features)
        for name, number in (("", "1"), ("scene", ""), ("a b", "1"), ("-a", "1"), ("a", "1-"), ("a_b", "1")):
            bad = ApiVersionsRequest(client_software_name=name, client_software_version=number)
            yield Ask(bad, version).but(OFFERS, *(["api_keys"] if version < 3 else []))


SCENES = (
    Scene(metadata, {"auto.create.topics.enable": "false"}),
    Scene(creation_by_metadata),
    Scene(no_creation_by_metadata, {"auto.create.topics.enable": "false"}),
    Scene(cluster),
    Scene(what_is_spoken),
)
