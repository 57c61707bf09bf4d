"""The broker's settings of tiered storage, which is not served: remote.*."""

from __future__ import annotations

from odradek.model.config.setting import (
    CLUSTER_WIDE,
    LOW,
    MEDIUM,
    READ_ONLY,
    Setting,
    refused,
    without_effect,
)
from odradek.model.config.values import (
    ANYTHING,
    BOOLEAN,
    INT,
    LONG,
    LONG_MAX,
    STRING,
    AtLeast,
    NotEmpty,
    Unlimited,
)

NO_TIER = without_effect("there is no tiered storage; logs live on local disks")
TIER_REFUSED = refused("there is no tiered storage; logs live on local disks")
METADATA_MANAGER = "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"
POOL = Unlimited(1)
WORD = NotEmpty("string")

# fmt: off
SETTINGS = (
    Setting("remote.log.storage.system.enable", BOOLEAN, False, ANYTHING, MEDIUM, READ_ONLY, TIER_REFUSED,
            "Old segments may be moved to remote storage."),
    Setting("remote.fetch.max.wait.ms", INT, 500, AtLeast(1), MEDIUM, CLUSTER_WIDE, NO_TIER,
            "How long a fetch waits for remote storage."),
    Setting("remote.log.index.file.cache.total.size.bytes", LONG, 1073741824, AtLeast(1), LOW, CLUSTER_WIDE,
            NO_TIER, "How much disk the indexes of remote segments may take here."),
    Setting("remote.log.manager.copier.thread.pool.size", INT, -1, POOL, MEDIUM, READ_ONLY, NO_TIER,
            "Threads that copy segments out; -1: as remote.log.manager.thread.pool.size."),
    Setting("remote.log.manager.copy.max.bytes.per.second", LONG, LONG_MAX, AtLeast(1), MEDIUM, CLUSTER_WIDE,
            NO_TIER, "How fast segments are copied out."),
    Setting("remote.log.manager.copy.quota.window.num", INT, 11, AtLeast(1), MEDIUM, READ_ONLY, NO_TIER,
            "How many windows the rate of copying is averaged over."),
    Setting("remote.log.manager.copy.quota.window.size.seconds", INT, 1, AtLeast(1), MEDIUM, READ_ONLY,
            NO_TIER, "How long each window of the rate of copying is."),
    Setting("remote.log.manager.expiration.thread.pool.size", INT, -1, POOL, MEDIUM, READ_ONLY, NO_TIER,
            "Threads that remove remote segments; -1: as remote.log.manager.thread.pool.size."),
    Setting("remote.log.manager.fetch.max.bytes.per.second", LONG, LONG_MAX, AtLeast(1), MEDIUM, CLUSTER_WIDE,
            NO_TIER, "How fast remote segments are read."),
    Setting("remote.log.manager.fetch.quota.window.num", INT, 11, AtLeast(1), MEDIUM, READ_ONLY, NO_TIER,
            "How many windows the rate of remote reading is averaged over."),
    Setting("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, AtLeast(1), MEDIUM, READ_ONLY,
            NO_TIER, "How long each window of the rate of remote reading is."),
    Setting("remote.log.manager.task.interval.ms", LONG, 30_000, AtLeast(1), LOW, READ_ONLY, NO_TIER,
            "How often it is looked for segments to copy or remove."),
    Setting("remote.log.manager.thread.pool.size", INT, 10, AtLeast(1), MEDIUM, READ_ONLY, NO_TIER,
            "Threads that copy, remove and look after remote segments."),
    Setting("remote.log.metadata.custom.metadata.max.bytes", INT, 128, AtLeast(0), LOW, READ_ONLY, NO_TIER,
            "How much of its own a storage plug-in may note about a segment."),
    Setting("remote.log.metadata.manager.class.name", STRING, METADATA_MANAGER, WORD, MEDIUM, READ_ONLY,
            NO_TIER, "The class that knows which segments are remote."),
    Setting("remote.log.metadata.manager.class.path", STRING, None, ANYTHING, MEDIUM, READ_ONLY, NO_TIER,
            "Where that class is found."),
    Setting("remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config.", WORD, MEDIUM, READ_ONLY,
            NO_TIER, "How the names of that class's own settings begin."),
    Setting("remote.log.metadata.manager.listener.name", STRING, None, WORD, MEDIUM, READ_ONLY, NO_TIER,
            "The listener through which that class speaks to brokers."),
    Setting("remote.log.reader.max.pending.tasks", INT, 100, AtLeast(1), MEDIUM, READ_ONLY, NO_TIER,
            "How many remote reads may queue."),
    Setting("remote.log.reader.threads", INT, 10, AtLeast(1), MEDIUM, READ_ONLY, NO_TIER,
            "Threads that read remote segments."),
    Setting("remote.log.storage.manager.class.name", STRING, None, WORD, MEDIUM, READ_ONLY, NO_TIER,
            "The class that stores segments elsewhere."),
    Setting("remote.log.storage.manager.class.path", STRING, None, ANYTHING, MEDIUM, READ_ONLY, NO_TIER,
            "Where that class is found."),
    Setting("remote.log.storage.manager.impl.prefix", STRING, "rsm.config.", WORD, MEDIUM, READ_ONLY, NO_TIER,
            "How the names of that class's own settings begin."),
)
