"""The broker's settings of ZooKeeper: zookeeper.*."""

from __future__ import annotations

from odradek.model.config.setting import HIGH, LOW, MEDIUM, READ_ONLY, Setting, refused, without_effect
from odradek.model.config.values import ANYTHING, BOOLEAN, INT, LIST, PASSWORD, STRING, AtLeast

NOT_YET = without_effect("ZooKeeper is not spoken yet; the embedded store is used")

# fmt: off
SETTINGS = (
    Setting("zookeeper.connect", STRING, None, ANYTHING, HIGH, READ_ONLY,
            refused("ZooKeeper is not spoken yet; without it a broker would be a cluster of its own"),
            "The ensemble, host:port separated by commas, and a path; unset: the embedded store."),
    Setting("zookeeper.connection.timeout.ms", INT, None, ANYTHING, HIGH, READ_ONLY, NOT_YET,
            "How long a starting broker waits for the ensemble; unset: the session's time-out."),
    Setting("zookeeper.session.timeout.ms", INT, 18_000, ANYTHING, HIGH, READ_ONLY, NOT_YET,
            "How long the ensemble may hear nothing before it takes the broker for dead."),
    Setting("zookeeper.max.in.flight.requests", INT, 10, AtLeast(1), HIGH, READ_ONLY, NOT_YET,
            "How many requests may be under way at once."),
    Setting("zookeeper.set.acl", BOOLEAN, False, ANYTHING, HIGH, READ_ONLY, NOT_YET,
            "Only brokers may change the nodes they make."),
    Setting("zookeeper.metadata.migration.enable", BOOLEAN, False, ANYTHING, HIGH, READ_ONLY,
            refused("there is no KRaft quorum to move to"),
            "The cluster is being moved to KRaft."),
    Setting("zookeeper.clientCnxnSocket", STRING, None, ANYTHING, MEDIUM, READ_ONLY,
            without_effect("it names a class of the Java client"),
            "The Java client's class of sockets."),
    Setting("zookeeper.ssl.client.enable", BOOLEAN, False, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "The ensemble is spoken to through TLS."),
    Setting("zookeeper.ssl.keystore.location", STRING, None, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "The file with the key and certificates to show to the ensemble."),
    Setting("zookeeper.ssl.keystore.password", PASSWORD, None, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "What opens that file."),
    Setting("zookeeper.ssl.keystore.type", STRING, None, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "What kind of file it is; unset: as its name says."),
    Setting("zookeeper.ssl.truststore.location", STRING, None, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "The file with the certificates by which the ensemble is believed."),
    Setting("zookeeper.ssl.truststore.password", PASSWORD, None, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "What opens that file."),
    Setting("zookeeper.ssl.truststore.type", STRING, None, ANYTHING, MEDIUM, READ_ONLY, NOT_YET,
            "What kind of file it is; unset: as its name says."),
    Setting("zookeeper.ssl.cipher.suites", LIST, None, ANYTHING, LOW, READ_ONLY, NOT_YET,
            "The cipher suites that may be used."),
    Setting("zookeeper.ssl.crl.enable", BOOLEAN, False, ANYTHING, LOW, READ_ONLY, NOT_YET,
            "Lists of revoked certificates are consulted."),
    Setting("zookeeper.ssl.enabled.protocols", LIST, None, ANYTHING, LOW, READ_ONLY, NOT_YET,
            "The versions of TLS that may be used."),
    Setting("zookeeper.ssl.endpoint.identification.algorithm", STRING, "HTTPS", ANYTHING, LOW, READ_ONLY,
            NOT_YET, "HTTPS: a server must have a certificate for its host's name; empty: any."),
    Setting("zookeeper.ssl.ocsp.enable", BOOLEAN, False, ANYTHING, LOW, READ_ONLY, NOT_YET,
            "It is asked online whether a certificate was revoked."),
    Setting("zookeeper.ssl.protocol", STRING, "TLSv1.2", ANYTHING, LOW, READ_ONLY, NOT_YET,
            "The version of TLS to begin with."),
)
