"""What one setting demands of another. Each complaint names the keys it is about."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.model.config.typed import TypedValues

DEDUPE_BYTES_MIN = 1 << 20  # for each thread that compacts

# Which settings a value has to lie between.
_BOUNDED = (
    (
        "group.consumer.heartbeat.interval.ms",
        "group.consumer.min.heartbeat.interval.ms",
        "group.consumer.max.heartbeat.interval.ms",
    ),
    (
        "group.consumer.session.timeout.ms",
        "group.consumer.min.session.timeout.ms",
        "group.consumer.max.session.timeout.ms",
    ),
)
_ORDERED = (
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
    ("replica.fetch.wait.max.ms", "replica.socket.timeout.ms"),
    ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
    ("log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"),
    *((low, high) for _, low, high in _BOUNDED),
    *((low, value) for value, low, _ in _BOUNDED),
    *((value, high) for value, _, high in _BOUNDED),
)


def complaints(config: TypedValues) -> Iterator[str]:
    for low, high in _ORDERED:
        if config.integer(low) > config.integer(high):
            yield f"{low}={config.integer(low)} must not be more than {high}={config.integer(high)}"
    yield from _about_the_id(config)
    yield from _about_logs(config)
    yield from _about_connections(config)


def _about_the_id(config: TypedValues) -> Iterator[str]:
    node, broker = config.integer("node.id"), config.integer("broker.id")
    if node != broker:
        yield f"node.id={node} and broker.id={broker} must be the same"
    id = config.integer("broker.id")
    if id < -1:
        yield "broker.id must be at least -1"
    if config.boolean("broker.id.generation.enable"):
        if id > config.integer("reserved.broker.max.id"):
            yield (
                f"broker.id={id} must not be more than reserved.broker.max.id="
                f"{config.integer('reserved.broker.max.id')}, above which ids are given out"
            )
    elif id < 0:
        yield "broker.id must be set, because broker.id.generation.enable is false"


def _about_logs(config: TypedValues) -> Iterator[str]:
    dirs = config.optional_string("log.dirs") or config.string("log.dir")
    if not any(each.strip() for each in dirs.split(",")):
        yield "log.dirs: at least one data directory is needed"
    for name, low in (("log.roll.ms", 1), ("log.roll.jitter.ms", 0)):
        value = config.optional_integer(name)
        if value is not None and value < low:
            yield f"{name}={value} must be at least {low}"
    for name in ("log.retention.ms", "log.retention.minutes", "log.retention.hours"):
        value = config.optional_integer(name)
        if value is not None and value != -1 and value < 1:
            yield f"{name} must be unlimited (-1) or, greater than or equal to 1"
    threads = config.integer("log.cleaner.threads")
    if config.boolean("log.cleaner.enable") and threads:
        buffer = config.integer("log.cleaner.dedupe.buffer.size")
        if buffer // threads <= DEDUPE_BYTES_MIN:
            yield (
                f"log.cleaner.dedupe.buffer.size={buffer} must be more than 1 MiB for each of "
                f"log.cleaner.threads={threads}"
            )


def _about_connections(config: TypedValues) -> Iterator[str]:
    try:
        overrides = connections_per_host(config)
    except ValueError as bad:
        yield f"max.connections.per.ip.overrides: {bad}"
        return
    if config.integer("max.connections.per.ip") == 0 and not overrides:
        yield "max.connections.per.ip=0 needs exceptions in max.connections.per.ip.overrides"


def connections_per_host(config: TypedValues) -> dict[str, int]:
    """The exceptions to max.connections.per.ip; `ValueError` for what is not host:count."""
    limits: dict[str, int] = {}
    for item in config.string("max.connections.per.ip.overrides").split(","):
        if item.strip():
            host, _, count = item.strip().rpartition(":")
            if not (host and count.isascii() and count.isdigit()):
                raise ValueError(f"'{item.strip()}' is not host:count")
            limits[host] = int(count)
    return limits
