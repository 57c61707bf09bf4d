"""TLS from Kafka's settings: certificates from PEM or PKCS12, who must show one, protocols and ciphers.

A context is made anew when a file it was made from has changed. If that fails the old one serves on, and the
log says so. Only PKCS12 needs the `cryptography` package.
"""

from __future__ import annotations

import enum
import logging
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from odradek.model.config.setting import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

Subject: TypeAlias = tuple[tuple[tuple[str, str], ...], ...]  # as `ssl` gives it
FileState: TypeAlias = tuple[int, int] | None  # when it changed, and its size

log = logging.getLogger("odradek.net")


class ClientAuth(enum.Enum):
    """ssl.client.auth: whether a client shows a certificate."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Keystore:
    """What we show: a key, its certificate, and the certificates that lead from there to a trusted one."""

    kind: str = "JKS"  # ssl.keystore.type
    location: str | None = None
    password: str | None = None
    chain: str | None = None  # ssl.keystore.certificate.chain
    key: str | None = None  # ssl.keystore.key
    key_password: str | None = None  # ssl.key.password

    @property
    def is_given(self) -> bool:
        return self.location is not None or self.chain is not None


@dataclass(frozen=True, slots=True)
class Truststore:
    """Whom we trust; if it is not given, whom the machine trusts."""

    kind: str = "JKS"  # ssl.truststore.type
    location: str | None = None
    password: str | None = None
    certificates: str | None = None  # ssl.truststore.certificates


@dataclass(frozen=True, slots=True)
class TlsSettings:
    keystore: Keystore = Keystore()
    truststore: Truststore = Truststore()
    client_auth: ClientAuth = ClientAuth.NONE
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")  # ssl.enabled.protocols
    ciphers: tuple[str, ...] = ()  # ssl.cipher.suites
    checks_host_name: bool = True  # ssl.endpoint.identification.algorithm is https


class _Tls:
    """A context, as new as the files it is made from."""

    def __init__(self, settings: TlsSettings, *, is_server: bool) -> None:
        self._settings = settings
        self._is_server = is_server
        self._files = [each for each in (settings.keystore.location, settings.truststore.location) if each]
        self._made_from = self._state()
        self._context = self._make()

    def context(self) -> ssl.SSLContext:
        state = self._state()
        if state != self._made_from:
            self._made_from = state
            try:
                self._context = self._make()
                log.info("TLS: %s changed and are used from now on", ", ".join(self._files))
            except ConfigError as error:
                log.error("TLS: new files cannot be used, the old ones stay in use: %s", error)
        return self._context

    def _state(self) -> list[FileState]:
        return [_state_of(each) for each in self._files]

    def _make(self) -> ssl.SSLContext:
        settings = self._settings
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if self._is_server else ssl.PROTOCOL_TLS_CLIENT)
        context.options |= ssl.OP_NO_RENEGOTIATION
        # Any certificate of a truststore is trusted for itself, as in Java, not only one that signed itself.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        _set_protocols(context, settings.protocols)
        if settings.ciphers:
            _set_ciphers(context, settings.ciphers)
        if settings.keystore.is_given:
            _load_keystore(context, settings.keystore)
        if self._is_server:
            context.verify_mode = _VERIFY_MODES[settings.client_auth]
            context.num_tickets = 0  # clients keep connections; tickets would be two records nobody uses
        else:
            context.check_hostname = settings.checks_host_name
        if context.verify_mode is not ssl.CERT_NONE:
            _load_truststore(context, settings.truststore)
        return context


class ServerTls(_Tls):
    """A listener's side. `ConfigError` when its settings lead to no certificate."""

    def __init__(self, settings: TlsSettings) -> None:
        if not settings.keystore.is_given:
            raise ConfigError("ssl.keystore.location: a listener with TLS needs a certificate to show")
        super().__init__(settings, is_server=True)


class ClientTls(_Tls):
    """The side that connects."""

    def __init__(self, settings: TlsSettings) -> None:
        super().__init__(settings, is_server=False)


_VERIFY_MODES = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}


# -- stores ------------------------------------------------------------------------------------------------


def _load_keystore(context: ssl.SSLContext, store: Keystore) -> None:
    with _explained("ssl.keystore.location", store.location):
        if store.chain is not None:
            _load_chain(context, f"{store.key or ''}\n{store.chain}".encode(), store.key_password)
        elif store.kind == "PEM":
            assert store.location is not None
            # Without a password OpenSSL would ask the terminal for one.
            context.load_cert_chain(store.location, password=store.key_password or "")
        else:
            pem = _pem_of(_open_pkcs12(store.kind, store.location, store.password))
            _load_chain(context, pem, None)


def _load_chain(context: ssl.SSLContext, pem: bytes, password: str | None) -> None:
    """OpenSSL takes a key from a file only: give it one that is in memory."""
    fd = os.memfd_create("keystore", os.MFD_CLOEXEC)
    try:
        os.write(fd, pem)
        context.load_cert_chain(f"/proc/self/fd/{fd}", password=password or "")
    finally:
        os.close(fd)


