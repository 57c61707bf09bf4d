"""The broker's settings of producers and transactions."""

from __future__ import annotations

from odradek.model.config.groups import STREAMED
from odradek.model.config.setting import CLUSTER_WIDE, HIGH, LOW, READ_ONLY, SERVED, Setting
from odradek.model.config.values import ANYTHING, BOOLEAN, INT, SHORT, AtLeast

# fmt: off
SETTINGS = (
    Setting("transaction.max.timeout.ms", INT, 900_000, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "The longest time-out a producer may ask for its transactions."),
    Setting("transaction.state.log.num.partitions", INT, 50, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How many partitions __transaction_state is created with; never change it later."),
    Setting("transaction.state.log.replication.factor", SHORT, 3, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How many replicas __transaction_state is created with; so many brokers must live."),
    Setting("transaction.state.log.min.isr", INT, 2, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "The min.insync.replicas of __transaction_state."),
    Setting("transaction.state.log.segment.bytes", INT, 104857600, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How large a segment of __transaction_state grows."),
    Setting("transaction.state.log.load.buffer.size", INT, 5242880, AtLeast(1), HIGH, READ_ONLY, STREAMED,
            "How much is read at once when a coordinator loads its transactions."),
    Setting("transactional.id.expiration.ms", INT, 604_800_000, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "How long an idle transactional id is remembered."),
    Setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10_000, AtLeast(1), LOW,
            READ_ONLY, SERVED, "How often it is looked for transactions past their time-out."),
    Setting("transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3_600_000, AtLeast(1), LOW,
            READ_ONLY, SERVED, "How often it is looked for transactional ids to forget."),
    Setting("transaction.partition.verification.enable", BOOLEAN, True, ANYTHING, LOW, CLUSTER_WIDE, SERVED,
            "Before a transaction's first batch is taken, its coordinator is asked whether it knows of it."),
    Setting("producer.id.expiration.ms", INT, 86_400_000, AtLeast(1), LOW, CLUSTER_WIDE, SERVED,
            "How long a log remembers the sequences of an idle producer."),
)
