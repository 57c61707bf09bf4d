"""The broker's settings of its listeners, sockets and connections."""

from __future__ import annotations

from odradek.model.config.general import NO_QUOTAS, ONE_LOOP
from odradek.model.config.setting import (
    CLUSTER_WIDE,
    HIGH,
    LOW,
    MEDIUM,
    PER_BROKER,
    READ_ONLY,
    SERVED,
    Setting,
    without_effect,
)
from odradek.model.config.values import ANYTHING, INT, INT_MAX, LONG, STRING, AtLeast, OneOf

PROTOCOL_MAP = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"
PROTOCOL = OneOf(("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"))
NO_QUEUE = without_effect("requests are carried out as they arrive; a connection that lags is not read")

# fmt: off
SETTINGS = (
    Setting("listeners", STRING, "PLAINTEXT://:9092", ANYTHING, HIGH, PER_BROKER, SERVED,
            "Where the broker listens: NAME://host:port, separated by commas."),
    Setting("advertised.listeners", STRING, None, ANYTHING, HIGH, PER_BROKER, SERVED,
            "Where clients are told to find it, when that is not where it listens."),
    Setting("listener.security.protocol.map", STRING, PROTOCOL_MAP, ANYTHING, LOW, PER_BROKER, SERVED,
            "Which protocol each listener speaks: NAME:PROTOCOL, separated by commas."),
    Setting("inter.broker.listener.name", STRING, None, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "The listener that other brokers use; unset: the one of security.inter.broker.protocol."),
    Setting("security.inter.broker.protocol", STRING, "PLAINTEXT", PROTOCOL, MEDIUM, READ_ONLY, SERVED,
            "The protocol that other brokers use, where inter.broker.listener.name is unset."),
    Setting("control.plane.listener.name", STRING, None, ANYTHING, HIGH, READ_ONLY, SERVED,
            "A listener kept free for the controller."),
    Setting("socket.request.max.bytes", INT, 104857600, AtLeast(1), HIGH, READ_ONLY, SERVED,
            "The largest request that is read; a larger one closes its connection."),
    Setting("socket.receive.buffer.bytes", INT, 102400, ANYTHING, HIGH, READ_ONLY, SERVED,
            "The kernel's receive buffer of a connection; -1: the kernel's choice."),
    Setting("socket.send.buffer.bytes", INT, 102400, ANYTHING, HIGH, READ_ONLY, SERVED,
            "The kernel's send buffer of a connection; -1: the kernel's choice."),
    Setting("socket.listen.backlog.size", INT, 50, AtLeast(1), MEDIUM, READ_ONLY, SERVED,
            "How many connections may wait to be accepted."),
    Setting("socket.connection.setup.timeout.ms", LONG, 10_000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How long a first attempt to reach another broker may take."),
    Setting("socket.connection.setup.timeout.max.ms", LONG, 30_000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How long a later attempt may take; each takes twice as long as the one before."),
    Setting("request.timeout.ms", INT, 30_000, ANYTHING, HIGH, READ_ONLY, SERVED,
            "How long a request to another broker waits for its answer."),
    Setting("connections.max.idle.ms", LONG, 600_000, ANYTHING, MEDIUM, READ_ONLY, SERVED,
            "How long a connection may say nothing before it is closed."),
    Setting("max.connections", INT, INT_MAX, AtLeast(0), MEDIUM, CLUSTER_WIDE, SERVED,
            "How many connections the broker holds at once."),
    Setting("max.connections.per.ip", INT, INT_MAX, AtLeast(0), MEDIUM, CLUSTER_WIDE, SERVED,
            "How many connections one address may hold at once."),
    Setting("max.connections.per.ip.overrides", STRING, "", ANYTHING, MEDIUM, CLUSTER_WIDE, SERVED,
            "The same for single addresses: host:count, separated by commas."),
    Setting("max.connection.creation.rate", INT, INT_MAX, AtLeast(0), MEDIUM, CLUSTER_WIDE, NO_QUOTAS,
            "How many new connections a second are accepted."),
    Setting("num.network.threads", INT, 3, AtLeast(1), HIGH, CLUSTER_WIDE, ONE_LOOP,
            "Threads that read requests and write answers, for each listener."),
    Setting("queued.max.requests", INT, 500, AtLeast(1), HIGH, READ_ONLY, NO_QUEUE,
            "How many requests may queue before no more are read."),
    Setting("queued.max.request.bytes", LONG, -1, ANYTHING, MEDIUM, READ_ONLY, NO_QUEUE,
            "How many bytes of requests may queue before no more are read."),
)
