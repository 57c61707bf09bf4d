"""The broker's settings of consumer groups and of the offsets they commit."""

from __future__ import annotations

from itertools import permutations

from odradek.model.config.general import ONE_LOOP
from odradek.model.config.setting import HIGH, MEDIUM, READ_ONLY, SERVED, Setting, refused, without_effect
from odradek.model.config.values import ANYTHING, INT, INT_MAX, LIST, LONG, SHORT, AtLeast, Between, OneOf

UNIFORM = "org.apache.kafka.coordinator.group.assignor.UniformAssignor"
RANGE = "org.apache.kafka.coordinator.group.assignor.RangeAssignor"
BUILT_IN = refused(
    "of the assignors only the uniform and the range assignor are built in",
    *((UNIFORM,), (RANGE,), *permutations((UNIFORM, RANGE))),
)
NO_SHARE = without_effect("share groups need KRaft")
STREAMED = without_effect("a partition is loaded batch by batch")

# fmt: off
SETTINGS = (
    Setting("group.initial.rebalance.delay.ms", INT, 3000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How long an empty group waits for more members before its first rebalance."),
    Setting("group.min.session.timeout.ms", INT, 6000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "The shortest session time-out a member may ask for."),
    Setting("group.max.session.timeout.ms", INT, 1_800_000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "The longest session time-out a member may ask for."),
    Setting("group.max.size", INT, INT_MAX, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "How many members a group may have."),
    Setting("group.coordinator.rebalance.protocols", LIST, ("classic",),
            OneOf(("consumer", "classic", "share", "unknown")), MEDIUM, READ_ONLY, SERVED,
            "Which kinds of group may be formed."),
    Setting("group.coordinator.append.linger.ms", INT, 10, AtLeast(0), MEDIUM, READ_ONLY,
            without_effect("records that are appended in one turn of the loop share a write as it is"),
            "How long a coordinator gathers records before it writes them."),
    Setting("group.coordinator.threads", INT, 1, AtLeast(1), MEDIUM, READ_ONLY, ONE_LOOP,
            "Threads that run coordinators."),
    Setting("group.consumer.assignors", LIST, (UNIFORM, RANGE), ANYTHING, MEDIUM, READ_ONLY, BUILT_IN,
            "Who hands out partitions in a group of the new kind; the first unless a member asks."),
    Setting("group.consumer.heartbeat.interval.ms", INT, 5000, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "How often members of the new kind of group say that they live."),
    Setting("group.consumer.min.heartbeat.interval.ms", INT, 5000, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "The least a group may set for itself."),
    Setting("group.consumer.max.heartbeat.interval.ms", INT, 15_000, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "The most a group may set for itself."),
    Setting("group.consumer.session.timeout.ms", INT, 45_000, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "How long a member of the new kind of group may be silent."),
    Setting("group.consumer.min.session.timeout.ms", INT, 45_000, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "The least a group may set for itself."),
    Setting("group.consumer.max.session.timeout.ms", INT, 60_000, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "The most a group may set for itself."),
    Setting("group.consumer.max.size", INT, INT_MAX, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "How many members the new kind of group may have."),
    Setting("group.share.delivery.count.limit", INT, 5, Between(2, 10), MEDIUM, READ_ONLY, NO_SHARE,
            "How often a share group tries to deliver a record."),
    Setting("group.share.heartbeat.interval.ms", INT, 5000, AtLeast(1), MEDIUM, READ_ONLY, NO_SHARE,
            "How often members of a share group say that they live."),
    Setting("group.share.min.heartbeat.interval.ms", INT, 5000, AtLeast(1), MEDIUM, READ_ONLY, NO_SHARE,
            "The least a share group may set for itself."),
    Setting("group.share.max.heartbeat.interval.ms", INT, 15_000, AtLeast(1), MEDIUM, READ_ONLY, NO_SHARE,
            "The most a share group may set for itself."),
    Setting("group.share.session.timeout.ms", INT, 45_000, AtLeast(1), MEDIUM, READ_ONLY, NO_SHARE,
            "How long a member of a share group may be silent."),
    Setting("group.share.min.session.timeout.ms", INT, 45_000, AtLeast(1), MEDIUM, READ_ONLY, NO_SHARE,
            "The least a share group may set for itself."),
    Setting("group.share.max.session.timeout.ms", INT, 60_000, AtLeast(1), MEDIUM, READ_ONLY, NO_SHARE,
            "The most a share group may set for itself."),
    Setting("group.share.record.lock.duration.ms", INT, 30_000, Between(1000, 60_000), MEDIUM, READ_ONLY,
            NO_SHARE, "How long a record is one member's of a share group to work on."),
    Setting("group.share.min.record.lock.duration.ms", INT, 15_000, Between(1000, 30_000), MEDIUM, READ_ONLY,
            NO_SHARE, "The least a share group may set for itself."),
    Setting("group.share.max.record.lock.duration.ms", INT, 60_000, Between(30_000, 3_600_000), MEDIUM,
            READ_ONLY, NO_SHARE, "The most a share group may set for itself."),
    Setting("group.share.partition.max.record.locks", INT, 200, Between(100, 10_000), MEDIUM, READ_ONLY,
            NO_SHARE, "How many records of a partition may be worked on at once."),
    Setting("group.share.max.groups", SHORT, 10, Between(1, 100), MEDIUM, READ_ONLY, NO_SHARE,
            "How many share groups there may be."),
    Setting("group.share.max.size", SHORT, 200, Between(10, 1000), MEDIUM, READ_ONLY, NO_SHARE,
            "How many members a share group may have."),
    Setting("offset.metadata.max.bytes", INT, 4096, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How long the note beside a committed offset may be."),
    Setting("offsets.topic.num.partitions", INT, 50, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How many partitions __consumer_offsets is created with; never change it later."),
    Setting("offsets.topic.replication.factor", SHORT, 3, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How many replicas __consumer_offsets is created with; so many brokers must live."),
    Setting("offsets.topic.segment.bytes", INT, 104857600, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How large a segment of __consumer_offsets grows."),
    Setting("offsets.topic.compression.codec", INT, 0, ANYTHING, HIGH, READ_ONLY, SERVED,
            "The codec of what is written to __consumer_offsets, by its number in a batch."),
    Setting("offsets.retention.minutes", INT, 10_080, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How long offsets are remembered after their group is empty or unsubscribed."),
    Setting("offsets.retention.check.interval.ms", LONG, 600_000, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How often it is looked for offsets to forget."),
    Setting("offsets.commit.timeout.ms", INT, 5000, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How long a commit may take to be replicated."),
    Setting("offsets.commit.required.acks", SHORT, -1, ANYTHING, HIGH, READ_ONLY,
            without_effect("a commit is acknowledged when all replicas in sync hold it"),
            "How many replicas must hold a commit."),
    Setting("offsets.load.buffer.size", INT, 5242880, AtLeast(1), HIGH, READ_ONLY, STREAMED,
            "How much is read at once when a coordinator loads its offsets."),
)
