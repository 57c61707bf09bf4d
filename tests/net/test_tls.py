"""TLS between our own ends and against `openssl`'s idea of it, from every kind of store."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    pkcs12,
)

from odradek.model.config.setting import ConfigError
from odradek.net.peer import Answer, PeerLost, PeerSettings, connect
from odradek.net.port import Address, ListenerSettings
from odradek.net.server import ServerSettings
from odradek.net.sockets import SocketNetwork
from odradek.net.tls import (
    ClientAuth,
    ClientTls,
    Keystore,
    ServerTls,
    TlsSettings,
    Truststore,
    distinguished_name,
)
from odradek.testing.certificates import Identity, identity
from odradek.testing.echo import ECHO, SLICE, EchoHandler, echo_server, framed
from odradek.testing.sim_clock import MovableClock
from odradek.wire.parts import Part


@pytest.fixture(scope="module")
def authority() -> Identity:
    return identity("the authority")


@pytest.fixture(scope="module")
def broker(authority: Identity) -> Identity:
    return identity("broker", authority)


@pytest.fixture(scope="module")
def client(authority: Identity) -> Identity:
    return identity("client", authority)


def pem_file(path: Path, *texts: str) -> str:
    path.write_text("".join(texts))
    return str(path)


def pkcs12_keystore(path: Path, who: Identity, password: str) -> str:
    encryption = BestAvailableEncryption(password.encode())
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"me", who.key, who.certificate, None, encryption))
    return str(path)


def pkcs12_truststore(path: Path, trusted: Identity, password: str) -> str:
    """As keytool -importcert makes one: a certificate without a key."""
    certificates = [pkcs12.PKCS12Certificate(trusted.certificate, b"ca")]
    encryption = BestAvailableEncryption(password.encode())
    path.write_bytes(pkcs12.serialize_java_truststore(certificates, encryption))
    return str(path)


def as_text(who: Identity) -> Keystore:
    return Keystore(kind="PEM", chain=who.certificate_pem, key=who.key_pem)


def trusting(authority: Identity) -> Truststore:
    return Truststore(kind="PEM", certificates=authority.certificate_pem)


async def exchange(server: TlsSettings, client: TlsSettings, payload: bytes = b"hello") -> str | None:
    """One request and its answer; the client's name as the server saw it."""
    handler = EchoHandler()
    listener = ListenerSettings("SSL", Address("127.0.0.1", 0), tls=ServerTls(server))
    async with echo_server(handler, listener=listener) as (served, address):
        peer = await connect(SocketNetwork(), address, PeerSettings(), ClientTls(client))
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def take(answer: Answer) -> None:
            if isinstance(answer, PeerLost):
                answered.set_exception(answer)
            else:
                answered.set_result(answer[4:].tobytes())

        def echo(correlation_id: int) -> list[Part]:
            return [framed(ECHO + struct.pack(">i", correlation_id) + payload)]

        peer.ask(echo, take)
        try:
            assert await answered == payload
            (connection,) = served.connections
            return connection.peer_name
        finally:
            peer.close()
            await peer.wait_closed()


KEYSTORES = ["PEM file", "PEM file, encrypted key", "PEM text", "PEM text, encrypted key", "PKCS12"]
TRUSTSTORES = ["PEM file", "PEM text", "PKCS12"]


def keystore_of(kind: str, tmp_path: Path, who: Identity) -> Keystore:
    encrypted = who.encrypted_key_pem("secret")
    match kind:
        case "PEM file":
            return Keystore("PEM", pem_file(tmp_path / "key.pem", who.key_pem, who.certificate_pem))
        case "PEM file, encrypted key":
            location = pem_file(tmp_path / "key.pem", encrypted, who.certificate_pem)
            return Keystore("PEM", location, key_password="secret")
        case "PEM text":
            return as_text(who)
        case "PEM text, encrypted key":
            return Keystore("PEM", chain=who.certificate_pem, key=encrypted, key_password="secret")
        case _:
            return Keystore("PKCS12", pkcs12_keystore(tmp_path / "key.p12", who, "secret"), "secret")


def truststore_of(kind: str, tmp_path: Path, authority: Identity) -> Truststore:
    match kind:
        case "PEM file":
            return Truststore("PEM", pem_file(tmp_path / "ca.pem", authority.certificate_pem))
        case "PEM text":
            return trusting(authority)
        case _:
            return Truststore("PKCS12", pkcs12_truststore(tmp_path / "ca.p12", authority, "secret"), "secret")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEYSTORES)
