"""The cluster's image: an update leaves the old one as it was."""

from __future__ import annotations

import pytest

from odradek.model.ids import NO_BROKER, BrokerId, Partition, TopicId
from odradek.model.image import BrokerImage, ClusterImage, ConfigEntity, PartitionImage, TopicImage

ONE, TWO = BrokerId(1), BrokerId(2)
LED = PartitionImage((ONE, TWO), ONE, (ONE, TWO))
ID, OTHER_ID = TopicId(b"1" * 16), TopicId(b"2" * 16)
EMPTY = ClusterImage(cluster_id="c")
ORDERS = EMPTY.with_topics([TopicImage("orders", ID, {0: LED, 1: LED})])


def test_a_topic_is_found_by_name_and_by_id() -> None:
    assert ORDERS.topics["orders"].id == ID
    assert ORDERS.topic_of(ID) is ORDERS.topics["orders"]
    assert ORDERS.topic_of(OTHER_ID) is None
    assert EMPTY.topics == {}


def test_a_change_of_a_partition_shares_all_others() -> None:
    both = ORDERS.with_topics([TopicImage("bills", OTHER_ID, {0: LED})])
    moved = LED._replace(leader=TWO, leader_epoch=1, epoch=1)
    changed = both.with_partitions({Partition("orders", 1): moved})
    assert changed.partition(Partition("orders", 1)) == moved
    assert changed.partition(Partition("orders", 0)) is LED
    assert both.partition(Partition("orders", 1)) == LED
    assert changed.topics["bills"] is both.topics["bills"]
    assert changed.topic_names is both.topic_names


def test_a_topic_made_again_forgets_its_old_id() -> None:
    again = ORDERS.with_topics([TopicImage("orders", OTHER_ID, {0: LED})])
    assert again.topic_of(ID) is None
    assert again.topic_of(OTHER_ID) is not None
    gone = again.without_topics(["orders", "never-there"])
    assert gone.topics == {}
    assert gone.topic_names == {}


def test_a_partition_of_an_unknown_topic_is_a_bug_or_nothing() -> None:
    assert EMPTY.partition(Partition("orders", 0)) is None
    with pytest.raises(KeyError):
        EMPTY.with_partitions({Partition("orders", 0): LED})


def test_brokers_come_and_go() -> None:
    image = EMPTY.with_brokers([BrokerImage(ONE, 7, ()), BrokerImage(TWO, 8, ())])
    assert set(image.with_brokers([], gone=[ONE]).brokers) == {TWO}
    assert set(image.brokers) == {ONE, TWO}
    assert image.with_controller(ONE, 3).controller == ONE
    assert image.controller == NO_BROKER


def test_configurations_are_set_and_removed() -> None:
    entity = ConfigEntity.topic("orders")
    image = EMPTY.with_config(entity, {"retention.ms": "1"})
    assert image.config(entity) == {"retention.ms": "1"}
    assert image.with_config(entity, None).config(entity) == {}
