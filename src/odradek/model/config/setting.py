"""One setting: all that is known about a key, in one row."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from odradek.model.config.values import Kind, Valid, Value, blamed, read, write


class Importance(Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Update(Enum):
    """Whether a running broker takes a new value, and whether for itself or for the whole cluster."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"
    PER_TOPIC = ""


HIGH, MEDIUM, LOW = Importance
READ_ONLY, PER_BROKER, CLUSTER_WIDE, PER_TOPIC = Update


class Support(Enum):
    SERVED = "served"
    WITHOUT_EFFECT = "accepted without effect"
    REFUSED = "refused"


class Status(NamedTuple):
    """What becomes of a setting here. A refused one still takes its default, and the `harmless` values."""

    support: Support
    reason: str = ""
    harmless: tuple[Value, ...] = ()


SERVED = Status(Support.SERVED)


def without_effect(reason: str) -> Status:
    return Status(Support.WITHOUT_EFFECT, reason)


def refused(reason: str, *harmless: Value) -> Status:
    return Status(Support.REFUSED, reason, harmless)


class ConfigError(Exception):
    """A setting has a value it cannot have. The message names the key, the value, and what is allowed."""


class Setting(NamedTuple):
    name: str
    kind: Kind
    default: Value
    valid: Valid
    importance: Importance
    update: Update
    status: Status
    meaning: str
    server_names: tuple[str, ...] = ()  # of a topic's setting: the broker's that give its default, first wins

    @property
    def is_sensitive(self) -> bool:
        return self.kind is Kind.PASSWORD

    def parse(self, text: str, key: str | None = None) -> Value:
        """The value of `text`, or `ConfigError`. `key` is the name as written, where it has a prefix."""
        try:
            value = read(self.kind, text)
        except ValueError as bad:
            raise self.error(text, str(bad), key) from None
        complaint = self.valid.complaint(value)
        if complaint is not None:
            raise self.error(blamed(self.valid, value, text), complaint, key)
        if self.status.support is Support.REFUSED and not self._is_harmless(value):
            raise self.error(text, self.status.reason, key)
        return value

    def error(self, text: str, complaint: str, key: str | None = None) -> ConfigError:
        shown = "[hidden]" if self.is_sensitive else text
        return ConfigError(f"Invalid value {shown} for configuration {key or self.name}: {complaint}")

    def default_text(self) -> str | None:
        return write(self.default)

    def _is_harmless(self, value: Value) -> bool:
        return value == self.default or value in self.status.harmless
