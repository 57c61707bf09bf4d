"""Our counts under the names that JMX exporter's usual rules for Kafka give, which existing dashboards query.

`kafka_<domain>_<type>_<name>` in lower case; what Kafka meters ends in `_total`. What Kafka measures and we
have not (queues between threads, conversions of old formats) is left out rather than shown as zero for ever.
Of the exporter's two releases, 1.x calls a histogram's count `_count_total` and 0.x `_count`: both are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from odradek.model.image import ClusterImage, PartitionImage
from odradek.observe.exposition import Family, Number, Sample, counter, gauge, labels, untyped
from odradek.observe.metrics import QUANTILES, ApiCounts, Histogram, quantiles
from odradek.observe.sources import DirectoryFacts, PartitionFacts, Sources

Hosted: TypeAlias = Sequence[tuple[str, PartitionFacts]]  # each with its labels
ByApi: TypeAlias = Mapping[str, Sequence[ApiCounts]]

_FETCHES = ("FetchConsumer", "FetchFollower")  # counted apart; Kafka tells them together, too


def families(sources: Sources, hosted: Hosted) -> Iterator[Family]:
    yield from _traffic(sources)
    yield from _requests(sources)
    yield from _partitions(hosted)
    yield from _replicas(sources, hosted)
    yield from _directories(sources.directories())
    yield from _cleaner(sources)
    yield from _flushes(sources)
    yield from _controller(sources)
    yield from _server(sources)
    yield from _process(sources)


# -- traffic -----------------------------------------------------------------------------------------------

_TRAFFIC = (
    ("messagesin", "messages_in", "Records appended for producers."),
    ("bytesin", "bytes_in", "Bytes appended for producers."),
    ("bytesout", "bytes_out", "Bytes read by consumers."),
    ("bytesrejected", "bytes_rejected", "Bytes of batches that were refused."),
    ("totalproducerequests", "produces", "Partitions that were produced to, request by request."),
    ("failedproducerequests", "failed_produces", "Partitions of produce requests that were refused."),
    ("totalfetchrequests", "fetches", "Partitions that were read, request by request."),
    ("failedfetchrequests", "failed_fetches", "Partitions of fetch requests that were refused."),
)


def _traffic(sources: Sources) -> Iterator[Family]:
    prefix = "kafka_server_brokertopicmetrics"
    total, topics = sources.traffic.total(), sources.traffic.topics
    for name, counted, meaning in _TRAFFIC:
        each = [(labels(topic=topic), getattr(counts, counted)) for topic, counts in topics.items()]
        yield counter(f"{prefix}_{name}_total", meaning, [("", getattr(total, counted)), *each])
    rates = [(labels(name=name), rate) for name, rate in sources.rates.total.per_second.items()]
    for topic, its in sources.rates.topics.items():
        rates += [(labels(name=name, topic=topic), rate) for name, rate in its.per_second.items()]
    # The exporter's name where it has no rules; some UIs look for it, in this very spelling.
    name = "kafka_server_BrokerTopicMetrics_FifteenMinuteRate"
    yield gauge(name, "A second, averaged over a quarter of an hour.", rates)


# -- requests ----------------------------------------------------------------------------------------------


class _Times(NamedTuple):
    """Histograms shown as one, together with so many more that took no time."""

    histograms: Sequence[Histogram]
    zeros: int = 0
    zeros_lately: int = 0

    @property
    def measured(self) -> int:
        return sum(each.count for each in self.histograms) + self.zeros


def _requests(sources: Sources) -> Iterator[Family]:
    apis = {api: [counts] for api, counts in sources.requests.apis.items()}
    fetches = [counts for api in _FETCHES for counts in apis.get(api, ())]
    if fetches:
        apis["Fetch"] = fetches
    prefix = "kafka_network_requestmetrics"
    by_version = _summed(apis, "version", lambda counts: counts.by_version)
    by_error = _summed(apis, "error", lambda counts: counts.errors)
    yield counter(f"{prefix}_requests_total", "Requests answered.", by_version)
    yield counter(f"{prefix}_errors_total", "Requests refused as a whole.", by_error)
    for name, meaning, times in (
        ("totaltimems", "From a request's arrival to its answer.", _total_times),
        ("localtimems", "The part of that spent at work.", _local_times),
        ("remotetimems", "The part spent waiting: for offsets, for others, for more to read.", _remote_times),
    ):
        rows = [({"request": api}, times(counts)) for api, counts in apis.items()]
        yield from _histogram(f"{prefix}_{name}", meaning, rows)


def _summed(
    apis: ByApi, label: str, of: Callable[[ApiCounts], Mapping[int, int] | Mapping[str, int]]
) -> Iterator[Sample]:
    for api, parts in apis.items():
        summed: Counter[object] = Counter()
        for counts in parts:
            summed.update(of(counts))
        for value, count in summed.items():
            yield labels(**{"request": api, label: value}), count


def _total_times(parts: Sequence[ApiCounts]) -> _Times:
    return _Times([each for counts in parts for each in (counts.at_once, counts.waited)])


def _local_times(parts: Sequence[ApiCounts]) -> _Times:
    return _Times([each for counts in parts for each in (counts.at_once, counts.waited_local)])


def _remote_times(parts: Sequence[ApiCounts]) -> _Times:
    """Those that were answered as they came waited for nothing."""
    return _Times(
        [counts.waited_remote for counts in parts],
        sum(counts.at_once.count for counts in parts),
        sum(count for counts in parts for _, count in counts.at_once.recent()),
    )


_QUANTILE_NAMES = ("0.50", "0.75", "0.95", "0.98", "0.99", "0.999")
assert tuple(map(float, _QUANTILE_NAMES)) == QUANTILES


def _histogram(name: str, meaning: str, rows: Sequence[tuple[Mapping[str, str], _Times]]) -> Iterator[Family]:
    yield gauge(
        name,
        f"{meaning} In ms; over the last minutes.",
        [
            (labels(**who, quantile=quantile), ms)
            for who, times in rows
            for quantile, ms in zip(
                _QUANTILE_NAMES, quantiles(times.histograms, times.zeros_lately), strict=True
            )
        ],
    )
    counts = [(labels(**who), times.measured) for who, times in rows]
    yield counter(f"{name}_count_total", "How many there were.", counts)
    yield untyped(f"{name}_count", "The same, under the exporter's older name.", counts)


# -- partitions, logs and disks ----------------------------------------------------------------------------


def _partitions(hosted: Hosted) -> Iterator[Family]:
    for name, meaning, value in _OF_A_PARTITION:
        yield gauge(name, meaning, [(its, value(facts)) for its, facts in hosted])


def _is_under_replicated(facts: PartitionFacts) -> bool:
    return facts.in_sync is not None and facts.in_sync < facts.replicas


def _is_under_min(facts: PartitionFacts) -> bool:
    return facts.in_sync is not None and facts.in_sync < facts.in_sync_min


def _is_at_min(facts: PartitionFacts) -> bool:
    return facts.in_sync == facts.in_sync_min


# What only a leader knows, others tell as zero, as Kafka does.
_OF_A_PARTITION: tuple[tuple[str, str, Callable[[PartitionFacts], Number]], ...] = (
    ("kafka_log_log_size", "Bytes in the log.", lambda facts: facts.size),
    ("kafka_log_log_logstartoffset", "The log's first offset.", lambda facts: facts.log_start),
    ("kafka_log_log_logendoffset", "The offset behind its last.", lambda facts: facts.log_end),
    ("kafka_log_log_numlogsegments", "Segments of the log.", lambda facts: facts.segments),
    (
        "kafka_cluster_partition_replicascount",
        "Its replicas.",
        lambda facts: facts.replicas if facts.leads else 0,
    ),
    (
        "kafka_cluster_partition_insyncreplicascount",
        "Its replicas in sync.",
        lambda facts: facts.in_sync or 0,
    ),
    (
        "kafka_cluster_partition_underreplicated",
        "1 where fewer are in sync.",
        lambda facts: int(_is_under_replicated(facts)),
    ),
    (
        "kafka_cluster_partition_underminisr",
        "1 where fewer are in sync than min.insync.replicas.",
        lambda facts: int(_is_under_min(facts)),
    ),
    (
        "kafka_cluster_partition_atminisr",
        "1 where just as many are in sync as min.insync.replicas.",
        lambda facts: int(_is_at_min(facts)),
    ),
    (
        "kafka_cluster_partition_laststableoffsetlag",
        "Offsets that undecided transactions hold back.",
        lambda facts: facts.high_watermark - facts.last_stable,
    ),
)


def _replicas(sources: Sources, hosted: Hosted) -> Iterator[Family]:
    all_facts = [facts for _, facts in hosted]
    for name, meaning, value in (
        ("partitioncount", "Partitions hosted.", len(all_facts)),
        ("leadercount", "Those led.", _count(facts.leads for facts in all_facts)),
        ("underreplicatedpartitions", "Led, not all in sync.", _count(map(_is_under_replicated, all_facts))),
        ("underminisrpartitioncount", "Led, too few in sync.", _count(map(_is_under_min, all_facts))),
        ("atminisrpartitioncount", "Led, just enough in sync.", _count(map(_is_at_min, all_facts))),
        ("offlinereplicacount", "Replicas on failed disks.", sources.offline_replicas()),
        ("produceridcount", "Producers remembered.", sum(facts.producers for facts in all_facts)),
    ):
        yield gauge(f"kafka_server_replicamanager_{name}", meaning, value)


def _directories(directories: Sequence[DirectoryFacts]) -> Iterator[Family]:
    offline = [(labels(logDirectory=each.path), int(each.is_offline)) for each in directories]
    yield gauge("kafka_log_logmanager_logdirectoryoffline", "1 where its disk has failed.", offline)
    count = _count(each.is_offline for each in directories)
    yield gauge("kafka_log_logmanager_offlinelogdirectorycount", "Directories whose disk has failed.", count)


def _flushes(sources: Sources) -> Iterator[Family]:
    times = _Times([sources.flushes])
    yield from _histogram("kafka_log_logflushstats_logflushrateandtimems", "Flushes of logs.", [({}, times)])


def _cleaner(sources: Sources) -> Iterator[Family]:
    facts, directories = sources.cleaner(), sources.directories()
    manager = "kafka_log_logcleanermanager"
    its = [labels(logDirectory=each.path) for each in directories]
    partitions = zip(its, (each.uncleanable_partitions for each in directories), strict=True)
    sizes = zip(its, (each.uncleanable_bytes for each in directories), strict=True)
    yield gauge(
        f"{manager}_uncleanable_partitions_count",
        "Partitions that are damaged and not compacted.",
        partitions,
    )
    yield gauge(f"{manager}_uncleanable_bytes", "Bytes in them.", sizes)
    yield gauge(
        f"{manager}_max_dirty_percent", "How much of the dirtiest log is dirty.", facts.dirty_percent_max
    )
    yield gauge(f"{manager}_time_since_last_run_ms", "Since compaction looked.", facts.since_last_look_ms)
    cleaner = "kafka_log_logcleaner"
    yield gauge(f"{cleaner}_max_compaction_delay_secs", "How overdue a log is.", facts.delay_s_max)
    for name, meaning, value in (
        ("cleaner_recopy_percent", "Of what the last round read, how much stayed.", facts.recopy_percent),
        ("max_buffer_utilization_percent", "How full its table of keys was.", facts.buffer_percent),
        ("max_clean_time_secs", "How long it took.", facts.clean_time_s),
    ):
        yield gauge(f"{cleaner}_{name}", meaning, () if value is None else value)


# -- controller --------------------------------------------------------------------------------------------


def _controller(sources: Sources) -> Iterator[Family]:
    prefix = "kafka_controller_kafkacontroller"
    facts = sources.controller()
    yield gauge(
        f"{prefix}_activecontrollercount", "1 where this broker is the controller.", int(facts is not None)
    )
    if facts is None:
        return
    image = facts.image
    states = [state for topic in image.topics.values() for state in topic.partitions.values()]
    for name, meaning, value in (
        ("globaltopiccount", "Topics of the cluster.", len(image.topics)),
        ("globalpartitioncount", "Partitions of the cluster.", len(states)),
        ("activebrokercount", "Brokers of the cluster.", len(image.brokers)),
        (
            "offlinepartitionscount",
            "Partitions that nobody leads.",
            _count(not _is_led(image, each) for each in states),
        ),
        (
            "preferredreplicaimbalancecount",
            "Partitions led by another than their first replica.",
            _count(each.replicas[:1] != (each.leader,) for each in states),
        ),
        ("topicstodeletecount", "Topics on their way out.", facts.topics_to_delete),
    ):
        yield gauge(f"{prefix}_{name}", meaning, value)


def _is_led(image: ClusterImage, state: PartitionImage) -> bool:
    return state.has_leader and state.leader in image.brokers


# -- the server and its process ----------------------------------------------------------------------------


def _server(sources: Sources) -> Iterator[Family]:
    sessions = sources.fetch_sessions()
    cache = "kafka_server_fetchsessioncache"
    yield gauge(f"{cache}_numincrementalfetchsessions", "Fetch sessions.", sessions.sessions)
    yield gauge(
        f"{cache}_numincrementalfetchpartitionscached", "Partitions in fetch sessions.", sessions.partitions
    )
    yield counter(
        f"{cache}_incrementalfetchsessionevictions_total", "Sessions that had to go.", sessions.evicted
    )
    parked = [(labels(delayedOperation=api), count) for api, count in sources.parked().items()]
    for name in ("purgatorysize", "numdelayedoperations"):
        yield gauge(f"kafka_server_delayedoperationpurgatory_{name}", "Requests that wait.", parked)
    yield gauge(
        "kafka_server_kafkaserver_brokerstate",
        "1: it starts, 2: it recovers its logs, 3: it serves, 7: it stops.",
        sources.broker_state(),
    )
    yield gauge(
        "kafka_server_metadataloader_currentcontrollerid", "The broker that is.", sources.image().controller
    )
    yield from _network(sources)


def _network(sources: Sources) -> Iterator[Family]:
    connections = sources.connections()
    by_listener = [(labels(listener=name), count) for name, count in connections.by_listener.items()]
    yield gauge("kafka_server_socketservermetrics_connection_count", "Open connections.", by_listener)
    yield gauge(
        "kafka_network_socketserver_expiredconnectionskilledcount",
        "Connections closed for being idle.",
        connections.closed_idle,
    )
    idle = sources.idle_ratio()
    for name in (
        "kafka_network_socketserver_networkprocessoravgidlepercent",
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent",
    ):
        # One loop does the work of both.
        yield gauge(name, "How idle the event loop's thread is, from 0 to 1.", () if idle is None else idle)


def _process(sources: Sources) -> Iterator[Family]:
    facts = sources.process()
    yield counter("process_cpu_seconds_total", "Processor time used.", facts.cpu_s)
    yield gauge("process_resident_memory_bytes", "Memory used.", facts.resident_size)
    yield gauge("process_open_fds", "Open files, sockets included.", facts.open_files)


def _count(those: Iterable[bool]) -> int:
    return sum(those)