async def test_every_kind_of_keystore_serves(
    kind: str, tmp_path: Path, authority: Identity, broker: Identity
) -> None:
    server = TlsSettings(keystore_of(kind, tmp_path, broker))
    assert await exchange(server, TlsSettings(truststore=trusting(authority))) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", TRUSTSTORES)
async def test_every_kind_of_truststore_is_trusted_and_tells_who_the_client_is(
    kind: str, tmp_path: Path, authority: Identity, broker: Identity, client: Identity
) -> None:
    truststore = truststore_of(kind, tmp_path, authority)
    server = TlsSettings(as_text(broker), truststore, ClientAuth.REQUIRED)
    name = await exchange(server, TlsSettings(as_text(client), truststore))
    assert name == "CN=client,O=Odradek\\, Inc.,C=CZ"


async def test_large_messages_pass_both_ways(authority: Identity, broker: Identity) -> None:
    client = TlsSettings(truststore=trusting(authority))
    await exchange(TlsSettings(as_text(broker)), client, os.urandom(3_000_000))


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_each_protocol_version(version: str, authority: Identity, broker: Identity) -> None:
    client = TlsSettings(truststore=trusting(authority), protocols=(version,))
    await exchange(TlsSettings(as_text(broker)), client, os.urandom(100_000))


# -- who is refused ----------------------------------------------------------------------------------------


async def test_a_client_that_shows_nothing_is_welcome_if_it_is_only_requested(
    authority: Identity, broker: Identity, client: Identity
) -> None:
    server = TlsSettings(as_text(broker), trusting(authority), ClientAuth.REQUESTED)
    assert await exchange(server, TlsSettings(truststore=trusting(authority))) is None
    assert await exchange(server, TlsSettings(as_text(client), trusting(authority))) is not None


@pytest.mark.parametrize("shown", ["nothing", "a stranger's"])
async def test_a_client_must_show_a_certificate_that_is_trusted(
    shown: str, authority: Identity, broker: Identity
) -> None:
    server = TlsSettings(as_text(broker), trusting(authority), ClientAuth.REQUIRED)
    keystore = Keystore() if shown == "nothing" else as_text(identity("stranger"))
    with pytest.raises(PeerLost):
        await exchange(server, TlsSettings(keystore, trusting(authority)))


async def test_a_broker_must_be_trusted_by_its_client(broker: Identity) -> None:
    with pytest.raises(PeerLost, match="certificate verify failed"):
        await exchange(TlsSettings(as_text(broker)), TlsSettings(truststore=trusting(identity("other"))))


async def test_a_broker_must_have_the_name_it_was_called_by(authority: Identity) -> None:
    elsewhere = identity("elsewhere")
    server = TlsSettings(as_text(elsewhere))
    with pytest.raises(PeerLost, match="certificate verify failed"):
        await exchange(server, TlsSettings(truststore=trusting(elsewhere)))
    await exchange(server, TlsSettings(truststore=trusting(elsewhere), checks_host_name=False))


async def test_a_certificate_in_a_truststore_is_trusted_for_itself(broker: Identity) -> None:
    """Its authority need not be there: so it is in Java."""
    await exchange(TlsSettings(as_text(broker)), TlsSettings(truststore=trusting(broker)))


async def test_no_common_protocol_is_no_connection(authority: Identity, broker: Identity) -> None:
    server = TlsSettings(as_text(broker), protocols=("TLSv1.2",))
    with pytest.raises(PeerLost):
        await exchange(server, TlsSettings(truststore=trusting(authority), protocols=("TLSv1.3",)))


# -- how it is sent ----------------------------------------------------------------------------------------


class Zeros:
    """A file of zeros, as long as asked."""

    def __init__(self, size: int) -> None:
        self.size = size

    def fileno(self) -> int:
        raise AssertionError("there is no sendfile under TLS")

    def read(self, position: int, size: int) -> bytes:
        return bytes(max(0, min(size, self.size - position)))


