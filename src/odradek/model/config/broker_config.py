"""A broker's settings with their values: what was set and by whom, and what therefore holds.

Three layers lie over the defaults: what the broker was started with, what was set while it runs for every
broker, and what was set while it runs for this one. A configuration never changes; setting something while
the broker runs makes another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from odradek.model.config.checks import complaints
from odradek.model.config.listening import LISTENING_KEYS, Listening, complaints_about_listening, listening
from odradek.model.config.origin import Source, Synonym
from odradek.model.config.registry import KNOWN_SETTINGS, broker_setting, listener_prefix
from odradek.model.config.setting import ConfigError, Setting, Support, Update
from odradek.model.config.typed import TypedValues
from odradek.model.config.values import Value, write
from odradek.model.ids import BrokerId

Texts: TypeAlias = Mapping[str, str]
Values: TypeAlias = Mapping[str, Value]

_BY_UNIT = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
)
_SYNONYMS = {name: names for names in _BY_UNIT for name in names}


class BrokerConfig(TypedValues):
    __slots__ = ("_layers", "ignored", "listening", "unknown")

    def __init__(self, layers: dict[Source, Values], unknown: Texts, ignored: tuple[str, ...] = ()) -> None:
        """For `of` and `with_dynamic`, which read and check."""
        self._layers = layers
        self.unknown = unknown  # keys that are not Kafka's; plug-ins' own settings look like this
        self.ignored = ignored  # what was set while brokers run and cannot be read
        self.listening: Listening = listening(self)

    @staticmethod
    def of(texts: Texts) -> BrokerConfig:
        """What a broker is started with. `ConfigError` lists all that is wrong, a line each."""
        values, bad = _read(texts)
        if bad:
            raise ConfigError("\n".join(bad.values()))
        unknown = {key: text for key, text in texts.items() if broker_setting(key) is None}
        for one, other in (("broker.id", "node.id"), ("node.id", "broker.id")):
            if one in values:
                values.setdefault(other, values[one])
        config = BrokerConfig(
            {Source.THIS_BROKER: {}, Source.EVERY_BROKER: {}, Source.STATIC: values}, unknown
        )
        config.check()
        return config

    def with_dynamic(self, *, this_broker: Texts, every_broker: Texts) -> BrokerConfig:
        """With all that is set while brokers run, instead of what was. What cannot be read is ignored."""
        this, bad_here = _read(this_broker)
        every, bad_everywhere = _read(every_broker)
        ignored = (*bad_here.values(), *bad_everywhere.values())
        layers = {**self._layers, Source.THIS_BROKER: this, Source.EVERY_BROKER: every}
        try:
            return BrokerConfig(layers, self.unknown, ignored)
        except ConfigError as bad:
            for key in LISTENING_KEYS:
                this.pop(key, None)
            return BrokerConfig(layers, self.unknown, (*ignored, str(bad)))

    def check(self) -> None:
        """`ConfigError` if values that are each right do not fit together."""
        bad = [*complaints(self), *complaints_about_listening(self.listening)]
        if bad:
            raise ConfigError("\n".join(bad))

    # -- asking --------------------------------------------------------------------------------------------

    def value(self, name: str) -> Value:
        for layer in self._layers.values():
            if name in layer:
                return layer[name]
        return KNOWN_SETTINGS[name].default

    def for_listener(self, listener: str) -> ListenerConfig:
        return ListenerConfig(self, listener_prefix(listener))

    def is_set(self, key: str) -> bool:
        return any(key in layer for layer in self._layers.values())

    @property
    def broker_id(self) -> BrokerId:
        """-1: one is to be given out."""
        return BrokerId(self.integer("broker.id"))

    @property
    def data_dirs(self) -> tuple[str, ...]:
        dirs = self.optional_string("log.dirs") or self.string("log.dir")
        return tuple(each.strip() for each in dirs.split(",") if each.strip())

    def synonyms(self, name: str) -> list[Synonym]:
        """Where the value of `name` was looked for and found, the strongest first."""
        plain = _known(name).name
        names = _SYNONYMS.get(name, (name,) if name == plain else (name, plain))
        defaults = {each: KNOWN_SETTINGS[each].default for each in names if each in KNOWN_SETTINGS}
        layers = {**self._layers, Source.DEFAULT: defaults}
        found = [
            Synonym(each, write(layer[each]), source)
            for source, layer in layers.items()
            for each in names
            if each in layer and (source is not Source.DEFAULT or layer[each] is not None)
        ]
        # Kafka tells another's value only below one that the setting has itself.
        own = next((at for at, each in enumerate(found) if each.name == name), len(found))
        return found[own:]

    def set_keys(self) -> dict[str, Source]:
        """All keys that somebody set, prefixed ones too, with the strongest who did."""
        return {key: source for source in reversed(self._layers) for key in self._layers[source]}

    def text(self, key: str) -> str | None:
        """The value of a key that somebody set, or of a setting, as clients see it; None for a secret."""
        layer = next((layer for layer in self._layers.values() if key in layer), None)
        return write(KNOWN_SETTINGS[key].default if layer is None else layer[key])

    def notices(self) -> Iterator[str]:
        """What the operator should know once at the start: settings that do not do what they say."""
        for key in self.unknown:
            yield f"{key} is not a setting of a broker; it is ignored"
        for key, value in self._layers[Source.STATIC].items():
            setting = _known(key)
            if setting.status.support is Support.WITHOUT_EFFECT and value != setting.default:
                yield f"{key} has no effect: {setting.status.reason}"

    # -- changing while the broker runs --------------------------------------------------------------------

    def check_dynamic(self, texts: Texts, *, per_broker: bool) -> None:
        """`ConfigError`, in Kafka's words, if a running broker cannot take these settings."""
        _refuse(texts, _is_fixed, "Cannot update these configs dynamically")
        _refuse(
            texts,
            _is_for_a_listener,
            "These security configs can be dynamically updated only per-listener using the listener prefix",
        )
        values, bad = _read(texts)
        if bad:
            raise ConfigError(next(iter(bad.values())))
        if not per_broker:
            _refuse(
                texts,
                _is_per_broker,
                "Cannot update these configs at default cluster level, broker id must be specified",
            )
        layer = Source.THIS_BROKER if per_broker else Source.EVERY_BROKER
        BrokerConfig({**self._layers, layer: values}, self.unknown).check()


