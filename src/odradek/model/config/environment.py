"""Settings in environment variables, as the images of Kafka for Docker take them.

KAFKA_LOG_RETENTION_MS is log.retention.ms; two underscores stand for one, three for a dash.
"""

from __future__ import annotations

from collections.abc import Mapping

_PREFIX = "KAFKA_"
_NOT_SETTINGS = (  # what Kafka's start scripts and images read themselves
    *("KAFKA_OPTS", "KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_JMX_OPTS"),
    *("KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME", "KAFKA_LOG4J_OPTS", "KAFKA_LOG4J_LOGGERS", "KAFKA_HOME"),
    *("KAFKA_LOG4J_ROOT_LOGLEVEL", "KAFKA_TOOLS_LOG4J_LOGLEVEL", "KAFKA_DEBUG", "KAFKA_VERSION"),
)


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        _key(name): value
        for name, value in environment.items()
        if name.startswith(_PREFIX) and name not in _NOT_SETTINGS and name != _PREFIX
    }


def _key(name: str) -> str:
    key = name.removeprefix(_PREFIX).lower().replace("___", "-").replace("__", "\0")
    return key.replace("_", ".").replace("\0", "_")
