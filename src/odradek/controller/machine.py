"""Event -> effects: who leads, who is in sync, what brokers are told.

Pure. It changes its own state as if every effect succeeded; the shell carries effects out in order, and when
a write fails it drops this machine and, if it is still the controller, builds another from what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import assert_never

from odradek.controller.deletion import begin_deletion, replicas_stopped, resume_deletion
from odradek.controller.effects import (
    Effect,
    StopReplicas,
    TellEverybody,
    TellReplicas,
    WriteStates,
)
from odradek.controller.election import Elected, elect_offline, elect_preferred, elect_without
from odradek.controller.events import (
    BrokersSeen,
    DeletionWanted,
    Event,
    ReplicasFailed,
    ReplicasStopped,
    TopicsSeen,
)
from odradek.controller.state import NEVER_LED, ControllerState, by_broker, partitions_of
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId, Partition
from odradek.model.image import BrokerImage, ClusterImage, PartitionImage, TopicImage

States = Mapping[Partition, PartitionImage]
Results = Mapping[Partition, ApiError | None]


class Controller:
    """Built from all that is written when a broker becomes controller. `begin` first, once."""

    def __init__(self, image: ClusterImage, allows_unclean: Callable[[str], bool]) -> None:
        self.state = ControllerState(image, allows_unclean)

    @property
    def image(self) -> ClusterImage:
        return self.state.image

    # -- what happens ------------------------------------------------------------------------------------

    def begin(self) -> list[Effect]:
        """Everybody is told everything; what has no leader gets one."""
        state = self.state
        everything = frozenset(partition for partition, _ in state.partitions())
        effects: list[Effect] = [TellEverybody(state.live, everything)]
        effects += [TellReplicas(broker, state.hosted_by(broker), full=True) for broker in sorted(state.live)]
        return effects + self._elect_where_needed()

    def handle(self, event: Event) -> list[Effect]:
        match event:
            case BrokersSeen(brokers):
                return self._brokers_seen({each.id: each for each in brokers})
            case TopicsSeen(topics):
                return self._topics_seen(topics)
            case DeletionWanted(topics):
                return begin_deletion(self.state, topics)
            case ReplicasStopped(broker, partitions):
                return replicas_stopped(self.state, broker, partitions)
            case ReplicasFailed(broker, partitions):
                return self._replicas_failed(broker, partitions)
            case _:
                assert_never(event)

    # -- what is asked for, and answered -----------------------------------------------------------------

    def elect_preferred(self, partitions: Iterable[Partition]) -> tuple[list[Effect], Results]:
        return self._elect_asked(partitions, self._preferred)

    def elect_unclean(self, partitions: Iterable[Partition]) -> tuple[list[Effect], Results]:
        return self._elect_asked(partitions, self._unclean)

    def propose_isr(
        self, broker: BrokerId, partition: Partition, proposed: PartitionImage
    ) -> tuple[list[Effect], PartitionImage]:
        """A leader says who is in sync. `proposed` has the epochs it knows; the answer has what holds now."""
        state = self._proposable(broker, partition, proposed)
        if (state.isr, state.recovering) == (proposed.isr, proposed.recovering):
            return [], state
        if state.epoch != proposed.epoch:
            raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, f"{partition} is at {state.epoch}")
        ineligible = set(proposed.isr) - self.state.can_host(partition) | self.state.leaving & set(
            proposed.isr
        )
        if ineligible - {broker}:
            raise ApiError(ErrorCode.INELIGIBLE_REPLICA, f"{sorted(ineligible)} of {partition}")
        decided = state._replace(isr=proposed.isr, recovering=proposed.recovering, epoch=state.epoch + 1)
        self.state.change({partition: decided})
        told = TellEverybody(self.state.live, frozenset((partition,)))
        return [WriteStates({partition: decided}), told], decided

    def shut_down(self, broker: BrokerId, broker_epoch: int) -> tuple[list[Effect], frozenset[Partition]]:
        """A broker wants to leave: others take over what they can. The answer: what it still leads."""
        known = self.image.brokers.get(broker)
        if known is None:
            raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker} is not registered")
        if broker_epoch not in (-1, known.epoch):
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH, f"{broker_epoch}, it is {known.epoch}")
        self.state.leaving.add(broker)
        led, followed = self._shared_with_others(broker)
        moved = {
            partition: _led_by(state, elected)
            for partition, state in led.items()
            if (elected := elect_without({broker}, state.replicas, state.isr, self.state.live)) is not None
        }
        left = {
            partition: _next(state, isr=tuple(each for each in state.isr if each != broker))
            for partition, state in followed.items()
            if broker in state.isr
        }
        effects = self._change({**moved, **left})
        if followed:
            effects.append(StopReplicas(broker, frozenset(followed), delete=False))
        return effects, frozenset(led) - frozenset(moved)

    # -- brokers -----------------------------------------------------------------------------------------

    def _brokers_seen(self, brokers: Mapping[BrokerId, BrokerImage]) -> list[Effect]:
        known = self.image.brokers
        came = {id for id, each in brokers.items() if id not in known or each.epoch != known[id].epoch}
        gone = {id for id in known if id not in brokers} | (came & set(known))  # one that came back was gone
        if brokers == known:
            return []
        self.state.image = self.image.with_brokers(
            brokers.values(), [id for id in known if id not in brokers]
        )
        for id in gone:
            self.state.leaving.discard(id)
            self.state.failed.pop(id, None)
        effects: list[Effect] = [TellEverybody(self.state.live - came, frozenset())]
        effects += self._lose_replicas(gone)
        if came:
            everything = frozenset(partition for partition, _ in self.state.partitions())
            effects.append(TellEverybody(frozenset(came), everything))
            effects += [TellReplicas(id, self.state.hosted_by(id), full=True) for id in sorted(came)]
        return effects + self._elect_where_needed() + resume_deletion(self.state, came)

    def _lose_replicas(self, gone: set[BrokerId]) -> list[Effect]:
        """Brokers are gone: others lead what they led, and they are in sync with nobody."""
        lost = {
            partition: after
            for partition, state in self.state.partitions()
            if gone & set(state.isr) and (after := self._without(partition, state, gone)) != state
        }
        return self._change(lost)

    def _without(self, partition: Partition, state: PartitionImage, gone: set[BrokerId]) -> PartitionImage:
        staying = tuple(each for each in state.isr if each not in gone)
        if state.leader in gone or not state.has_leader:
            live = self.state.can_host(partition) - gone
            elected = elect_offline(
                state.replicas, set(state.isr), live, allow_unclean=self.state.allows_unclean(partition.topic)
            )
            if elected is not None:
                return _led_by(state, elected)
            # The last in sync stays so: only it is known to hold everything.
            return _next(state, leader=NO_BROKER, isr=staying or state.isr) if state.has_leader else state
        return _next(state, isr=staying)

    def _replicas_failed(self, broker: BrokerId, partitions: frozenset[Partition]) -> list[Effect]:
        self.state.failed[broker] = self.state.failed.get(broker, frozenset()) | partitions
        lost = {}
        for partition in partitions:
            state = self.image.partition(partition)
            if state is not None and broker in state.isr:
                after = self._without(partition, state, {broker})
                lost[partition] = after
        return self._change(
            {each: after for each, after in lost.items() if after != self.image.partition(each)}
        )

    def _shared_with_others(self, broker: BrokerId) -> tuple[States, States]:
        """What this broker leads and what it follows, of all that has other replicas too."""
        led: dict[Partition, PartitionImage] = {}
        followed: dict[Partition, PartitionImage] = {}
        for partition, state in self.state.partitions():
            if broker in state.replicas and len(state.replicas) > 1:
                (led if state.leader == broker else followed)[partition] = state
        return led, followed

    # -- topics ------------------------------------------------------------------------------------------

    def _topics_seen(self, topics: Iterable[TopicImage]) -> list[Effect]:
        changed = [self._merged(topic) for topic in topics]
        self.state.image = self.image.with_topics(changed)
        return self._elect_new(partition for topic in changed for partition in partitions_of(topic))

    def _merged(self, topic: TopicImage) -> TopicImage:
        """As its znode says, but for the states, which only we write."""
        known = self.image.topics.get(topic.name)
        if known is None or known.id != topic.id:
            return topic
        return topic._replace(
            partitions={
                number: known.partitions.get(number, state) for number, state in topic.partitions.items()
            }
        )

    # -- elections ---------------------------------------------------------------------------------------

    def _elect_where_needed(self) -> list[Effect]:
        """Whatever has no leader that lives, as far as somebody can lead."""
        leaderless = {
            partition: after
            for partition, state in self.state.partitions()
            if state.epoch != NEVER_LED
            and partition.topic not in self.state.deleting
            and state.leader not in self.state.can_host(partition)
            and (after := self._without(partition, state, {state.leader})) != state
        }
        return self._change(leaderless) + self._elect_new(self.state.partitions())

    def _elect_new(self, partitions: Iterable[tuple[Partition, PartitionImage]]) -> list[Effect]:
        """A partition that nobody has led begins with all its live replicas in sync."""
        begun = {}
        for partition, state in partitions:
            able = tuple(each for each in state.replicas if each in self.state.can_host(partition))
            if state.epoch == NEVER_LED and able and partition.topic not in self.state.deleting:
                begun[partition] = state._replace(leader=able[0], isr=able, leader_epoch=0, epoch=0)
        return self._change(begun, new=frozenset(begun))

    def _elect_asked(
        self,
        partitions: Iterable[Partition],
        elect: Callable[[Partition, PartitionImage], Elected],
    ) -> tuple[list[Effect], Results]:
        changed: dict[Partition, PartitionImage] = {}
        results: dict[Partition, ApiError | None] = {}
        for partition in partitions:
            state = self.image.partition(partition)
            try:
                if state is None or partition.topic in self.state.deleting:
                    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
                changed[partition] = _led_by(state, elect(partition, state))
                results[partition] = None
            except ApiError as refusal:
                results[partition] = refusal
        return self._change(changed), results

    def _preferred(self, partition: Partition, state: PartitionImage) -> Elected:
        if state.leader == state.replicas[0]:
            raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
        elected = elect_preferred(state.replicas, state.isr, self.state.can_host(partition))
        if elected is None:
            raise ApiError(
                ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
                f"Failed to elect leader for partition {partition} under strategy "
                "PreferredReplicaPartitionLeaderElectionStrategy",
            )
        return elected

    def _unclean(self, partition: Partition, state: PartitionImage) -> Elected:
        live = self.state.can_host(partition)
        if state.leader in live:
            raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
        elected = elect_offline(state.replicas, set(state.isr), live, allow_unclean=True)
        if elected is None:
            raise ApiError(
                ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
                f"Failed to elect leader for partition {partition} under strategy "
                "OfflinePartitionLeaderElectionStrategy(true)",
            )
        return elected

    def _proposable(self, broker: BrokerId, partition: Partition, proposed: PartitionImage) -> PartitionImage:
        state = self.image.partition(partition)
        if state is None or partition.topic in self.state.deleting:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, str(partition))
        if proposed.leader_epoch > state.leader_epoch:
            raise ApiError(ErrorCode.NOT_CONTROLLER, f"{partition} is in epoch {state.leader_epoch} here")
        if proposed.leader_epoch < state.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH, f"{partition} is in epoch {state.leader_epoch}")
        if state.leader != broker or broker not in proposed.isr:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"broker {broker} does not lead {partition}")
        return state

    # -- consequences ------------------------------------------------------------------------------------

    def _change(self, states: States, new: frozenset[Partition] = frozenset()) -> list[Effect]:
        """Write these states; tell the replicas first, and then everybody."""
        if not states:
            return []
        self.state.change(states)
        changed = frozenset(states)
        told: list[Effect] = [
            TellReplicas(broker, theirs, theirs & new)
            for broker, theirs in sorted(by_broker(changed, self.image).items())
        ]
        return [WriteStates(dict(states)), *told, TellEverybody(self.state.live, changed)]


def _next(
    state: PartitionImage, *, leader: BrokerId | None = None, isr: tuple[BrokerId, ...]
) -> PartitionImage:
    """The state after a change of leader or in-sync set by the controller: a new leader epoch."""
    return state._replace(
        leader=state.leader if leader is None else leader,
        isr=isr,
        leader_epoch=state.leader_epoch + 1,
        epoch=state.epoch + 1,
    )


def _led_by(state: PartitionImage, elected: Elected) -> PartitionImage:
    after = _next(state, leader=elected.leader, isr=elected.isr)
    return after._replace(recovering=state.recovering or elected.unclean)
