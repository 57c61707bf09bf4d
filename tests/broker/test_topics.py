"""How requests about topics become znodes."""

from __future__ import annotations

from odradek.broker.configs import Configs
from odradek.broker.metadata import Metadata
from odradek.broker.topics import TOPICS_A_COMMIT_MAX, Topics
from odradek.coordination.embedded import EmbeddedStore
from odradek.coordination.store import Create
from odradek.coordination.znodes import DELETE_TOPICS, DeleteTopicZnode
from odradek.model.config.broker_config import BrokerConfig
from odradek.model.image import ClusterImage
from odradek.testing.sim_entropy import SeededEntropy


async def test_wishes_to_delete_are_written_together_and_one_that_was_there_is_no_obstacle() -> None:
    session = EmbeddedStore.in_memory(lambda: 0).session()
    for at in range(1, DELETE_TOPICS.count("/") + 1):
        await session.commit(Create("/".join(DELETE_TOPICS.split("/")[: at + 1])))
    image = ClusterImage(cluster_id="cluster")
    configs = Configs(BrokerConfig.of({}), lambda: image)
    topics = Topics(session, Metadata(image), configs, SeededEntropy(0))

    await topics.request_deletion(["a", "b", "c"])
    wishes = await session.get_many([DeleteTopicZnode.path(name) for name in "abc"])
    assert len({wish.stat.created for wish in wishes if wish is not None}) == 1

    many = [f"topic-{number}" for number in range(TOPICS_A_COMMIT_MAX + 1)]
    await topics.request_deletion(["b", *many])
    assert set(await session.children(DELETE_TOPICS)) == {"a", "b", "c", *many}