@contextmanager
def tls_socket(address: Address) -> Iterator[ssl.SSLSocket]:
    """A client that is not ours, and blocks; for use on a thread."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(address) as plain, context.wrap_socket(plain) as wrapped:
        wrapped.settimeout(10)
        yield wrapped


def tls_listener(broker: Identity) -> ListenerSettings:
    return ListenerSettings("SSL", Address("127.0.0.1", 0), tls=ServerTls(TlsSettings(as_text(broker))))


async def test_slices_of_files_are_sent_to_a_slow_reader(broker: Identity) -> None:
    size = 5_000_000
    handler = EchoHandler(Zeros(size))

    def ask(address: Address) -> bytes:
        with tls_socket(address) as wrapped:
            wrapped.sendall(framed(ECHO + b"one", SLICE + struct.pack(">i", size), ECHO + b"two"))
            wanted = 3 + 4 + 4 + size + 3 + 4
            received = bytearray()
            while len(received) < wanted:
                received += wrapped.recv(1000 + len(received) % 30_000)
            return bytes(received)

    async with echo_server(handler, listener=tls_listener(broker)) as (_, address):
        received = await asyncio.to_thread(ask, address)
        assert received == framed(b"one", bytes(size), b"two")


async def test_a_file_shorter_than_its_slice_ends_the_connection(broker: Identity) -> None:
    handler = EchoHandler(Zeros(70_000))

    def ask(address: Address) -> int:
        with tls_socket(address) as wrapped:
            wrapped.sendall(framed(SLICE + struct.pack(">i", 70_001)))
            received = 0
            while count := len(wrapped.recv(100_000)):
                received += count
            return received

    async with echo_server(handler, listener=tls_listener(broker)) as (_, address):
        assert await asyncio.to_thread(ask, address) < 70_005
        await handler.lost(1)
        assert "the file ends 1 bytes before its slice" in str(handler.closed_connections[0].closed)


async def test_requests_left_inside_openssl_are_not_forgotten(broker: Identity) -> None:
    """A record holds more than the receive buffer: the socket is empty while OpenSSL is not."""
    count, payload = 45, bytes(1_000)  # the last record is not the smallest
    handler = EchoHandler()

    def ask(address: Address) -> int:
        with tls_socket(address) as wrapped:
            wrapped.sendall(framed(*([ECHO + payload] * count)))
            received = 0
            while received < count * (len(payload) + 4):
                received += len(wrapped.recv(100_000))
            return received

    network = SocketNetwork(receive_buffer_size=4_096)
    async with echo_server(handler, network=network, listener=tls_listener(broker)) as (_, address):
        assert await asyncio.to_thread(ask, address) == count * (len(payload) + 4)


async def test_an_end_under_tls_is_said_properly(broker: Identity) -> None:
    def last_words(address: Address) -> bytes:
        with tls_socket(address) as wrapped:
            wrapped.sendall(framed(ECHO + b"last"))
            received = b""
            while piece := wrapped.recv(100):
                received += piece
            wrapped.unwrap()  # raises unless the other side has said its farewell
            return received

    handler = EchoHandler()
    async with echo_server(handler, listener=tls_listener(broker)) as (server, address):
        asked = asyncio.create_task(asyncio.to_thread(last_words, address))
        await handler.seen(1)
        server.finish()
        assert await asked == framed(b"last")


# -- hostile handshakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "greeting", [b"GET / HTTP/1.1\r\n\r\n", bytes(500), b"\x16\x03\x01\xff\xff" + bytes(9000)]
)
async def test_what_is_no_handshake_is_closed(greeting: bytes, broker: Identity) -> None:
    handler = EchoHandler()
    async with echo_server(handler, listener=tls_listener(broker)) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(greeting)
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
        await handler.lost(1)
        writer.close()
        assert handler.requests == []


async def test_a_handshake_that_is_never_finished_is_an_idle_connection(
    broker: Identity, clock: MovableClock
) -> None:
    handler = EchoHandler()
    settings = ServerSettings(idle_ms_max=8_000)
    async with echo_server(handler, settings, listener=tls_listener(broker)) as (server, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"\x16\x03\x01\x02")
        while not server.connections:
            await asyncio.sleep(0)
        for _ in range(10):
            clock.push(1_000)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert await reader.read() == b""
        writer.close()
        await handler.lost(1)
        assert handler.closed_connections[0].closed == "idle for 8000 ms"


# -- settings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (TlsSettings(), "ssl.keystore.location: a listener with TLS needs a certificate"),
        (
            TlsSettings(Keystore("PEM", "/nowhere")),
            "ssl.keystore.location=/nowhere cannot be used: .*No such file",
        ),
        (
            TlsSettings(Keystore("PEM", chain="nonsense")),
            r"ssl.keystore.location=\[given as text\] cannot be used",
        ),
        (TlsSettings(Keystore("JKS", "/x")), "type JKS is not read"),
        (TlsSettings(Keystore("PEM", "/x"), protocols=("SSLv3",)), "ssl.enabled.protocols=SSLv3"),
        (TlsSettings(Keystore("PEM", "/x"), protocols=()), "ssl.enabled.protocols="),
        (TlsSettings(Keystore("PEM", "/x"), ciphers=("TLS_X_WITH_Y",)), "ssl.cipher.suites=TLS_X_WITH_Y"),
        (
            TlsSettings(Keystore("PEM", "/x"), protocols=("TLSv1.2",), ciphers=("TLS_AES_128_GCM_SHA256",)),
            "ssl.cipher.suites=.*none is of an enabled protocol",
        ),
    ],
)
def test_settings_that_cannot_be_used_say_why(settings: TlsSettings, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        ServerTls(settings)


def test_an_encrypted_key_without_its_password_asks_nobody(tmp_path: Path, broker: Identity) -> None:
    location = pem_file(tmp_path / "key.pem", broker.encrypted_key_pem("secret"), broker.certificate_pem)
    with pytest.raises(ConfigError, match="cannot be used"):
        ServerTls(TlsSettings(Keystore("PEM", location)))


def test_a_keystore_with_a_wrong_password_says_so(tmp_path: Path, broker: Identity) -> None:
    location = pkcs12_keystore(tmp_path / "key.p12", broker, "secret")
    with pytest.raises(ConfigError, match="cannot be used: Invalid password"):
        ServerTls(TlsSettings(Keystore("PKCS12", location, "wrong")))


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "DHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    ],
)
def test_ciphers_are_named_as_java_names_them(java: str, openssl: str, broker: Identity) -> None:
    context = ServerTls(TlsSettings(as_text(broker), ciphers=(java,))).context()
    older = [each["name"] for each in context.get_ciphers() if each["protocol"] != "TLSv1.3"]
    assert older == [openssl]
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2


def test_only_ciphers_of_the_newest_version_leave_only_that() -> None:
    context = ClientTls(TlsSettings(ciphers=("TLS_AES_128_GCM_SHA256",))).context()
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3


def test_new_files_are_used_from_the_next_connection_on(
    tmp_path: Path, broker: Identity, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    path = tmp_path / "key.pem"
    tls = ServerTls(TlsSettings(Keystore("PEM", pem_file(path, broker.key_pem, broker.certificate_pem))))
    first = tls.context()
    assert tls.context() is first
    pem_file(path, broker.key_pem)  # half written
    os.utime(path, ns=(1, 1))
    assert tls.context() is first
    assert "new files cannot be used, the old ones stay in use" in caplog.text
    pem_file(path, broker.key_pem, broker.certificate_pem)
    os.utime(path, ns=(2, 2))
    assert tls.context() is not first
    assert f"TLS: {path} changed" in caplog.text


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ([("countryName", "CZ"), ("organizationName", "A+B"), ("commonName", "x")], "CN=x,O=A\\+B,C=CZ"),
        ([("commonName", 'a,b "c" \\ <d>;=')], 'CN=a\\,b \\"c\\" \\\\ \\<d\\>\\;\\='),
        ([("emailAddress", "a@b.c"), ("commonName", "m")], "CN=m,1.2.840.113549.1.9.1=#16056140622e63"),
        ([("serialNumber", "77"), ("title", "t")], "2.5.4.12=#0c0174,2.5.4.5=#13023737"),
        ([("commonName", "#x")], "CN=\\#x"),
        ([("commonName", " x ")], "CN=\\ x\\ "),
        ([("domainComponent", "org"), ("userId", "me")], "UID=me,DC=org"),
    ],
)
def test_names_are_written_as_kafka_writes_them(subject: list[tuple[str, str]], name: str) -> None:
    """What Java makes of certificates with these subjects."""
    assert distinguished_name(tuple((part,) for part in subject)) == name


def test_a_part_of_two_attributes_is_joined() -> None:
    assert distinguished_name(((("commonName", "x"), ("userId", "y")),)) == "CN=x+UID=y"
