"""What clients tell of themselves: the numbers they pushed last, kept as long as they go on telling.

A client is forgotten when it has been silent for a while, and the one that has been silent longest when there
are too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from odradek.observe.exposition import Family, Kind, Sample, labels

CLIENTS_MAX = 4096
SERIES_A_CLIENT_MAX = 1000
PREFIX = "kafka_client_"

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


class Told(NamedTuple):
    """One number. A delta adds to what the client told before."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    value: float
    is_delta: bool


class _Client:
    __slots__ = ("facts", "forget_at", "series")

    def __init__(self, facts: Mapping[str, str]) -> None:
        self.facts = facts
        self.forget_at = 0.0
        self.series: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}


class ClientMetrics:
    def __init__(self) -> None:
        self._clients: dict[str, _Client] = {}  # by instance, the one that told last at the end

    def __len__(self) -> int:
        return len(self._clients)

    def take(self, instance: str, facts: Mapping[str, str], told: Iterable[Told], forget_at: float) -> None:
        """What this client tells now; `facts` label it. It is forgotten at `forget_at` if it says no more."""
        client = self._clients.pop(instance, None) or _Client(facts)
        self._clients[instance] = client
        client.forget_at = forget_at
        for name, attributes, value, is_delta in told:
            key = (name, attributes)
            known = client.series.get(key)
            if known is None and len(client.series) == SERIES_A_CLIENT_MAX:
                break
            client.series[key] = value + (known or 0.0) if is_delta else value
        while len(self._clients) > CLIENTS_MAX:
            del self._clients[next(iter(self._clients))]

    def forget(self, instance: str) -> None:
        self._clients.pop(instance, None)

    def families(self, now: float) -> Iterator[Family]:
        for instance in [name for name, client in self._clients.items() if client.forget_at <= now]:
            del self._clients[instance]
        by_name: dict[str, list[Sample]] = {}
        for instance, client in self._clients.items():
            for (name, attributes), value in client.series.items():
                own = {_legal(key): text for key, text in attributes}
                told = labels(client_instance_id=instance, **client.facts, **own)
                by_name.setdefault(PREFIX + _legal(name), []).append((told, value))
        for name, samples in sorted(by_name.items()):
            yield Family(name, Kind.UNTYPED, "Pushed by clients.", samples)


def _legal(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name)
