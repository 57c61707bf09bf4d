"""A real ZooKeeper server for all tests of a session: plain, and with TLS, certificates and logins."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from tests.compatibility.conftest import POM, java_jars

from odradek.cli.zookeeper_servers import LOOPBACK, Servers
from odradek.coordination.ensemble import Ensemble, Login
from odradek.net.blocking import connect_blocking
from odradek.net.tls import ClientTls, Keystore, TlsSettings, Truststore
from odradek.runtime.loop_thread import LoopThread
from odradek.testing.certificates import identity

LOGIN = Login("broker", "broker's secret")


@dataclass(frozen=True, slots=True)
class RealZooKeeper:
    plain: str  # host:port
    secure: str
    jars: str
    trusted: Path  # the authority's certificate
    shown: Path  # a client's key and certificate
    home: Path
    _roots: Iterator[int]

    def ensemble(self, server: str | None = None, session_timeout_ms: int = 6_000) -> Ensemble:
        """Below a path that nobody has used."""
        root = f"/open/{next(self._roots)}"
        return Ensemble((server or self.plain,), root, session_timeout_ms=session_timeout_ms)

    def secure_ensemble(self, *, login: Login = LOGIN, trusted: Path | None = None) -> Ensemble:
        settings = TlsSettings(
            Keystore(kind="PEM", location=str(self.shown)),
            Truststore(kind="PEM", location=str(trusted or self.trusted)),
        )
        return Ensemble(
            (self.secure.replace(LOOPBACK, "localhost"),),
            root=f"/ours/{next(self._roots)}",
            session_timeout_ms=6_000,
            only_we_may_change=True,
            login=login,
            connect=partial(connect_blocking, tls=ClientTls(settings)),
        )


@pytest.fixture(scope="session")
def zookeeper_jars() -> str:
    return java_jars(POM).removesuffix("/*")


@pytest.fixture(scope="session")
def zookeeper(
    zookeeper_jars: str, tmp_path_factory: pytest.TempPathFactory, free_port: Callable[[], int]
) -> Iterator[RealZooKeeper]:
    home = tmp_path_factory.mktemp("zookeeper")
    secure_port = free_port()
    servers = Servers(
        home,
        1,
        0,
        jars=zookeeper_jars,
        settings={
            "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
            "secureClientPort": str(secure_port),
            "secureClientPortAddress": LOOPBACK,
            "ssl.keyStore.location": _key_and_certificates(home),
            "ssl.trustStore.location": str(home / "authority.pem"),
            "minSessionTimeout": "400",
            "maxSessionTimeout": "60000",
            "tickTime": "200",  # how finely sessions expire
            "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        },
        jvm_options=[f"-Djava.security.auth.login.config={_logins(home)}"],
    )
    thread = LoopThread(asyncio.new_event_loop, "zookeeper's servers")
    thread.start()
    try:
        thread.run(servers.start())
        plain, secure = servers.addresses[0], f"{LOOPBACK}:{secure_port}"
        trusted, shown = home / "authority.pem", home / "client.pem"
        yield RealZooKeeper(plain, secure, zookeeper_jars, trusted, shown, home, itertools.count())
    finally:
        thread.run(servers.stop())
        thread.stop()


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    import socket

    def find() -> int:
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            return int(probe.getsockname()[1])

    return find


def _key_and_certificates(home: Path) -> str:
    """Of the server; the client's and the authority's certificate are written beside it."""
    authority = identity("authority")
    for name in ("server", "client"):
        one = identity(name, authority)
        (home / f"{name}.pem").write_text(one.key_pem + one.certificate_pem)
    (home / "authority.pem").write_text(authority.certificate_pem)
    return str(home / "server.pem")


def _logins(home: Path) -> Path:
    file = home / "logins.conf"
    module = "org.apache.zookeeper.server.auth.DigestLoginModule"
    file.write_text(f'Server {{ {module} required user_{LOGIN.username}="{LOGIN.password}"; }};\n')
    return file
