"""What clients tell of themselves: the numbers they pushed last, kept as long as they go on telling.

A client is forgotten when it has been silent for a while, and the one that has been silent longest when there
are too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from odradek.observe.exposition import Family, Kind, labels

CLIENTS_MAX = 4096
SERIES_MAX = 100_000  # of all clients
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
    def __init__(self, series_max: int = SERIES_MAX) -> None:
        self._series_max = series_max
        self._clients: dict[str, _Client] = {}  # by instance, the one that told last at the end
        self._series_count = 0

    def __len__(self) -> int:
        return len(self._clients)

    def take(self, instance: str, facts: Mapping[str, str], told: Iterable[Told], forget_at: float) -> None:
        """What this client tells now; `facts` label it. It is forgotten at `forget_at` if it says no more."""
        client = self._clients.get(instance) or _Client(facts)
        self.forget(instance)
        self._clients[instance] = client
        client.forget_at = forget_at
        for name, attributes, value, is_delta in told:
            key = (name, attributes)
            known = client.series.get(key)
            if known is None and len(client.series) == SERIES_A_CLIENT_MAX:
                break
            client.series[key] = value + (known or 0.0) if is_delta else value
        self._series_count += len(client.series)
        while len(self._clients) > CLIENTS_MAX or self._series_count > self._series_max:
            self.forget(next(iter(self._clients)))

    def forget(self, instance: str) -> None:
        client = self._clients.pop(instance, None)
        if client is not None:
            self._series_count -= len(client.series)

    def families(self, now: float) -> Iterator[Family]:
        for instance in [name for name, client in self._clients.items() if client.forget_at <= now]:
            self.forget(instance)
        # Clients choose names, and two may come to the same: a series that is told twice would spoil it all.
        by_name: dict[str, dict[str, float]] = {}
        for instance, client in self._clients.items():
            ours = {"client_instance_id": instance, **client.facts}
            for (name, attributes), value in client.series.items():
                own = {_label(key): text for key, text in attributes}
                by_name.setdefault(PREFIX + _legal(name), {})[labels(**{**own, **ours})] = value
        for name, samples in sorted(by_name.items()):
            yield Family(name, Kind.UNTYPED, "Pushed by clients.", samples.items())


def _label(key: str) -> str:
    """No digit comes first, nor two underscores: those are Prometheus' own."""
    name = _legal(key).lstrip("_")
    return name if name[:1].isalpha() else f"_{name}"


def _legal(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name)
