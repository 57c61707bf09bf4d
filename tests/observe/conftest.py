"""A broker's facts as a scrape asks for them, to be changed one by one."""

from __future__ import annotations

import pytest

from odradek.model.ids import BrokerId, TopicId
from odradek.model.image import BrokerImage, ClusterImage, PartitionImage, TopicImage
from odradek.model.listeners import Endpoint, SecurityProtocol
from odradek.observe.metrics import Histogram, RequestMetrics, TopicMetrics
from odradek.observe.rates import TrafficRates
from odradek.observe.sources import (
    CleanerFacts,
    ConnectionFacts,
    ControllerFacts,
    DirectoryFacts,
    FetchSessionFacts,
    PartitionFacts,
    ProcessFacts,
    Sources,
)

ORDERS = PartitionFacts(
    topic="orders",
    number=0,
    log_start=10,
    log_end=50,
    high_watermark=45,
    last_stable=40,
    size=4096,
    segments=2,
    producers=3,
    replicas=3,
    in_sync=2,
    in_sync_min=2,
)
FOLLOWED = ORDERS._replace(number=1, in_sync=None, log_end=7)
IMAGE = (
    ClusterImage(cluster_id="kept", controller=BrokerId(0))
    .with_brokers(
        BrokerImage(BrokerId(id), 1, (Endpoint("PLAINTEXT", SecurityProtocol.PLAINTEXT, f"host-{id}", 9092),))
        for id in (0, 1)
    )
    .with_topics(
        [
            TopicImage(
                "orders",
                TopicId(bytes(15) + b"1"),
                {
                    0: PartitionImage((BrokerId(1), BrokerId(0)), BrokerId(0), (BrokerId(0),)),
                    1: PartitionImage((BrokerId(1),), BrokerId(1), (BrokerId(1),)),
                    2: PartitionImage((BrokerId(7),), BrokerId(7), (BrokerId(7),)),
                },
            )
        ]
    )
)


@pytest.fixture
def sources() -> Sources:
    traffic = TopicMetrics()
    traffic.produced("orders", 2, 200)
    traffic.fetched("orders", 70)
    rates = TrafficRates(traffic)
    rates.tick(10)
    requests = RequestMetrics()
    requests.answered("Produce", 9, 0.002)
    requests.answered("FetchConsumer", 17, 0.5, waited_s=0.4)
    requests.answered("FetchFollower", 17, 0.001)
    requests.refused("Metadata", "UNKNOWN_SERVER_ERROR")
    flushes = Histogram()
    flushes.add(7.0)
    return Sources(
        traffic=traffic,
        rates=rates,
        requests=requests,
        flushes=flushes,
        partitions=lambda: iter((ORDERS, FOLLOWED)),
        offline_replicas=lambda: 1,
        directories=lambda: [DirectoryFacts("/data", False, 1, 100), DirectoryFacts("/gone", True, 0, 0)],
        cleaner=lambda: CleanerFacts(1500, 30.0, 0.0, 50.0, 1.5, 0.2),
        controller=lambda: ControllerFacts(IMAGE, 1),
        fetch_sessions=lambda: FetchSessionFacts(4, 40, 2),
        parked=lambda: {"Produce": 0, "Fetch": 5},
        connections=lambda: ConnectionFacts({"PLAINTEXT": 12}, 3),
        process=lambda: ProcessFacts(1.5, 50_000_000, 33),
        idle_ratio=lambda: 0.75,
        image=lambda: IMAGE,
        broker_state=lambda: 3,
    )
