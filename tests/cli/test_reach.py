"""How verbs get to a cluster: by properties from a file, under TLS, and not for ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import run

from odradek.testing.broker import Broker
from odradek.testing.certificates import identity


@pytest.fixture(scope="module")
def under_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Path]]:
    """A broker whose clients have to show a certificate, and the properties of one that can."""
    home = tmp_path_factory.mktemp("tls")
    authority = identity("authority")
    (home / "authority.pem").write_text(authority.certificate_pem)
    for name in ("broker", "client"):
        theirs = identity(name, authority)
        (home / f"{name}.pem").write_text(theirs.key_pem + theirs.certificate_pem)

    def properties(name: str) -> dict[str, str]:
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(home / f"{name}.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(home / "authority.pem"),
        }

    client = home / "client.properties"
    told = {"security.protocol": "SSL", **properties("client")}
    client.write_text("".join(f"{key}={value}\n" for key, value in told.items()))
    # The broker tells its clients its one listener's address, so it is also where brokers would meet.
    settings = {
        "listeners": "SSL://127.0.0.1:0",
        "inter.broker.listener.name": "SSL",
        "ssl.client.auth": "required",
        **properties("broker"),
    }
    with Broker(settings) as broker:
        yield broker, client


@pytest.mark.slow
def test_administration_under_tls(under_tls: tuple[Broker, Path]) -> None:
    broker, properties = under_tls
    at = ("--bootstrap-server", str(broker.addresses[0]), "--command-config", str(properties))
    assert run("topics", *at, "--create", "--topic", "secret").out == "Created topic secret.\n"
    assert run("topics", *at, "--list").out == "secret\n"


@pytest.mark.slow
def test_records_under_tls(under_tls: tuple[Broker, Path]) -> None:
    broker, properties = under_tls
    at = ("--bootstrap-server", str(broker.addresses[0]), "--topic", "whispers")
    wrote = run("console-producer", *at, "--producer.config", str(properties), stdin="psst\n")
    assert wrote.exit == 0, wrote.err
    read = run(
        *("console-consumer", *at, "--consumer.config", str(properties), "--from-beginning"),
        *("--max-messages", "1", "--timeout-ms", "10000"),
    )
    assert read.out == "psst\n"


@pytest.mark.slow
def test_who_shows_no_certificate_is_told_where_it_ended(
    under_tls: tuple[Broker, Path], tmp_path: Path
) -> None:
    broker, properties = under_tls
    unnamed = tmp_path / "unnamed.properties"
    lines = properties.read_text().splitlines(keepends=True)
    unnamed.write_text("".join(line for line in lines if "keystore" not in line))
    at = ("--bootstrap-server", str(broker.addresses[0]), "--command-config", str(unnamed))
    ran = run("topics", *at, "--list", "--timeout", "300")
    assert ran.exit == 1
    assert f"list of topics at {broker.addresses[0]} had no answer within 300 ms" in ran.out


def test_a_cluster_that_is_not_there_is_given_up() -> None:
    ran = run("topics", "--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "50")
    assert ran.exit == 1
    assert "TimeoutException: list of topics at 127.0.0.1:1 had no answer within 50 ms" in ran.err
    assert "cannot be reached" in ran.err


def test_a_protocol_that_is_not_spoken_yet_is_named(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SASL_PLAINTEXT\n")
    ran = run("topics", "--bootstrap-server", "127.0.0.1:1", "--list", "--command-config", str(file))
    assert ran.exit == 1
    assert "Invalid value SASL_PLAINTEXT for configuration security.protocol" in ran.out