def _load_truststore(context: ssl.SSLContext, store: Truststore) -> None:
    with _explained("ssl.truststore.location", store.location):
        if store.certificates is not None:
            context.load_verify_locations(cadata=store.certificates)
        elif store.location is None:
            context.load_default_certs()
        elif store.kind == "PEM":
            context.load_verify_locations(cafile=store.location)
        else:
            found = _open_pkcs12(store.kind, store.location, store.password)
            context.load_verify_locations(cadata=_certificates_of(found))


@contextmanager
def _explained(key: str, location: str | None) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise ConfigError(f"{key}={location or '[given as text]'} cannot be used: {error}") from error


def _open_pkcs12(kind: str, location: str | None, password: str | None) -> PKCS12KeyAndCertificates:
    if kind != "PKCS12":
        raise ValueError(f"type {kind} is not read; keytool -importkeystore makes a PKCS12 store of it")
    try:
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ImportError:
        raise ValueError("PKCS12 is read with the package cryptography: pip install odradek[tls]") from None
    assert location is not None
    with open(location, "rb") as file:
        return pkcs12.load_pkcs12(file.read(), password.encode() if password is not None else None)


def _pem_of(store: PKCS12KeyAndCertificates) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    if store.key is None or store.cert is None:
        raise ValueError("there is no key with a certificate in it")
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain = [store.cert, *store.additional_certs]
    return key + b"".join(each.certificate.public_bytes(Encoding.PEM) for each in chain)


def _certificates_of(store: PKCS12KeyAndCertificates) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    found = [store.cert] if store.cert is not None else []
    return b"".join(each.certificate.public_bytes(Encoding.DER) for each in [*found, *store.additional_certs])


def _state_of(location: str) -> FileState:
    try:
        state = os.stat(location)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


# -- protocols and ciphers ---------------------------------------------------------------------------------

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def _set_protocols(context: ssl.SSLContext, protocols: tuple[str, ...]) -> None:
    unknown = set(protocols) - set(_VERSIONS)
    if unknown or not protocols:
        raise ConfigError(f"ssl.enabled.protocols={','.join(protocols)}: served are {', '.join(_VERSIONS)}")
    versions = sorted(_VERSIONS[each] for each in protocols)
    context.minimum_version, context.maximum_version = versions[0], versions[-1]


def _set_ciphers(context: ssl.SSLContext, ciphers: tuple[str, ...]) -> None:
    """A list for one version leaves no other. Of TLS 1.3 none is picked: OpenSSL has three, all good."""
    older = [each for each in ciphers if "_WITH_" in each or not each.startswith("TLS_")]
    try:
        if not older:
            context.minimum_version = ssl.TLSVersion.TLSv1_3
        else:
            context.set_ciphers(":".join(_openssl_name(each) for each in older))
        if len(older) == len(ciphers):
            context.maximum_version = ssl.TLSVersion.TLSv1_2
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"ssl.cipher.suites={','.join(ciphers)}: {error}") from error
    if context.minimum_version > context.maximum_version:
        raise ConfigError(f"ssl.cipher.suites={','.join(ciphers)}: none is of an enabled protocol")


def _openssl_name(cipher: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, as Java says, is ECDHE-RSA-AES256-GCM-SHA384."""
    name = cipher.removeprefix("TLS_").removeprefix("RSA_WITH_").replace("_WITH_", "_").replace("AES_", "AES")
    name = name.replace("_CBC", "").replace("_", "-")
    return name.removesuffix("-SHA256") if "CHACHA20" in name else name


# -- names -------------------------------------------------------------------------------------------------

_KEYWORDS = {
    "commonName": "CN",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
# What has no keyword in RFC 2253 is written by number, and its value as the bytes of its encoding. `ssl` does
# not tell which string type a certificate chose; here are the ones that certificates are made with.
_NUMBERS = {
    "emailAddress": ("1.2.840.113549.1.9.1", 0x16),
    "serialNumber": ("2.5.4.5", 0x13),
    "surname": ("2.5.4.4", 0x0C),
    "title": ("2.5.4.12", 0x0C),
    "givenName": ("2.5.4.42", 0x0C),
    "initials": ("2.5.4.43", 0x0C),
    "generationQualifier": ("2.5.4.44", 0x0C),
    "dnQualifier": ("2.5.4.46", 0x13),
    "pseudonym": ("2.5.4.65", 0x0C),
}


def distinguished_name(subject: Subject) -> str:
    """The string that Kafka makes a principal of: RFC 2253, the last part first."""
    return ",".join("+".join(_attribute(*each) for each in part) for part in reversed(subject))


def _attribute(name: str, value: str) -> str:
    if name not in _NUMBERS:
        return f"{_KEYWORDS.get(name, name)}={_escaped(value)}"
    number, string_type = _NUMBERS[name]
    encoded = value.encode()
    return f"{number}=#{(bytes([string_type]) + _der_size(len(encoded)) + encoded).hex()}"


def _der_size(size: int) -> bytes:
    if size < 0x80:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([0x80 | len(digits)]) + digits


def _escaped(value: str) -> str:
    escaped = "".join(f"\\{each}" if each in ',+"\\<>;=' else each for each in value)
    if escaped.startswith(("#", " ")):
        escaped = "\\" + escaped
    if escaped.endswith(" ") and len(value) > 1:
        escaped = escaped[:-1] + "\\ "
    return escaped
