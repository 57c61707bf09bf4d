"""The settings of replicas: how they follow, when they are in sync, who leads, how a broker leaves."""

from __future__ import annotations

from odradek.model.config.setting import (
    CLUSTER_WIDE,
    HIGH,
    LOW,
    MEDIUM,
    READ_ONLY,
    SERVED,
    Setting,
    refused,
    without_effect,
)
from odradek.model.config.values import ANYTHING, BOOLEAN, INT, LONG, STRING, AtLeast

NO_THROTTLE = without_effect("replication is not throttled yet")
BY_RACK = "org.apache.kafka.common.replica.RackAwareReplicaSelector"

# fmt: off
SETTINGS = (
    Setting("min.insync.replicas", INT, 1, AtLeast(1), HIGH, CLUSTER_WIDE, SERVED,
            "How many replicas must be in sync for a write that asks for all of them."),
    Setting("unclean.leader.election.enable", BOOLEAN, False, ANYTHING, HIGH, CLUSTER_WIDE, SERVED,
            "When no replica in sync lives, one out of sync may lead, and records are lost."),
    Setting("auto.leader.rebalance.enable", BOOLEAN, True, ANYTHING, HIGH, READ_ONLY, SERVED,
            "Leadership goes back to each partition's first replica from time to time."),
    Setting("leader.imbalance.check.interval.seconds", LONG, 300, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How often the controller looks whether it should."),
    Setting("leader.imbalance.per.broker.percentage", INT, 10, ANYTHING, HIGH, READ_ONLY, SERVED,
            "What share of a broker's partitions others may lead before it does."),
    Setting("replica.lag.time.max.ms", LONG, 30_000, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How long a follower may lag behind before it is out of sync."),
    Setting("replica.fetch.min.bytes", INT, 1, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How many bytes a follower's fetch waits for."),
    Setting("replica.fetch.wait.max.ms", INT, 500, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How long a follower's fetch waits for them."),
    Setting("replica.fetch.max.bytes", INT, 1048576, AtLeast(0), MEDIUM, READ_ONLY, SERVED,
            "How many bytes of each partition a follower asks for; a batch always comes whole."),
    Setting("replica.fetch.response.max.bytes", INT, 10485760, AtLeast(0), MEDIUM, READ_ONLY, SERVED,
            "How many bytes altogether a follower asks for."),
    Setting("replica.fetch.backoff.ms", INT, 1000, AtLeast(0), MEDIUM, READ_ONLY, SERVED,
            "How long a follower pauses after a failed fetch."),
    Setting("replica.high.watermark.checkpoint.interval.ms", LONG, 5000, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How often the high watermarks are written down."),
    Setting("replica.socket.receive.buffer.bytes", INT, 65536, ANYTHING, HIGH, READ_ONLY, SERVED,
            "The kernel's receive buffer of a follower's connection."),
    Setting("replica.socket.timeout.ms", INT, 30_000, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How long a follower waits for its leader to answer."),
    Setting("replica.selector.class", STRING, None, ANYTHING, MEDIUM, READ_ONLY,
            refused(f"of the selectors only {BY_RACK} is built in", BY_RACK),
            "Who chooses the replica that a consumer reads from; unset: always the leader."),
    Setting("num.replica.fetchers", INT, 1, ANYTHING, HIGH, CLUSTER_WIDE,
            without_effect("one task a leader's broker fetches all that is followed there"),
            "Threads that fetch from each leader's broker."),
    Setting("controlled.shutdown.enable", BOOLEAN, True, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "A broker that stops hands over what it leads first."),
    Setting("controlled.shutdown.max.retries", INT, 3, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How often it tries again when the controller could not hand over everything."),
    Setting("controlled.shutdown.retry.backoff.ms", LONG, 5000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How long it pauses before it does."),
    Setting("controller.socket.timeout.ms", INT, 30_000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How long the controller waits for a broker to answer."),
    Setting("replication.quota.window.num", INT, 11, AtLeast(1), LOW, READ_ONLY, NO_THROTTLE,
            "How many windows the rate of replication is averaged over."),
    Setting("replication.quota.window.size.seconds", INT, 1, AtLeast(1), LOW, READ_ONLY, NO_THROTTLE,
            "How long each window of the rate of replication is."),
    Setting("alter.log.dirs.replication.quota.window.num", INT, 11, AtLeast(1), LOW, READ_ONLY, NO_THROTTLE,
            "How many windows the rate of moves between directories is averaged over."),
    Setting("alter.log.dirs.replication.quota.window.size.seconds", INT, 1, AtLeast(1), LOW, READ_ONLY,
            NO_THROTTLE, "How long each window of the rate of moves between directories is."),
)
