"""What a scrape asks of the broker: plain values, looked up when it comes and never before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from odradek.model.image import ClusterImage
from odradek.observe.exposition import Family
from odradek.observe.metrics import Histogram, RequestMetrics, TopicMetrics
from odradek.observe.rates import TrafficRates


class PartitionFacts(NamedTuple):
    """One hosted partition."""

    topic: str
    number: int
    log_start: int
    log_end: int
    high_watermark: int
    last_stable: int
    size: int
    segments: int
    producers: int
    replicas: int
    in_sync: int | None  # None where another broker leads
    in_sync_min: int

    @property
    def leads(self) -> bool:
        return self.in_sync is not None


class DirectoryFacts(NamedTuple):
    path: str
    is_offline: bool
    uncleanable_partitions: int
    uncleanable_bytes: int


class CleanerFacts(NamedTuple):
    """Compaction: its last look at what is dirty, and its last round."""

    since_last_look_ms: int
    dirty_percent_max: float
    delay_s_max: float
    recopy_percent: float | None  # None before the first round
    buffer_percent: float | None
    clean_time_s: float | None


class ControllerFacts(NamedTuple):
    """What the active controller knows."""

    image: ClusterImage
    topics_to_delete: int


class FetchSessionFacts(NamedTuple):
    sessions: int
    partitions: int
    evicted: int


class ConnectionFacts(NamedTuple):
    by_listener: Mapping[str, int]
    closed_idle: int


class ProgressFacts(NamedTuple):
    """How far a group has come in one partition."""

    topic: str
    number: int
    offset: int
    lag: int | None  # None where another broker leads
    lag_s: float | None  # None, too, where it was not looked up this time


class GroupFacts(NamedTuple):
    """One group that is coordinated here."""

    id: str
    state: str
    members: int
    progress: Sequence[ProgressFacts]


class ProcessFacts(NamedTuple):
    cpu_s: float
    resident_size: int
    open_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    traffic: TopicMetrics
    rates: TrafficRates
    requests: RequestMetrics
    flushes: Histogram
    partitions: Callable[[], Iterator[PartitionFacts]]
    offline_replicas: Callable[[], int]  # hosted, if their disk had not failed
    directories: Callable[[], list[DirectoryFacts]]
    cleaner: Callable[[], CleanerFacts]
    controller: Callable[[], ControllerFacts | None]  # None while another broker is it
    fetch_sessions: Callable[[], FetchSessionFacts]
    parked: Callable[[], Mapping[str, int]]  # waiting requests by API
    connections: Callable[[], ConnectionFacts]
    process: Callable[[], ProcessFacts]
    idle_ratio: Callable[[], float | None]  # of the loop's thread lately; None before there is a lately
    image: Callable[[], ClusterImage]
    broker_state: Callable[[], int]
    groups: Callable[[], Iterable[GroupFacts]] = tuple
    client_metrics: Callable[[], Iterable[Family]] = tuple  # what clients push
