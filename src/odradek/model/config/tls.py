"""The broker's settings of TLS: ssl.*; each may be set for one listener as listener.name.<listener>.ssl.*."""

from __future__ import annotations

from odradek.model.config.general import NO_JAVA
from odradek.model.config.setting import (
    LOW,
    MEDIUM,
    PER_BROKER,
    READ_ONLY,
    SERVED,
    Setting,
    refused,
    without_effect,
)
from odradek.model.config.values import ANYTHING, BOOLEAN, CLASS, LIST, PASSWORD, STRING, OneOf

OPENSSL = without_effect("OpenSSL does TLS here, not Java")
NOBODY_YET = without_effect("clients have no names yet; who may do what is not asked")

# fmt: off
SETTINGS = (
    Setting("ssl.keystore.location", STRING, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "The file with the broker's key and certificates."),
    Setting("ssl.keystore.password", PASSWORD, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "What opens that file; a PEM file needs none."),
    Setting("ssl.keystore.type", STRING, "JKS", ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "PEM or PKCS12."),
    Setting("ssl.keystore.key", PASSWORD, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "The broker's key itself, in PEM, instead of a file."),
    Setting("ssl.keystore.certificate.chain", PASSWORD, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "The broker's certificates themselves, in PEM, instead of a file."),
    Setting("ssl.key.password", PASSWORD, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "What opens the broker's key."),
    Setting("ssl.truststore.location", STRING, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "The file with the certificates of those whom the broker believes."),
    Setting("ssl.truststore.password", PASSWORD, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "What opens that file."),
    Setting("ssl.truststore.type", STRING, "JKS", ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "PEM or PKCS12."),
    Setting("ssl.truststore.certificates", PASSWORD, None, ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "Those certificates themselves, in PEM, instead of a file."),
    Setting("ssl.client.auth", STRING, "none", OneOf(("required", "requested", "none")), MEDIUM, PER_BROKER,
            SERVED, "Whether clients must, may or need not show a certificate."),
    Setting("ssl.enabled.protocols", LIST, ("TLSv1.2", "TLSv1.3"), ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "The versions of TLS that are spoken."),
    Setting("ssl.protocol", STRING, "TLSv1.3", ANYTHING, MEDIUM, PER_BROKER,
            without_effect("ssl.enabled.protocols says which versions are spoken"),
            "The version of TLS that Java's context is made for."),
    Setting("ssl.cipher.suites", LIST, (), ANYTHING, MEDIUM, PER_BROKER, SERVED,
            "The cipher suites that are spoken; empty: those that are thought safe."),
    Setting("ssl.endpoint.identification.algorithm", STRING, "https", ANYTHING, LOW, PER_BROKER, SERVED,
            "https: a broker that is connected to must have a certificate for its host's name; empty: any."),
    Setting("ssl.keymanager.algorithm", STRING, "SunX509", ANYTHING, MEDIUM, PER_BROKER, OPENSSL,
            "How Java chooses among keys."),
    Setting("ssl.trustmanager.algorithm", STRING, "PKIX", ANYTHING, MEDIUM, PER_BROKER, OPENSSL,
            "How Java checks certificates."),
    Setting("ssl.provider", STRING, None, ANYTHING, MEDIUM, PER_BROKER, OPENSSL,
            "Which implementation of TLS Java uses."),
    Setting("ssl.secure.random.implementation", STRING, None, ANYTHING, LOW, PER_BROKER, OPENSSL,
            "Where Java takes randomness from."),
    Setting("ssl.engine.factory.class", CLASS, None, ANYTHING, LOW, PER_BROKER, refused(NO_JAVA),
            "A class that makes TLS engines."),
    Setting("ssl.principal.mapping.rules", STRING, "DEFAULT", ANYTHING, LOW, READ_ONLY, NOBODY_YET,
            "How a certificate's name becomes a user's."),
    Setting("ssl.allow.dn.changes", BOOLEAN, False, ANYTHING, LOW, READ_ONLY, SERVED,
            "A new key store may have a certificate of another name."),
    Setting("ssl.allow.san.changes", BOOLEAN, False, ANYTHING, LOW, READ_ONLY, SERVED,
            "A new key store's certificate may leave out host names that the old one had."),
)
