"""What the controller's shell promises to whoever asks it something."""

from __future__ import annotations

import asyncio

from odradek.controller.effects import Effect, WriteStates
from odradek.controller.machine import Controller
from odradek.coordination.store import Write
from odradek.coordination.znodes import ControllerEpochZnode
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, Partition
from odradek.model.image import PartitionImage
from odradek.testing.broker import Broker


def test_whoever_waits_when_a_controller_falls_is_told_so() -> None:
    """The first question meets the fence; those behind it must not wait for ever."""
    with Broker() as broker:

        async def ask() -> list[object]:
            controller = broker.node.controller
            assert broker._store is not None
            await broker._store.session().commit(Write(ControllerEpochZnode.PATH, b"99"))

            def question(_: Controller) -> tuple[list[Effect], None]:
                return [WriteStates({Partition("t", 0): PartitionImage((), NO_BROKER, ())})], None

            asked = [controller.ask(question) for _ in range(3)]
            async with asyncio.timeout(5):
                return list(await asyncio.gather(*asked, return_exceptions=True))

        answers = broker._loop_thread.run(ask())
    assert len(answers) == 3
    for answer in answers:
        assert isinstance(answer, ApiError)
        assert answer.error is ErrorCode.NOT_CONTROLLER
