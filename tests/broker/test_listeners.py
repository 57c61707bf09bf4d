"""Several listeners: each client is told the address it can reach, whichever door it came by."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest

from odradek.testing.broker import Broker
from odradek.testing.certificates import identity
from odradek.testing.conversation import Conversation
from odradek.wire.messages.metadata import MetadataRequest, MetadataResponse


def brokers_by(client: Conversation) -> list[tuple[str, int]]:
    answer = client.ask(MetadataRequest(topics=()), 12)
    assert isinstance(answer, MetadataResponse)
    return [(broker.host, broker.port) for broker in answer.brokers]


def test_each_listener_tells_its_own_address() -> None:
    settings = {
        "listeners": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
        "advertised.listeners": "INSIDE://127.0.0.1:0,OUTSIDE://broker.example:19092",
    }
    with Broker(settings) as broker:
        inside, outside = broker.addresses
        with Conversation(str(inside)) as client:
            assert brokers_by(client) == [(inside.host, inside.port)]
        with Conversation(str(outside)) as client:
            assert brokers_by(client) == [("broker.example", 19092)]


def test_ipv6_is_an_address_like_others() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with Broker({"listeners": "PLAINTEXT://[::1]:0"}) as broker:
        (address,) = broker.addresses
        with Conversation(str(address)) as client:
            assert brokers_by(client) == [("::1", address.port)]


def test_a_listener_may_speak_tls(tmp_path: Path) -> None:
    authority = identity("authority")
    server = identity("broker", authority)
    keystore, truststore = tmp_path / "keystore.pem", tmp_path / "truststore.pem"
    keystore.write_text(server.key_pem + server.certificate_pem)
    truststore.write_text(authority.certificate_pem)
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
    }
    with Broker(settings) as broker:
        plain, encrypted = broker.addresses
        context = ssl.create_default_context(cafile=str(truststore))
        with Conversation(str(encrypted), tls=context) as client:
            assert brokers_by(client) == [(encrypted.host, encrypted.port)]
        with Conversation(str(plain)) as client:
            assert brokers_by(client) == [(plain.host, plain.port)]