class ListenerConfig(TypedValues):
    """A broker's settings as they hold for one listener: its own, under its prefix, come first."""

    __slots__ = ("_broker", "_prefix")

    def __init__(self, broker: BrokerConfig, prefix: str) -> None:
        self._broker = broker
        self._prefix = prefix

    def value(self, name: str) -> Value:
        own = self._prefix + name
        if self._broker.is_set(own):
            return self._broker.value(own)
        return self._broker.value(name)


def _read(texts: Texts) -> tuple[dict[str, Value], dict[str, str]]:
    """The values of all known keys, and what is wrong with the others that are known."""
    values: dict[str, Value] = {}
    bad: dict[str, str] = {}
    for key, text in texts.items():
        setting = broker_setting(key)
        if setting is not None:
            try:
                values[key] = setting.parse(text, key)
            except ConfigError as complaint:
                bad[key] = str(complaint)
    return values, bad


def _known(key: str) -> Setting:
    setting = broker_setting(key)
    assert setting is not None, key
    return setting


def _refuse(texts: Texts, unfit: Callable[[str, Setting], bool], complaint: str) -> None:
    keys = [key for key in texts if (setting := broker_setting(key)) is not None and unfit(key, setting)]
    if keys:
        raise ConfigError(f"{complaint}: Set({', '.join(keys)})")


def _is_fixed(key: str, setting: Setting) -> bool:
    del key
    return setting.update is Update.READ_ONLY


def _is_per_broker(key: str, setting: Setting) -> bool:
    """What a listener has of its own is its broker's, but for the bounds that all may share."""
    is_for_all = setting.name.startswith("max.connection")
    return setting.update is Update.PER_BROKER or (key != setting.name and not is_for_all)


def _is_for_a_listener(key: str, setting: Setting) -> bool:
    stores = ("ssl.keystore.", "ssl.truststore.", "ssl.key.")
    return key == setting.name and key.startswith(stores)
