"""Playing a scene to a broker, and telling what it answered in words that can be compared.

What differs from run to run is told by what it is: a topic's id by the topic's name, wherever the id comes
again; hosts, ports, directories, sessions and times by the names of their fields. Lists whose order means
nothing are sorted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TypeAlias

from tests.compatibility.scenes.asking import Ask, AskBytes, Scene

from odradek.testing.conversation import Conversation
from odradek.wire.frame import read_response
from odradek.wire.messages.configs import DescribedConfig
from odradek.wire.schema import Array, declaration

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

CLOSED = "the broker closed the connection"
SILENT = "the broker does not answer"
SETTLES_WITHIN_S = 20
_ENVIRONMENT = {
    "host",
    "port",
    "cluster_id",
    "log_dir",
    "path",
    "total_bytes",
    "usable_bytes",
    "session_id",
    "client_instance_id",
}
_TIMES = {"log_append_time_ms", "last_timestamp", "transaction_start_time_ms"}
_NOW_MS = 24 * 3600 * 1000  # by which a clock may differ that tells the present
_TEXTS = {"documentation"}
_ORDERED = {"synonyms"}
_OWN_SETTINGS = {"listeners", "log.dirs", "zookeeper.connect"}  # each broker has others
_OF_A_SETTING = {"value", "config_source", "synonyms"}
_NOTHING = (None, 0, -1, "")


class Player:
    """One broker and what was learnt of it."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._client: Conversation | None = None
        self._ids: dict[bytes, str] = {}

    def play(self, scene: Scene) -> Iterator[tuple[Ask | AskBytes, Json, Json]]:
        """Everything that is asked, as it was told, with its answer."""
        script = scene.script()
        asked = next(script, None)
        while asked is not None:
            question = self._tell_question(asked)
            answer = self._answer(asked)
            told = answer if isinstance(answer, str) else self._tell(answer, asked.version)
            yield asked, question, told
            try:
                asked = script.send(answer)
            except StopIteration:
                asked = None
        self.close()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    # -- asking ------------------------------------------------------------------------------------------

    def _answer(self, asked: Ask | AskBytes) -> object:
        """What came back, or a word for what happened instead."""
        deadline = time.monotonic() + SETTLES_WITHIN_S
        while True:
            answer = self._ask_once(asked)
            if isinstance(asked, AskBytes) or isinstance(answer, str) or asked.settled(answer):
                return answer
            assert time.monotonic() < deadline, f"{asked} never settles: {answer}"
            time.sleep(0.05)

    def _ask_once(self, asked: Ask | AskBytes) -> object:
        if self._client is None:
            self._client = Conversation(self._bootstrap, "scene")
        try:
            if isinstance(asked, Ask):
                return self._client.ask(asked.request, asked.version)
            size = len(asked.frame) if asked.size is None else asked.size
            self._client.send_bytes(size.to_bytes(4, "big", signed=True) + asked.frame)
            return read_response(asked.api, asked.version, memoryview(self._client.receive_frame()))
        except TimeoutError:
            self.close()
            return SILENT
        except (EOFError, ConnectionError):
            self.close()
            return CLOSED

    # -- telling -----------------------------------------------------------------------------------------

    def _tell_question(self, asked: Ask | AskBytes) -> Json:
        if isinstance(asked, AskBytes):
            return {
                "api": asked.api.name,
                "version": asked.version,
                "frame": asked.frame.hex(),
                "size": asked.size,
            }
        request = self._tell(asked.request, asked.version)
        return {"api": asked.api.name, "version": asked.version, "request": request}

    def _tell(self, message: object, version: int) -> Json:
        told: dict[str, Json] = {}
        self._learn_id(message)
        is_own_setting = isinstance(message, DescribedConfig) and message.name in _OWN_SETTINGS
        for field in declaration(type(message)).fields:
            if not field.exists(version) or (is_own_setting and field.name in _OF_A_SETTING):
                continue
            value = getattr(message, field.name)
            if isinstance(field.shape, Array) and value is not None:
                items = [self._value(field.name, each, version) for each in value]
                if items and isinstance(items[0], dict) and field.name not in _ORDERED:
                    items.sort(key=lambda item: json.dumps(item, sort_keys=True))
                told[field.name] = items
            else:
                told[field.name] = self._value(field.name, value, version)
        return told

    def _learn_id(self, message: object) -> None:
        """Whose id a topic's id is, where both are told."""
        name, id = getattr(message, "name", None), getattr(message, "topic_id", None)
        if name and isinstance(id, bytes) and any(id) and id not in self._ids:
            before = sum(told.endswith(f"id of {name}") for told in self._ids.values())
            self._ids[id] = f"the {'new ' * before}id of {name}"

    def _value(self, name: str, value: object, version: int) -> Json:
        if hasattr(type(value), "__declaration__"):
            return self._tell(value, version)
        if isinstance(value, bytes) and value in self._ids:
            return self._ids[value]
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value).hex()
        if (name in _ENVIRONMENT or name in _TEXTS) and value not in _NOTHING:
            return f"a {name}"
        if name in _TIMES and isinstance(value, int) and abs(value - time.time() * 1000) < _NOW_MS:
            return f"a {name}"
        assert value is None or isinstance(value, bool | int | float | str), f"{name} is {value!r}"
        return value
