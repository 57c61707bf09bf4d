"""Settings in environment variables."""

from __future__ import annotations

from odradek.model.config.environment import settings_of


def test_a_variable_names_a_setting() -> None:
    assert settings_of(
        {
            "KAFKA_LOG_RETENTION_MS": "5",
            "KAFKA_LISTENER_NAME_IN__SIDE_SSL_CLIENT_AUTH": "none",
            "KAFKA_LISTENER_NAME_A_SCRAM___SHA___256_SASL_JAAS_CONFIG": "x",
            "KAFKA_HEAP_OPTS": "-Xmx1g",
            "PATH": "/bin",
        }
    ) == {
        "log.retention.ms": "5",
        "listener.name.in_side.ssl.client.auth": "none",
        "listener.name.a.scram-sha-256.sasl.jaas.config": "x",
    }
