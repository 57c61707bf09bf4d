"""Conversations of group members with their coordinator, as text that any broker can be held to.

    ann> join instance=a
        ann: join NONE, generation 1 of consumer/range, as a-1, led by a-1; a-1(a) wants 'meta'
    time> 7

A line with `>` is said, by a member over a connection of its own; below it, indented, is what was answered
before nothing more came. What a member was told of itself it uses until it says otherwise; ids are numbered
as they appear, so that `ann-1` is the same in every run. In real time and over a real socket the broker
may be Apache Kafka, and then what it answers is the truth. `broker> key=value ...` says how it is set.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from odradek.net.peer import Peer
from odradek.testing.group_words import TOPIC, Self, asked, told
from odradek.wire.apis import API_BY_KEY
from odradek.wire.messages.groups import JoinGroupRequest, JoinGroupResponse
from odradek.wire.messages.metadata import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

Connect = Callable[[str], Awaitable[Peer]]

SETTINGS = "broker"
PASSES = "time"  # some seconds

_SAID = re.compile(r"(\w+)> *(.*)")
_FRESH_ID = re.compile(r"(.*)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_API_BY_NAME = {api.name: api for api in API_BY_KEY.values()}
_PREPARED_EVERY_S = 0.5


@dataclass(slots=True)
class _Speaker:
    name: str
    peer: Peer
    self: Self = field(default_factory=Self)
    waiting: list[asyncio.Task[str]] = field(default_factory=list)


class Dialogue:
    def __init__(self, connect: Connect, group: str, settle_s: float) -> None:
        """After `settle_s` without an answer there is none to come before something else is said."""
        self._connect = connect
        self._group = group
        self._settle_s = settle_s
        self._speakers: dict[str, _Speaker] = {}
        self._told_as: dict[str, str] = {}  # each id -> as it is told

    async def play(self, text: str) -> str:
        """The text, with the answers that came this time."""
        await self._prepare()
        played = []
        for line in text.splitlines():
            if line.startswith("    "):
                continue
            played.append(line)
            said = _SAID.fullmatch(line)
            if said is not None:
                await self._say(said[1], said[2])
                played += [f"    {answer}" for answer in self._answers()]
        for speaker in self._speakers.values():
            speaker.peer.close()
            await asyncio.gather(*speaker.waiting, return_exceptions=True)
        return "\n".join(played) + "\n"

    async def _prepare(self) -> None:
        """The group has a coordinator, and there is a topic to commit offsets for."""
        peer = await self._connect("prepare")
        while True:
            found = await _ask(peer, FindCoordinatorRequest(coordinator_keys=(self._group,)), 4)
            known = await _ask(peer, MetadataRequest(topics=(MetadataRequestTopic(name=TOPIC),)), 12)
            assert isinstance(found, FindCoordinatorResponse)
            assert isinstance(known, MetadataResponse)
            if not (found.coordinators[0].error_code or known.topics[0].error_code):
                break
            await asyncio.sleep(_PREPARED_EVERY_S)
        peer.close()

    async def _say(self, name: str, words: str) -> None:
        if name == SETTINGS:
            return
        if name == PASSES:
            await asyncio.sleep(float(words))
            return
        if name not in self._speakers:
            self._speakers[name] = _Speaker(name, await self._connect(name))
        speaker = self._speakers[name]
        speaker.waiting.append(asyncio.ensure_future(self._ask(speaker, words)))
        await asyncio.sleep(self._settle_s)

    async def _ask(self, speaker: _Speaker, words: str) -> str:
        verb, *pairs = words.split()
        options = {key: self._real(value) for key, _, value in (pair.partition("=") for pair in pairs)}
        request, version = asked(verb, options, self._group, speaker.self)
        response = await _ask(speaker.peer, request, version)
        if isinstance(response, JoinGroupResponse):
            assert isinstance(request, JoinGroupRequest)
            speaker.self.id = response.member_id or speaker.self.id
            speaker.self.generation = response.generation_id
            speaker.self.instance = request.group_instance_id
        return told(response, self._told, self._group)

    def _answers(self) -> list[str]:
        """Speaker by speaker, because who is answered first does not matter."""
        answers = []
        for name, speaker in sorted(self._speakers.items()):
            answers += [f"{name}: {task.result()}" for task in speaker.waiting if task.done()]
            speaker.waiting = [task for task in speaker.waiting if not task.done()]
        return answers

    def _told(self, id: str) -> str:
        made = _FRESH_ID.fullmatch(id)
        if made is not None and id not in self._told_as:
            taken = set(self._told_as.values())
            number = next(n for n in range(1, len(taken) + 2) if f"{made[1]}-{n}" not in taken)
            self._told_as[id] = f"{made[1]}-{number}"
        return self._told_as.get(id, id)

    def _real(self, words: str) -> str:
        """With ids as they are."""
        for id, told_as in self._told_as.items():
            words = re.sub(rf"(?<![\w-]){re.escape(told_as)}(?![\w-])", id, words)
        return words


async def _ask(peer: Peer, request: object, version: int) -> object:
    return await peer.request(_API_BY_NAME[type(request).__name__.removesuffix("Request")], version, request)


def settings(text: str) -> dict[str, str]:
    """How the broker is to be set for this dialogue."""
    said = (_SAID.fullmatch(line) for line in text.splitlines())
    pairs = (pair.partition("=") for each in said if each and each[1] == SETTINGS for pair in each[2].split())
    return {key: value for key, _, value in pairs}
