"""The configurations that hold now: this broker's, and each topic's; changed live by what the store says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from odradek.log.settings import LogSettings
from odradek.model.config.broker_config import BrokerConfig
from odradek.model.config.topic_config import TopicConfig
from odradek.model.ids import BrokerId
from odradek.model.image import ClusterImage, ConfigEntity

_logger = logging.getLogger("odradek.broker.configs")

OnTopic = Callable[[str], None]
OnBroker = Callable[[BrokerConfig], None]


class Configs:
    """Topic configurations are read once and kept until something under them changes."""

    def __init__(self, started_with: BrokerConfig, image: Callable[[], ClusterImage]) -> None:
        self.broker = started_with
        self._image = image
        self._topics: dict[str, tuple[Mapping[str, str], TopicConfig]] = {}  # with what they were read from
        self._settings: dict[str, LogSettings] = {}
        self._on_topic: list[OnTopic] = []
        self._on_broker: list[OnBroker] = []

    def topic(self, name: str) -> TopicConfig:
        texts = self._image().config(ConfigEntity.topic(name))
        read_from, known = self._topics.get(name, (None, None))
        if known is None or read_from is not texts:
            known = TopicConfig(self.broker, texts)
            self._topics[name] = (texts, known)
            for complaint in known.ignored:
                _logger.warning("topic %s: %s; the default holds", name, complaint)
        return known

    def log_settings(self, name: str) -> LogSettings:
        """Equal settings are one object, so that thousands of partitions share it."""
        settings = log_settings(self.topic(name))
        return self._settings.setdefault(repr(settings), settings)

    def on_topic(self, watcher: OnTopic) -> None:
        self._on_topic.append(watcher)

    def on_broker(self, watcher: OnBroker) -> None:
        self._on_broker.append(watcher)

    def changed(self, entity: ConfigEntity, broker_id: BrokerId) -> None:
        """The image has another configuration for this entity."""
        if entity.kind == "topics":
            self._topics.pop(entity.name, None)
            for tell_topic in self._on_topic:
                tell_topic(entity.name)
        elif entity in (ConfigEntity.every_broker(), ConfigEntity.broker(broker_id)):
            self._broker_changed(broker_id)

    def _broker_changed(self, broker_id: BrokerId) -> None:
        image = self._image()
        self.broker = self.broker.with_dynamic(
            this_broker=image.config(ConfigEntity.broker(broker_id)),
            every_broker=image.config(ConfigEntity.every_broker()),
        )
        for complaint in self.broker.ignored:
            _logger.warning("%s; what held before holds on", complaint)
        topics = list(self._topics)
        self._topics.clear()
        for tell_broker in self._on_broker:
            tell_broker(self.broker)
        for name in topics:
            for tell_topic in self._on_topic:
                tell_topic(name)


def log_settings(config: TopicConfig) -> LogSettings:
    """What of a topic's configuration its logs obey."""
    return LogSettings(
        segment_bytes=config.integer("segment.bytes"),
        segment_ms=config.integer("segment.ms"),
        segment_jitter_ms=config.integer("segment.jitter.ms"),
        segment_index_bytes=config.integer("segment.index.bytes"),
        index_interval_bytes=config.integer("index.interval.bytes"),
        preallocate=config.boolean("preallocate"),
        flush_messages=config.integer("flush.messages"),
        flush_ms=config.integer("flush.ms"),
        retention_bytes=config.integer("retention.bytes"),
        retention_ms=config.integer("retention.ms"),
        file_delete_delay_ms=config.integer("file.delete.delay.ms"),
        cleanup_policy=frozenset(config.words("cleanup.policy")),
        delete_retention_ms=config.integer("delete.retention.ms"),
        min_compaction_lag_ms=config.integer("min.compaction.lag.ms"),
        max_compaction_lag_ms=config.integer("max.compaction.lag.ms"),
        min_cleanable_dirty_ratio=config.double("min.cleanable.dirty.ratio"),
        max_message_bytes=config.integer("max.message.bytes"),
        compression_type=config.string("compression.type"),
        compression_gzip_level=config.integer("compression.gzip.level"),
        compression_lz4_level=config.integer("compression.lz4.level"),
        compression_zstd_level=config.integer("compression.zstd.level"),
        message_timestamp_type=config.string("message.timestamp.type"),
        message_timestamp_before_max_ms=config.integer("message.timestamp.before.max.ms"),
        message_timestamp_after_max_ms=config.integer("message.timestamp.after.max.ms"),
    )


def own_texts(image: ClusterImage, topic: str) -> Mapping[str, str]:
    return image.config(ConfigEntity.topic(topic))
