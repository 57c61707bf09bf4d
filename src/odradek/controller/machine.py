"""Event -> effects: who leads, who is in sync, who holds what, and what brokers are told.

Pure. It changes its own state as if every effect succeeded; the shell carries effects out in order, and when
a write fails it drops this machine and, if it is still the controller, builds another from what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from odradek.controller import reassignment
from odradek.controller.deletion import begin_deletion, replicas_stopped, resume_deletion
from odradek.controller.effects import (
    Effect,
    States,
    StopReplicas,
    TellEverybody,
    TellReplicas,
    WriteAssignments,
    WriteStates,
)
from odradek.controller.election import Elected, elect_first, elect_offline, elect_preferred, elect_staying
from odradek.controller.events import (
    BalanceDue,
    BrokersSeen,
    DeletionWanted,
    Event,
    LogDirFailed,
    ReplicasFailed,
    ReplicasStopped,
    TopicsSeen,
)
from odradek.controller.proposal import check_proposal
from odradek.controller.state import NEVER_LED, ControllerState, by_broker, partitions_of
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId, Partition
from odradek.model.image import BrokerImage, ClusterImage, PartitionImage, TopicImage

Results: TypeAlias = Mapping[Partition, ApiError | None]
Moves: TypeAlias = Mapping[Partition, reassignment.Moved]


class Controller:
    """Built from all that is written when a broker becomes controller. `begin` first, once."""

    def __init__(self, image: ClusterImage, allows_unclean: Callable[[str], bool]) -> None:
        self.state = ControllerState(image, allows_unclean)

    @property
    def image(self) -> ClusterImage:
        return self.state.image

    # -- what happens --------------------------------------------------------------------------------------

    def begin(self) -> list[Effect]:
        """Everybody is told everything; what has no leader gets one, what was begun goes on."""
        return [*self._introduce(self.state.live), *self._elect_where_needed(), *self._finish_moves()]

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
            case LogDirFailed(broker):
                hosted = self.state.hosted_by(broker)
                return [TellReplicas(broker, hosted)] if broker in self.state.live and hosted else []
            case ReplicasFailed(broker, partitions):
                return self._replicas_failed(broker, partitions)
            case BalanceDue(percentage):
                return self._balance(percentage)
            case _:
                assert_never(event)

    # -- what is asked for, and answered -------------------------------------------------------------------

    def elect_preferred(self, partitions: Iterable[Partition]) -> tuple[list[Effect], Results]:
        return self._elect_asked(partitions, self._preferred)

    def elect_unclean(self, partitions: Iterable[Partition]) -> tuple[list[Effect], Results]:
        return self._elect_asked(partitions, self._unclean)

    def propose_isr(
        self, broker: BrokerId, partition: Partition, proposed: PartitionImage
    ) -> tuple[list[Effect], PartitionImage]:
        """A leader says who is in sync. `proposed` has the epochs it knows; the answer has what holds now."""
        known = self.state.find(partition)
        if known is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, str(partition))
        check_proposal(broker, partition, known, proposed, self.state.can_lead(partition))
        if (known.isr, known.recovering) == (proposed.isr, proposed.recovering):
            return [], known
        decided = known._replace(isr=proposed.isr, recovering=proposed.recovering, epoch=known.epoch + 1)
        self.state.change({partition: decided})
        effects: list[Effect] = [
            WriteStates({partition: decided}),
            self._tell_everybody({partition: decided}),
        ]
        return effects + self._finish_moves([partition]), decided

    def shut_down(self, broker: BrokerId, broker_epoch: int) -> tuple[list[Effect], frozenset[Partition]]:
        """A broker wants to leave: others take over what they can. The answer: what it still leads."""
        known = self.image.brokers.get(broker)
        if known is None:
            raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker} is not registered")
        if broker_epoch not in (-1, known.epoch):
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH, f"{broker_epoch}, it is {known.epoch}")
        self.state.leaving.add(broker)
        shared = {
            each: state for each, state in self.state.hosted_by(broker).items() if len(state.replicas) > 1
        }
        led = {each: state for each, state in shared.items() if state.leader == broker}
        moved = {
            partition: _led_by(state, elected)
            for partition, state in led.items()
            if (elected := elect_staying(state.replicas, state.isr, self.state.can_lead(partition)))
            is not None
        }
        left = {
            partition: _next(state, isr=tuple(each for each in state.isr if each != broker))
            for partition, state in shared.items()
            if partition not in led and broker in state.isr and len(state.isr) > 1
        }
        effects = self._change({**moved, **left})
        followed = {
            partition: left.get(partition, state).leader_epoch
            for partition, state in shared.items()
            if partition not in led
        }
        if followed:
            effects.append(StopReplicas(broker, followed, delete=False))
        return effects, frozenset(led.keys() - moved.keys())

    def reassign(self, wanted: Mapping[Partition, Sequence[BrokerId] | None]) -> tuple[list[Effect], Results]:
        """Who is to hold these partitions from now on; None calls off what was begun."""
        moves: dict[Partition, reassignment.Moved] = {}
        results: dict[Partition, ApiError | None] = {}
        for partition, brokers in wanted.items():
            try:
                moves[partition] = self._begin_move(partition, brokers)
                results[partition] = None
            except ApiError as refusal:
                results[partition] = refusal
        return self._move(moves, finally_written=False) + self._finish_moves(moves), results

    # -- brokers -------------------------------------------------------------------------------------------

    def _brokers_seen(self, brokers: Mapping[BrokerId, BrokerImage]) -> list[Effect]:
        known = self.image.brokers
        if brokers == known:
            return []
        came = {id for id, each in brokers.items() if id not in known or each.epoch != known[id].epoch}
        gone = {id for id in known if id not in brokers} | (came & set(known))  # one that came back was gone
        self.state.image = self.image.with_brokers(brokers.values(), known.keys() - brokers.keys())
        for id in gone:
            self.state.leaving.discard(id)
            self.state.failed.pop(id, None)
        staying = self.state.live - came
        effects: list[Effect] = [TellEverybody(staying, {})] if staying else []
        effects += self._lose_replicas(self.state.partitions(), gone)
        if came:
            effects += self._introduce(frozenset(came))
        effects += self._elect_where_needed() + self._finish_moves()
        return effects + resume_deletion(self.state, came)

    def _introduce(self, brokers: frozenset[BrokerId]) -> list[Effect]:
        """These know nothing yet: they are told everything, and what they hold."""
        if not brokers:
            return []
        told = [TellReplicas(each, self.state.hosted_by(each), full=True) for each in sorted(brokers)]
        return [TellEverybody(brokers, self.state.everything()), *told]

    def _lose_replicas(
        self, held: Iterable[tuple[Partition, PartitionImage]], gone: set[BrokerId]
    ) -> list[Effect]:
        """Brokers hold these no longer: others lead what they led, and they are in sync with nobody."""
        return self._change(
            {
                partition: after
                for partition, state in held
                if (state.leader in gone or gone.intersection(state.isr))
                and (after := self._without(partition, state, gone)) != state
            }
        )

    def _without(self, partition: Partition, state: PartitionImage, gone: set[BrokerId]) -> PartitionImage:
        """Those last in sync stay so, alive or not: only they are known to hold everything."""
        live = self.state.can_host(partition) - gone
        staying = tuple(each for each in state.isr if each in live) or state.isr
        if state.leader in live:
            return _next(state, isr=staying)
        allowed = self.state.allows_unclean(partition.topic)
        elected = elect_offline(state.replicas, state.isr, live, allow_unclean=allowed)
        if elected is not None:
            return _led_by(state, elected)
        return _next(state, leader=NO_BROKER, isr=staying) if state.has_leader else state

    def _replicas_failed(self, broker: BrokerId, partitions: frozenset[Partition]) -> list[Effect]:
        self.state.failed[broker] = self.state.failed.get(broker, frozenset()) | partitions
        return self._lose_replicas(self._found(sorted(partitions)), {broker})

    # -- topics --------------------------------------------------------------------------------------------

    def _topics_seen(self, topics: Iterable[TopicImage]) -> list[Effect]:
        changed = [self._merged(topic) for topic in topics]
        self.state.image = self.image.with_topics(changed)
        return self._elect_new(
            each
            for topic in changed
            if topic.name not in self.state.deleting
            for each in partitions_of(topic)
        )

    def _merged(self, topic: TopicImage) -> TopicImage:
        """As its znode says, but for the partitions we know: of those only we write."""
        known = self.image.topics.get(topic.name)
        if known is None or known.id != topic.id:
            return topic
        return topic.with_partitions(known.partitions)

    # -- elections -----------------------------------------------------------------------------------------

    def _elect_where_needed(self) -> list[Effect]:
        """Whatever has no leader that lives, as far as somebody can lead."""
        leaderless = {
            partition: after
            for partition, state in self.state.partitions()
            if state.epoch != NEVER_LED
            and state.leader not in self.state.can_host(partition)
            and (after := self._without(partition, state, set())) != state
        }
        return self._change(leaderless) + self._elect_new(self.state.partitions())

    def _elect_new(self, partitions: Iterable[tuple[Partition, PartitionImage]]) -> list[Effect]:
        """A partition that nobody has led begins with all its live replicas in sync."""
        return self._change(
            {
                partition: state._replace(leader=elected.leader, isr=elected.isr, leader_epoch=0, epoch=0)
                for partition, state in partitions
                if state.epoch == NEVER_LED
                and (elected := elect_first(state.replicas, self.state.can_lead(partition))) is not None
            }
        )

    def _elect_asked(
        self,
        partitions: Iterable[Partition],
        elect: Callable[[Partition, PartitionImage], Elected],
    ) -> tuple[list[Effect], Results]:
        changed: dict[Partition, PartitionImage] = {}
        results: dict[Partition, ApiError | None] = {}
        for partition in partitions:
            state = self.state.find(partition)
            try:
                if state is None:
                    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
                changed[partition] = _led_by(state, elect(partition, state))
                results[partition] = None
            except ApiError as refusal:
                results[partition] = refusal
        return self._change(changed), results

    def _preferred(self, partition: Partition, state: PartitionImage) -> Elected:
        if state.leader == state.replicas[0]:
            raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
        elected = elect_preferred(state.replicas, state.isr, self.state.can_lead(partition))
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
        elected = elect_offline(state.replicas, state.isr, live, allow_unclean=True)
        if elected is None:
            raise ApiError(
                ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
                f"Failed to elect leader for partition {partition} under strategy "
                "OfflinePartitionLeaderElectionStrategy(true)",
            )
        return elected

    def _balance(self, percentage_max: int) -> list[Effect]:
        """Of each live broker what it should lead and does not, where that is too large a share."""
        preferred: dict[BrokerId, list[tuple[Partition, PartitionImage]]] = {}
        for partition, state in self.state.partitions():
            preferred.setdefault(state.replicas[0], []).append((partition, state))
        changed = {}
        for broker in sorted(preferred.keys() & self.state.live):
            elsewhere = [(each, state) for each, state in preferred[broker] if state.leader != broker]
            if 100 * len(elsewhere) > percentage_max * len(preferred[broker]):
                for partition, state in elsewhere:
                    elected = elect_preferred(state.replicas, state.isr, self.state.can_lead(partition))
                    if elected is not None and not reassignment.is_moving(state):
                        changed[partition] = _led_by(state, elected)
        return self._change(changed)

    # -- reassignments -------------------------------------------------------------------------------------

    def _begin_move(self, partition: Partition, wanted: Sequence[BrokerId] | None) -> reassignment.Moved:
        state = self.state.find(partition)
        if wanted is None:
            if state is None or not reassignment.is_moving(state):
                raise ApiError(
                    ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress."
                )
            wanted = reassignment.origin(state)
        elif state is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
        else:
            reassignment.check_target(wanted, self.state.live)
        if state.epoch == NEVER_LED:
            return reassignment.Moved(state._replace(replicas=tuple(wanted)), ())
        moved = reassignment.begin(state, wanted, self.state.can_lead(partition))
        if moved is None:
            raise ApiError(
                ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
                f"of the replicas that would hold {partition} none is alive and in sync",
            )
        return moved

    def _finish_moves(self, partitions: Iterable[Partition] | None = None) -> list[Effect]:
        """Those of these, or of all, whose new replicas are all in sync."""
        some = self.state.partitions() if partitions is None else self._found(partitions)
        done = {
            partition: moved
            for partition, state in some
            if (moved := reassignment.finish(state, self.state.can_lead(partition))) is not None
        }
        return self._move(done, finally_written=True)

    def _found(self, partitions: Iterable[Partition]) -> list[tuple[Partition, PartitionImage]]:
        found = ((each, self.state.find(each)) for each in partitions)
        return [(each, state) for each, state in found if state is not None]

    def _move(self, moves: Moves, *, finally_written: bool) -> list[Effect]:
        """A topic's assignment is written before its new replicas hear of it, and when others go, after they
        have been told: whoever is controller next finds all that has still to be done."""
        if not moves:
            return []
        led = {each: _again(moved.state) for each, moved in moves.items() if moved.state.epoch != NEVER_LED}
        fresh = {each: moved.state for each, moved in moves.items() if each not in led}
        self.state.change({**led, **fresh})
        topics = dict.fromkeys(partition.topic for partition in moves)
        assignments = WriteAssignments(tuple(self.image.topics[name] for name in topics))
        going = by_broker(((each, moved.dropped) for each, moved in moves.items()), self.state.live)
        stops = [
            StopReplicas(broker, {each: led[each].leader_epoch for each in theirs}, delete=True)
            for broker, theirs in going.items()
        ]
        changes = [*self._written_and_told(led), *stops]
        effects = [*changes, assignments] if finally_written else [assignments, *changes]
        return effects + self._elect_new(fresh.items())

    # -- consequences --------------------------------------------------------------------------------------

    def _change(self, states: States) -> list[Effect]:
        self.state.change(states)
        return self._written_and_told(states)

    def _written_and_told(self, states: States) -> list[Effect]:
        """Write these states; tell the replicas first, and then everybody."""
        if not states:
            return []
        held = by_broker(((each, state.replicas) for each, state in states.items()), self.state.live)
        told = [
            TellReplicas(
                broker,
                {each: states[each] for each in theirs},
                frozenset(
                    each for each in theirs if states[each].epoch == 0 or broker in states[each].adding
                ),
            )
            for broker, theirs in held.items()
        ]
        return [WriteStates(states), *told, self._tell_everybody(states)]

    def _tell_everybody(self, states: States) -> TellEverybody:
        return TellEverybody(
            self.state.live, {each: self.state.told(each, state) for each, state in states.items()}
        )


def _again(state: PartitionImage) -> PartitionImage:
    """The state after a change by the controller: new epochs."""
    return state._replace(leader_epoch=state.leader_epoch + 1, epoch=state.epoch + 1)


def _next(
    state: PartitionImage, *, leader: BrokerId | None = None, isr: tuple[BrokerId, ...]
) -> PartitionImage:
    return _again(state._replace(leader=state.leader if leader is None else leader, isr=isr))


def _led_by(state: PartitionImage, elected: Elected) -> PartitionImage:
    after = _next(state, leader=elected.leader, isr=elected.isr)
    return after._replace(recovering=state.recovering or elected.unclean)
