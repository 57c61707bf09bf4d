"""The broker's settings of KRaft, which is not served: the store keeps the metadata."""

from __future__ import annotations

from odradek.model.config.setting import HIGH, LOW, MEDIUM, READ_ONLY, Setting, refused, without_effect
from odradek.model.config.values import ANYTHING, BOOLEAN, INT, LIST, LONG, STRING, AtLeast, NotEmpty, OneOf

NO_KRAFT = without_effect("there is no KRaft quorum; metadata is kept in the store")

# fmt: off
SETTINGS = (
    Setting("process.roles", LIST, (), OneOf(("broker", "controller")), HIGH, READ_ONLY,
            refused("there is no KRaft quorum; leave it out to keep metadata in the store"),
            "What a KRaft process is: a broker, a controller, or both."),
    Setting("controller.listener.names", STRING, None, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "The listeners of KRaft controllers."),
    Setting("controller.quorum.bootstrap.servers", LIST, (), NotEmpty("list"), HIGH, READ_ONLY, NO_KRAFT,
            "Where to find the quorum."),
    Setting("controller.quorum.voters", LIST, (), NotEmpty("list"), HIGH, READ_ONLY, NO_KRAFT,
            "Who votes in the quorum."),
    Setting("controller.quorum.election.backoff.max.ms", INT, 1000, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "The longest pause between two elections."),
    Setting("controller.quorum.election.timeout.ms", INT, 1000, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "How long a voter waits for a leader before it stands itself."),
    Setting("controller.quorum.fetch.timeout.ms", INT, 2000, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "How long the quorum's leader may be silent."),
    Setting("controller.quorum.append.linger.ms", INT, 25, ANYTHING, MEDIUM, READ_ONLY, NO_KRAFT,
            "How long the quorum's leader gathers records before it writes them."),
    Setting("controller.quorum.request.timeout.ms", INT, 2000, ANYTHING, MEDIUM, READ_ONLY, NO_KRAFT,
            "How long a request to the quorum may take."),
    Setting("controller.quorum.retry.backoff.ms", INT, 20, ANYTHING, LOW, READ_ONLY, NO_KRAFT,
            "The pause before a request to the quorum is tried again."),
    Setting("metadata.log.dir", STRING, None, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "Where the metadata log lies."),
    Setting("metadata.log.max.record.bytes.between.snapshots", LONG, 20971520, AtLeast(1), HIGH, READ_ONLY,
            NO_KRAFT, "After how many bytes a snapshot of the metadata is taken."),
    Setting("metadata.log.max.snapshot.interval.ms", LONG, 3_600_000, AtLeast(0), HIGH, READ_ONLY, NO_KRAFT,
            "After how long a snapshot of the metadata is taken."),
    Setting("metadata.log.segment.bytes", INT, 1073741824, AtLeast(12), HIGH, READ_ONLY, NO_KRAFT,
            "How large a segment of the metadata log grows."),
    Setting("metadata.log.segment.ms", LONG, 604_800_000, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "How old a segment of the metadata log grows."),
    Setting("metadata.max.idle.interval.ms", INT, 500, AtLeast(0), LOW, READ_ONLY, NO_KRAFT,
            "How often an idle quorum writes an empty record."),
    Setting("metadata.max.retention.bytes", LONG, 104857600, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "How large the metadata log and its snapshots may be."),
    Setting("metadata.max.retention.ms", LONG, 604_800_000, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "How long the metadata log and its snapshots are kept."),
    Setting("broker.heartbeat.interval.ms", INT, 2000, ANYTHING, MEDIUM, READ_ONLY, NO_KRAFT,
            "How often a broker tells the quorum that it lives."),
    Setting("broker.session.timeout.ms", INT, 9000, ANYTHING, MEDIUM, READ_ONLY, NO_KRAFT,
            "How long a broker may be silent before the quorum fences it."),
    Setting("initial.broker.registration.timeout.ms", INT, 60_000, ANYTHING, MEDIUM, READ_ONLY, NO_KRAFT,
            "How long a starting broker tries to register with the quorum."),
    Setting("early.start.listeners", STRING, None, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "Listeners that open before a broker's authorizer is ready."),
    Setting("eligible.leader.replicas.enable", BOOLEAN, False, ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "The quorum remembers which replicas out of sync are safe to elect."),
    Setting("sasl.mechanism.controller.protocol", STRING, "GSSAPI", ANYTHING, HIGH, READ_ONLY, NO_KRAFT,
            "How brokers log in to KRaft controllers."),
)
