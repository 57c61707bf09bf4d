"""Frames that no client should send."""

from __future__ import annotations

import struct

from tests.compatibility.scenes.asking import API_BY_NAME, AskBytes, Scene, Script

from odradek.wire.frame import request_frame
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

METADATA, API_VERSIONS = API_BY_NAME["Metadata"], API_BY_NAME["ApiVersions"]
NEWER = "we speak one version more"


def header(key: int, version: int, client_id: bytes | None = b"scene") -> bytes:
    size = -1 if client_id is None else len(client_id)
    return struct.pack(">hhih", key, version, 1, size) + (client_id or b"")


def versions_that_nobody_speaks() -> Script:
    for version in (99, -1, 32767):
        yield AskBytes(header(18, version) + b"\0", API_VERSIONS, 0).but(NEWER, "api_keys.max_version")
        yield AskBytes(header(3, version) + bytes(9), METADATA, 0)
    for key in (99, 999, -1, 32767):
        yield AskBytes(header(key, 0) + bytes(9), METADATA, 0)


def half_frames() -> Script:
    request = MetadataRequest(topics=(MetadataRequestTopic(name="topic"),))
    parts = request_frame(METADATA, 1, 1, "scene", request)
    whole = b"".join(part for part in parts if isinstance(part, bytes | bytearray | memoryview))[4:]
    yield AskBytes(whole, METADATA, 1)
    for size in (0, 1, 4, 8, 10, 12, len(whole) - 1):
        yield AskBytes(whole[:size], METADATA, 1)
    yield AskBytes(header(3, 1, None) + struct.pack(">i", 0), METADATA, 1)


def lies_about_sizes() -> Script:
    yield AskBytes(b"", METADATA, 1, size=-1)
    yield AskBytes(b"", METADATA, 1, size=2**31 - 1)
    yield AskBytes(b"", METADATA, 1, size=104857601)
    for count in (-2, 2, 1_000_000, 2**31 - 1):  # topics that are said to come
        yield AskBytes(header(3, 1) + struct.pack(">ih", count, 4) + b"made", METADATA, 1)
    for size in (-1, -2, 5, 32767):  # of a name
        yield AskBytes(header(3, 1) + struct.pack(">ih", 1, size) + b"made", METADATA, 1)
    for size in (-2, 6, 32767):  # of the client's id
        yield AskBytes(struct.pack(">hhih", 3, 1, 1, size) + b"scene" + bytes(4), METADATA, 1)


NO_TOPICS = {"auto.create.topics.enable": "false"}

SCENES = (
    Scene(versions_that_nobody_speaks),
    Scene(half_frames, NO_TOPICS),
    Scene(lies_about_sizes, NO_TOPICS),
)
