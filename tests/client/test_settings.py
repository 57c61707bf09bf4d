"""What a client is told, in Kafka's keys."""

from __future__ import annotations

import pytest

from odradek.client.settings import ClientSettings, addresses
from odradek.model.config.setting import ConfigError
from odradek.net.port import Address


def test_servers_are_separated_by_commas() -> None:
    assert addresses("a:1, b:2 ,,PLAINTEXT://c:3,[::1]:4") == (
        Address("a", 1),
        Address("b", 2),
        Address("c", 3),
        Address("::1", 4),
    )


@pytest.mark.parametrize("servers", ["", ",", "a", "a:", ":1", "a:b", "a:0", "a:65536", "a:1,b"])
def test_servers_that_are_none_are_refused(servers: str) -> None:
    with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
        addresses(servers)


def test_defaults_are_kafka_s() -> None:
    settings = ClientSettings.of("a:1")
    assert settings.timeout_ms == 60_000
    assert settings.request_timeout_ms == 30_000
    assert settings.pause_ms == 100
    assert settings.tls is None


def test_properties_are_read_and_what_is_not_ours_is_left_alone() -> None:
    settings = ClientSettings.of(
        "",
        {
            "bootstrap.servers": "a:1",
            "client.id": "me",
            "default.api.timeout.ms": "5",
            "retry.backoff.ms": "7",
            "max.poll.records": "500",
        },
    )
    assert settings.bootstrap == (Address("a", 1),)
    assert (settings.client_id, settings.timeout_ms, settings.pause_ms) == ("me", 5, 7)
    assert settings.others == {"max.poll.records": "500"}


def test_servers_on_the_command_line_win() -> None:
    assert ClientSettings.of("a:1", {"bootstrap.servers": "b:2"}).bootstrap == (Address("a", 1),)


def test_tls_is_asked_for_by_the_protocol() -> None:
    keys = {
        "ssl.truststore.location": "/t.pem",
        "ssl.truststore.type": "pem",
        "ssl.keystore.location": "/k.p12",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.password": "secret",
        "ssl.enabled.protocols": "TLSv1.3",
        "ssl.endpoint.identification.algorithm": "",
    }
    assert ClientSettings.of("a:1", keys).tls is None
    tls = ClientSettings.of("a:1", {**keys, "security.protocol": "ssl"}).tls
    assert tls is not None
    assert (tls.truststore.location, tls.truststore.kind) == ("/t.pem", "PEM")
    assert (tls.keystore.location, tls.keystore.kind, tls.keystore.password) == ("/k.p12", "PKCS12", "secret")
    assert tls.protocols == ("TLSv1.3",)
    assert not tls.checks_host_name


@pytest.mark.parametrize(
    ("key", "value"),
    [("security.protocol", "SASL_SSL"), ("request.timeout.ms", "soon"), ("retry.backoff.ms", "-1")],
)
def test_what_cannot_be_is_refused_by_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value {value} for configuration {key}"):
        ClientSettings.of("a:1", {key: value})
