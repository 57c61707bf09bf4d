from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek.observe.scrape import scrape
from odradek.observe.sources import CleanerFacts, PartitionFacts, Sources

GOLDEN = Path(__file__).parents[1] / "golden" / "metric-series-3.9.2.txt"

# Not in Kafka's own list: the older exporter's names, kafka_exporter's, the process's, those that UIs want.
NOT_FROM_KAFKAS_RULES = (
    "kafka_server_BrokerTopicMetrics_FifteenMinuteRate",
    "kafka_server_socketservermetrics_connection_count",
    "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent",
    "kafka_topic_",
    "kafka_broker",
    "process_",
)


def scraped(sources: Sources) -> dict[str, dict[tuple[str, ...], float]]:
    """Name -> label values, in the order of the labels' names -> value."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families("".join(scrape(sources))):
        for sample in family.samples:
            key = tuple(value for _, value in sorted(sample.labels.items()))
            assert key not in found.setdefault(sample.name, {}), f"{sample.name}{key} is told twice"
            found[sample.name][key] = sample.value
    return found


def golden() -> dict[str, set[str]]:
    """Name -> its labels, as a real exporter shows a real Kafka. A meter of topics had one for the topic only
    where something had happened."""
    series = (line.rstrip("}").partition("{") for line in GOLDEN.read_text().split())
    found = {name: set(labels.split(",")) - {""} for name, _, labels in series}
    for name, labels in found.items():
        if name.startswith("kafka_server_brokertopicmetrics_"):
            labels.add("topic")
    return found


def test_every_series_has_a_name_and_labels_that_kafkas_has(sources: Sources) -> None:
    known = golden()
    for family in text_string_to_metric_families("".join(scrape(sources))):
        for sample in family.samples:
            name = sample.name if sample.name in known else f"{sample.name}_total"
            if name in known:
                assert set(sample.labels) <= known[name], name
            else:
                assert sample.name.startswith(NOT_FROM_KAFKAS_RULES), sample.name


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("kafka_server_brokertopicmetrics_messagesin_total", (), 2),
        ("kafka_server_brokertopicmetrics_messagesin_total", ("orders",), 2),
        ("kafka_server_brokertopicmetrics_bytesout_total", ("orders",), 70),
        ("kafka_server_BrokerTopicMetrics_FifteenMinuteRate", ("BytesInPerSec",), 20),
        ("kafka_server_BrokerTopicMetrics_FifteenMinuteRate", ("BytesInPerSec", "orders"), 20),
        ("kafka_network_requestmetrics_requests_total", ("Produce", "9"), 1),
        ("kafka_network_requestmetrics_requests_total", ("Fetch", "17"), 2),
        ("kafka_network_requestmetrics_requests_total", ("FetchConsumer", "17"), 1),
        ("kafka_network_requestmetrics_errors_total", ("UNKNOWN_SERVER_ERROR", "Metadata"), 1),
        ("kafka_network_requestmetrics_totaltimems_count_total", ("Fetch",), 2),
        ("kafka_network_requestmetrics_totaltimems_count", ("Fetch",), 2),
        ("kafka_network_requestmetrics_remotetimems_count", ("Produce",), 1),
        ("kafka_network_requestmetrics_remotetimems", ("0.999", "Produce"), 0),
        ("kafka_log_log_size", ("0", "orders"), 4096),
        ("kafka_log_log_logendoffset", ("1", "orders"), 7),
        ("kafka_cluster_partition_insyncreplicascount", ("0", "orders"), 2),
        ("kafka_cluster_partition_insyncreplicascount", ("1", "orders"), 0),
        ("kafka_cluster_partition_underreplicated", ("0", "orders"), 1),
        ("kafka_cluster_partition_laststableoffsetlag", ("0", "orders"), 5),
        ("kafka_server_replicamanager_partitioncount", (), 2),
        ("kafka_server_replicamanager_leadercount", (), 1),
        ("kafka_server_replicamanager_underreplicatedpartitions", (), 1),
        ("kafka_server_replicamanager_atminisrpartitioncount", (), 1),
        ("kafka_server_replicamanager_underminisrpartitioncount", (), 0),
        ("kafka_server_replicamanager_offlinereplicacount", (), 1),
        ("kafka_server_replicamanager_produceridcount", (), 6),
        ("kafka_log_logmanager_offlinelogdirectorycount", (), 1),
        ("kafka_log_logmanager_logdirectoryoffline", ("/gone",), 1),
        ("kafka_log_logcleanermanager_uncleanable_bytes", ("/data",), 100),
        ("kafka_log_logcleaner_cleaner_recopy_percent", (), 50),
        ("kafka_log_logflushstats_logflushrateandtimems_count_total", (), 1),
        ("kafka_controller_kafkacontroller_activecontrollercount", (), 1),
        ("kafka_controller_kafkacontroller_globalpartitioncount", (), 3),
        ("kafka_controller_kafkacontroller_offlinepartitionscount", (), 1),
        ("kafka_controller_kafkacontroller_preferredreplicaimbalancecount", (), 1),
        ("kafka_controller_kafkacontroller_topicstodeletecount", (), 1),
        ("kafka_server_fetchsessioncache_numincrementalfetchsessions", (), 4),
        ("kafka_server_delayedoperationpurgatory_purgatorysize", ("Fetch",), 5),
        ("kafka_server_kafkaserver_brokerstate", (), 3),
        ("kafka_network_socketserver_networkprocessoravgidlepercent", (), 0.75),
        ("kafka_network_socketserver_expiredconnectionskilledcount", (), 3),
        ("kafka_server_socketservermetrics_connection_count", ("PLAINTEXT",), 12),
        ("process_open_fds", (), 33),
        ("kafka_brokers", (), 2),
        ("kafka_broker_info", ("host-1:9092", "1"), 1),
        ("kafka_topic_partitions", ("orders",), 3),
        ("kafka_topic_partition_current_offset", ("0", "orders"), 45),
        ("kafka_topic_partition_oldest_offset", ("0", "orders"), 10),
        ("kafka_topic_partition_leader", ("0", "orders"), 0),
        ("kafka_topic_partition_leader", ("2", "orders"), -1),
        ("kafka_topic_partition_leader_is_preferred", ("0", "orders"), 0),
        ("kafka_topic_partition_replicas", ("0", "orders"), 2),
        ("kafka_topic_partition_in_sync_replica", ("0", "orders"), 1),
        ("kafka_topic_partition_under_replicated_partition", ("0", "orders"), 1),
    ],
)
def test_what_is_known_is_told(sources: Sources, name: str, labels: tuple[str, ...], value: float) -> None:
    assert scraped(sources)[name][labels] == value


def test_only_the_controller_tells_of_the_cluster(sources: Sources) -> None:
    found = scraped(replace(sources, controller=lambda: None))
    assert found["kafka_controller_kafkacontroller_activecontrollercount"] == {(): 0}
    assert "kafka_brokers" not in found
    assert "kafka_controller_kafkacontroller_globaltopiccount" not in found
    assert ("2", "orders") not in found["kafka_topic_partition_leader"]


def test_what_is_not_known_yet_is_not_told(sources: Sources) -> None:
    new = CleanerFacts(0, 0.0, 0.0, None, None, None)
    found = scraped(replace(sources, idle_ratio=lambda: None, cleaner=lambda: new))
    assert "kafka_network_socketserver_networkprocessoravgidlepercent" not in found
    assert "kafka_log_logcleaner_max_clean_time_secs" not in found


def test_what_another_broker_leads_it_tells(sources: Sources) -> None:
    found = scraped(sources)
    for name in ("current_offset", "oldest_offset", "leader", "replicas"):
        assert ("1", "orders") not in found[f"kafka_topic_partition_{name}"]


def test_a_scrape_of_many_partitions_pauses(sources: Sources) -> None:
    def many() -> list[PartitionFacts]:
        facts = next(sources.partitions())
        return [facts._replace(number=number) for number in range(1000)]

    pieces = list(scrape(replace(sources, partitions=lambda: iter(many()))))
    assert pieces.count("") == 10
    assert max(piece.count("\n") for piece in pieces) <= 1002
