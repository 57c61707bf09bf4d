"""What a scene is made of: questions to a broker, in an order, some of them made of earlier answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from odradek.broker.registry import routes
from odradek.wire.apis import API_BY_KEY, Api

GOLDEN = Path(__file__).parents[2] / "golden"
API_BY_NAME = {api.name: api for api in API_BY_KEY.values()}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. It is asked again until `settled` takes the answer, for what comes about by itself."""

    request: object
    version: int
    settled: Callable[[object], bool] = lambda _: True
    differs: Mapping[str, str] = field(default_factory=dict)

    @property
    def api(self) -> Api:
        return API_BY_NAME[type(self.request).__name__.removesuffix("Request")]

    def but(self, why: str, *fields: str) -> Ask:
        """We answer otherwise than Kafka, in fields like `topics.error_message`."""
        return replace(self, differs={**self.differs, **dict.fromkeys(fields, why)})


@dataclass(frozen=True, slots=True)
class AskBytes:
    """A frame that no client should send. An answer to it is read as one of `api`."""

    frame: bytes  # without its size
    api: Api
    version: int
    size: int | None = None  # what is said to be its size, where that is not true
    differs: Mapping[str, str] = field(default_factory=dict)

    def but(self, why: str, *fields: str) -> AskBytes:
        return replace(self, differs={**self.differs, **dict.fromkeys(fields, why)})


Script: TypeAlias = Generator[Ask | AskBytes, object, None]


@dataclass(frozen=True, slots=True)
class Scene:
    """Played to a fresh broker of id 0. It yields what it asks and is sent the answer."""

    script: Callable[[], Script]
    settings: Mapping[str, str] = field(default_factory=dict)  # of the broker

    @property
    def name(self) -> str:
        return self.script.__name__


def versions(name: str) -> Iterator[int]:
    """Every version that Kafka 3.9.2 and we both serve."""
    kafkas = json.loads((GOLDEN / "messages-3.9.2.json").read_text())[f"{name}Request"]["validVersions"]
    first, _, last = kafkas.partition("-")
    ours = routes()[API_BY_NAME[name].key].versions
    return iter(range(max(int(first), ours[0]), min(int(last or first), ours[-1]) + 1))
