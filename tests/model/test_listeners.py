"""Endpoints as text."""

from __future__ import annotations

import pytest

from odradek.model.listeners import Endpoint, SecurityProtocol, parse_endpoints, parse_protocol_map

PROTOCOLS = {"PLAINTEXT": SecurityProtocol.PLAINTEXT, "IN": SecurityProtocol.SSL}


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("PLAINTEXT://:9092", Endpoint("PLAINTEXT", SecurityProtocol.PLAINTEXT, "", 9092)),
        ("in://host-1.example:0", Endpoint("IN", SecurityProtocol.SSL, "host-1.example", 0)),
        ("IN://[fe80::1%eth0]:65535", Endpoint("IN", SecurityProtocol.SSL, "fe80::1%eth0", 65535)),
    ],
)
def test_an_endpoint_is_read(text: str, endpoint: Endpoint) -> None:
    assert parse_endpoints(text, PROTOCOLS) == (endpoint,)
    assert parse_endpoints(str(endpoint), PROTOCOLS) == (endpoint,)


@pytest.mark.parametrize(
    "text",
    ["host:9092", "PLAINTEXT://host", "PLAINTEXT://host:65536", "PLAINTEXT://h:-1", "X://h:1", "://h:1"],
)
def test_what_is_no_endpoint_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_endpoints(f"PLAINTEXT://:1,{text}", PROTOCOLS)


@pytest.mark.parametrize("text", ["A", "A:", ":SSL", "A:TLS", "A:SSL,a:SSL"])
def test_a_bad_protocol_map_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_protocol_map(text)
