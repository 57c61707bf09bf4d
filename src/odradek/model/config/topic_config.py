"""A topic's settings with their values: its own where it has them, else what its broker's settings say."""

from __future__ import annotations

from odradek.model.config.broker_config import BrokerConfig, Texts
from odradek.model.config.origin import Source, Synonym
from odradek.model.config.registry import TOPIC_SETTINGS
from odradek.model.config.setting import ConfigError
from odradek.model.config.typed import TypedValues
from odradek.model.config.values import LONG_MAX, Value, write

_BEFORE, _AFTER = "message.timestamp.before.max.ms", "message.timestamp.after.max.ms"
_MILLISECONDS = {"minutes": 60_000, "hours": 3_600_000}


class TopicConfig(TypedValues):
    """What was written of a topic before, by us or by others, is taken as far as it can be read."""

    __slots__ = ("_broker", "_own", "ignored")

    def __init__(self, broker: BrokerConfig, own: Texts) -> None:
        self._broker = broker
        self._own: dict[str, Value] = {}
        ignored = []
        for name, text in own.items():
            try:
                self._own[name] = _parsed(name, text)
            except ConfigError as bad:
                ignored.append(str(bad))
        self.ignored = tuple(ignored)

    @staticmethod
    def check(broker: BrokerConfig, own: Texts) -> None:
        """`ConfigError`, in Kafka's words, if no topic can have these settings."""
        for name in own:
            if name not in TOPIC_SETTINGS:
                raise ConfigError(f"Unknown topic config name: {name}")
        config = TopicConfig(broker, own)
        if config.ignored:
            raise ConfigError(config.ignored[0])
        low, high = config.integer("min.compaction.lag.ms"), config.integer("max.compaction.lag.ms")
        if low > high:
            names = f"min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})"
            raise ConfigError(f"conflict topic config setting {names}")

    def value(self, name: str) -> Value:
        value = self._set_or_default(name)
        if (
            name in (_BEFORE, _AFTER) and value == LONG_MAX
        ):  # the older setting speaks where the newer is silent
            return self._set_or_default("message.timestamp.difference.max.ms")
        return value

    def is_set(self, name: str) -> bool:
        return name in self._own

    def text(self, name: str) -> str | None:
        return write(self.value(name))

    def synonyms(self, name: str) -> list[Synonym]:
        """Where the value of `name` was looked for and found, the strongest first."""
        own = [Synonym(name, write(self._own[name]), Source.TOPIC)] if name in self._own else []
        server_names = TOPIC_SETTINGS[name].server_names
        return own + (self._broker.synonyms(server_names[0]) if server_names else [])

    def _set_or_default(self, name: str) -> Value:
        if name in self._own:
            return self._own[name]
        for server_name in TOPIC_SETTINGS[name].server_names:
            value = self._broker.value(server_name)
            if value is not None:
                return _in_milliseconds(server_name, value)
        return TOPIC_SETTINGS[name].default


def _parsed(name: str, text: str) -> Value:
    if name not in TOPIC_SETTINGS:
        raise ConfigError(f"Unknown topic config name: {name}")
    return TOPIC_SETTINGS[name].parse(text)


def _in_milliseconds(server_name: str, value: Value) -> Value:
    """A time that a broker's setting tells in minutes or hours; a negative one means for ever."""
    unit = _MILLISECONDS.get(server_name.rpartition(".")[2])
    if unit is None or not isinstance(value, int):
        return value
    return -1 if value < 0 else value * unit
