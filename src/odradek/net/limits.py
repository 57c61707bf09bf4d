"""How many connections there may be: in all, on a listener, from an address; and how many new ones a second.

Pure: told what happened and what time it is, it says whether to accept. Over a limit of its own an address is
turned away at once. Over any other limit nobody is: who connects waits in the listener's backlog.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connections_max: int = NO_LIMIT  # max.connections
    per_address_max: int = NO_LIMIT  # max.connections.per.ip
    per_address_overrides: Mapping[str, int] = field(default_factory=dict)
    creation_rate_max: int = NO_LIMIT  # max.connection.creation.rate, a second


@dataclass(frozen=True, slots=True)
class ListenerLimits:
    connections_max: int = NO_LIMIT  # listener.name.<name>.max.connections
    creation_rate_max: int = NO_LIMIT  # listener.name.<name>.max.connection.creation.rate
    is_for_brokers: bool = False  # other brokers get in when clients have used up max.connections


class CreationRate:
    """A bucket that holds one second's worth of new connections."""

    __slots__ = ("_filled", "_filled_at", "rate")

    def __init__(self, rate: int, now: float) -> None:
        self.rate = rate
        self._filled = float(rate)
        self._filled_at = now

    def accepted(self, now: float) -> None:
        self._filled = min(self.rate, self._filled + (now - self._filled_at) * self.rate) - 1
        self._filled_at = now

    def next_at(self) -> float:
        """When the next one may come."""
        if self._filled >= 1:
            return -math.inf
        return self._filled_at + (1 - self._filled) / self.rate if self.rate else math.inf


class Admission:
    """The connections there are, counted, and whether one more may come."""

    def __init__(self, limits: ConnectionLimits, now: float) -> None:
        self.limits = limits
        self._rate = CreationRate(limits.creation_rate_max, now)
        self._listeners: dict[str, tuple[ListenerLimits, CreationRate]] = {}
        self._per_listener: Counter[str] = Counter()
        self._per_address: Counter[str] = Counter()

    def add_listener(self, name: str, limits: ListenerLimits, now: float) -> None:
        """A name may have an IPv4 and an IPv6 address; they share what it may have."""
        if name not in self._listeners:
            self._listeners[name] = limits, CreationRate(limits.creation_rate_max, now)

    def limit_listener(self, name: str, limits: ListenerLimits, now: float) -> None:
        """Other limits than before for a listener that is there."""
        before, rate = self._listeners[name]
        if limits.creation_rate_max != before.creation_rate_max:
            rate = CreationRate(limits.creation_rate_max, now)
        self._listeners[name] = limits, rate

    def reconfigure(self, limits: ConnectionLimits, now: float) -> None:
        if limits.creation_rate_max != self.limits.creation_rate_max:
            self._rate = CreationRate(limits.creation_rate_max, now)
        self.limits = limits

    def arrived(self, listener: str, host: str, now: float) -> bool:
        """Whether it may stay. One that may not is not counted, except against the rate."""
        self._rate.accepted(now)
        self._listeners[listener][1].accepted(now)
        if self._per_address[host] >= self._address_max(host):
            return False
        self._per_listener[listener] += 1
        self._per_address[host] += 1
        return True

    def left(self, listener: str, host: str) -> None:
        self._per_listener[listener] -= 1
        self._per_address[host] -= 1
        if not self._per_address[host]:
            del self._per_address[host]

    def opens_at(self, listener: str) -> float:
        """From when on the listener may accept: a time, or infinity for when somebody has left."""
        limits, rate = self._listeners[listener]
        is_full = self._per_listener[listener] >= limits.connections_max
        if not limits.is_for_brokers:
            is_full |= self._per_listener.total() >= self.limits.connections_max
        return math.inf if is_full else max(rate.next_at(), self._rate.next_at())

    def _address_max(self, host: str) -> int:
        return self.limits.per_address_overrides.get(host, self.limits.per_address_max)
