"""The controller, driven by hand and by seeds, before a world that holds every effect to its laws."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

import pytest

from odradek.controller import reassignment
from odradek.controller.effects import (
    EPOCH_WHILE_DELETED,
    LEADER_WHILE_DELETED,
    DropDeletionRequests,
    Effect,
    RemoveTopics,
    States,
    StopReplicas,
    TellEverybody,
    TellReplicas,
    WriteAssignments,
    WriteStates,
)
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
from odradek.controller.machine import Controller
from odradek.controller.state import NEVER_LED
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId, Partition, TopicId
from odradek.model.image import BrokerImage, ClusterImage, PartitionImage, TopicImage

ONE, TWO, THREE, FOUR = (BrokerId(each) for each in (1, 2, 3, 4))
P0 = Partition("orders", 0)


def unled(*replicas: BrokerId) -> PartitionImage:
    return PartitionImage(replicas, NO_BROKER, (), NEVER_LED, NEVER_LED)


def topic(name: str, *assignment: Sequence[BrokerId]) -> TopicImage:
    id = TopicId(name.encode().ljust(16, b"\0"))
    return TopicImage(name, id, {number: unled(*replicas) for number, replicas in enumerate(assignment)})


class World:
    """What is written and what brokers were told. Whatever the controller asks for is held to the laws."""

    def __init__(self, *brokers: BrokerId, unclean: bool = False) -> None:
        self.unclean = unclean
        self.epochs = dict.fromkeys(brokers, 1)
        self.written = ClusterImage(cluster_id="c")
        self.in_sync_ever: dict[Partition, set[BrokerId]] = {}
        self.leaders: dict[tuple[Partition, int], BrokerId] = {}
        self.told: dict[BrokerId, dict[Partition, PartitionImage]] = {}
        self.metadata: dict[BrokerId, dict[Partition, PartitionImage]] = {}
        self.log: list[Effect] = []
        self.controller = self.elect()

    def elect(self) -> Controller:
        """Another broker becomes the controller and reads all that is written."""
        image = self.written.with_brokers(self._brokers(), self.written.brokers.keys() - self.epochs.keys())
        self.controller = Controller(image, lambda _: self.unclean)
        self.carry_out(self.controller.begin())
        return self.controller

    # -- what happens --------------------------------------------------------------------------------------

    def handle(self, event: Event) -> list[Effect]:
        return self.carry_out(self.controller.handle(event))

    def up(self, broker: BrokerId) -> None:
        self.epochs[broker] = self.epochs.get(broker, 0) + 100
        self.told.pop(broker, None)
        self.handle(BrokersSeen(self._brokers()))

    def down(self, *brokers: BrokerId) -> None:
        for broker in brokers:
            del self.epochs[broker]
        self.handle(BrokersSeen(self._brokers()))

    def create(self, name: str, *assignment: Sequence[BrokerId]) -> None:
        """The topic's znode is there, or says that there are more partitions."""
        seen = topic(name, *assignment)
        known = self.written.topics.get(name)
        self.written = self.written.with_topics(
            [seen if known is None else seen.with_partitions(known.partitions)]
        )
        self.handle(TopicsSeen((seen,)))

    def propose(self, partition: Partition, isr: Iterable[BrokerId]) -> PartitionImage:
        state = self.state(partition)
        proposed = state._replace(isr=tuple(isr), recovering=False)
        effects, decided = self.controller.propose_isr(state.leader, partition, proposed)
        self.in_sync_ever[partition] |= set(decided.isr)
        self.carry_out(effects)
        return decided

    def state(self, partition: Partition = P0) -> PartitionImage:
        state = self.written.partition(partition)
        assert state is not None
        return state

    def _brokers(self) -> tuple[BrokerImage, ...]:
        return tuple(BrokerImage(id, epoch, ()) for id, epoch in sorted(self.epochs.items()))

    # -- the laws ------------------------------------------------------------------------------------------

    def carry_out(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            self.log.append(effect)
            match effect:
                case WriteStates(states):
                    for partition, state in states.items():
                        self._write(partition, state)
                case WriteAssignments(topics):
                    for each in topics:
                        self._assign(each)
                case RemoveTopics(names):
                    self.written = self.written.without_topics(names)
                    self.leaders = {
                        each: led for each, led in self.leaders.items() if each[0].topic not in names
                    }
                case TellReplicas(broker, states, new):
                    self._tell_replicas(broker, states, new)
                case TellEverybody(brokers, states):
                    self._tell_everybody(brokers, states)
                case StopReplicas():
                    self._stop(effect)
                case DropDeletionRequests():
                    pass
                case _:
                    assert_never(effect)
        return effects

    def _write(self, partition: Partition, state: PartitionImage) -> None:
        before = self.state(partition)
        assert state.epoch == before.epoch + 1, "the znode has another version"
        assert state.isr
        assert state.leader in (NO_BROKER, *state.isr)
        assert set(state.isr) <= set(state.replicas)
        assert state.leader_epoch >= before.leader_epoch
        if state.leader != before.leader:
            assert state.leader_epoch > before.leader_epoch
        holder = self.leaders.setdefault((partition, state.leader_epoch), state.leader)
        assert holder == state.leader, "two leaders in one epoch"
        if before.epoch == NEVER_LED:
            self.in_sync_ever[partition] = set(state.isr)
        if not self.unclean and before.epoch != NEVER_LED:
            # Whoever leads was in sync when the last leader was: nothing acknowledged is lost.
            assert state.leader in (NO_BROKER, *before.isr)
            assert set(state.isr) <= set(before.isr) | self.in_sync_ever[partition]
        # A state's znode says nothing of replicas; the topic's says only that.
        kept = state._replace(replicas=before.replicas, adding=before.adding, removing=before.removing)
        self.written = self.written.with_partitions({partition: kept})

    def _assign(self, fresh: TopicImage) -> None:
        known = self.written.topics[fresh.name]
        assert fresh.partitions.keys() == known.partitions.keys()
        changed = {
            Partition(fresh.name, number): known.partitions[number]._replace(
                replicas=state.replicas, adding=state.adding, removing=state.removing
            )
            for number, state in fresh.partitions.items()
        }
        self.written = self.written.with_partitions(changed)

    def _tell_replicas(self, broker: BrokerId, states: States, new: frozenset[Partition]) -> None:
        assert broker in self.epochs
        assert new <= states.keys()
        for partition, state in states.items():
            assert self._is_written(partition, state), "told before it is written"
            assert broker in state.replicas
            self.told.setdefault(broker, {})[partition] = state

    def _tell_everybody(self, brokers: frozenset[BrokerId], states: States) -> None:
        assert brokers <= self.epochs.keys()
        for partition, state in states.items():
            if state.leader == LEADER_WHILE_DELETED:
                for known in self.metadata.values():
                    known.pop(partition, None)
                continue
            assert state.epoch == NEVER_LED or self._is_written(partition, state)
            assert set(state.offline) >= set(state.replicas) - self.epochs.keys()
            for broker in brokers:
                self.metadata.setdefault(broker, {})[partition] = state

    def _is_written(self, partition: Partition, state: PartitionImage) -> bool:
        told = (state.leader, state.isr, state.leader_epoch, state.epoch, state.recovering)
        known = self.state(partition)
        return told == (known.leader, known.isr, known.leader_epoch, known.epoch, known.recovering)

    def _stop(self, effect: StopReplicas) -> None:
        assert effect.broker in self.epochs
        for partition, epoch in effect.epochs.items():
            if epoch != EPOCH_WHILE_DELETED:
                state = self.state(partition)
                assert epoch == state.leader_epoch
                assert not effect.delete or effect.broker not in reassignment.target(state)
                assert effect.broker != state.leader
            if effect.delete:
                self.told.get(effect.broker, {}).pop(partition, None)

    def finished(self) -> None:
        """With everybody up and nothing under way, all is led, and all are told the same."""
        for name, known in self.written.topics.items():
            for number, state in known.partitions.items():
                partition = Partition(name, number)
                if name in self.controller.state.deleting:
                    continue
                assert state.leader in self.epochs, partition
                for broker in state.replicas:
                    told = self.told[broker][partition]
                    assert (told.leader, told.leader_epoch) == (state.leader, state.leader_epoch)
                for broker in self.epochs:
                    assert self.metadata[broker][partition]._replace(offline=()) == state._replace(offline=())


def three(unclean: bool = False) -> World:
    """One partition on three brokers, led by the first."""
    world = World(ONE, TWO, THREE, unclean=unclean)
    world.create("orders", (ONE, TWO, THREE))
    return world


def refused(code: ErrorCode, question: Callable[[], object]) -> None:
    with pytest.raises(ApiError) as refusal:
        question()
    assert refusal.value.error is code


# -- topics ------------------------------------------------------------------------------------------------


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    world = World(TWO, THREE)
    world.create("orders", (ONE, TWO, THREE), (ONE,))
    assert world.state() == PartitionImage((ONE, TWO, THREE), TWO, (TWO, THREE), 0, 0)
    assert all(each.new == {P0} for each in world.log if isinstance(each, TellReplicas) and P0 in each.states)
    assert world.state(Partition("orders", 1)) == unled(ONE)
    world.up(ONE)
    assert world.state(Partition("orders", 1)).leader == ONE
    assert world.state().leader == TWO


def test_a_topic_that_grows_keeps_what_it_had() -> None:
    world = three()
    world.propose(P0, (ONE, TWO))
    before = world.state()
    world.create("orders", (ONE, TWO, THREE), (TWO, ONE))
    assert world.state() == before
    assert world.state(Partition("orders", 1)).leader == TWO


def test_a_topic_is_gone_when_every_replica_is_deleted() -> None:
    world = three()
    world.down(THREE)
    effects = world.handle(DeletionWanted(frozenset(("orders", "never-there"))))
    assert DropDeletionRequests(frozenset(("never-there",))) in effects
    stopped = [each for each in effects if isinstance(each, StopReplicas)]
    assert [each.broker for each in stopped] == [ONE, TWO]
    for broker in (ONE, TWO):
        world.handle(ReplicasStopped(broker, frozenset((P0,))))
    assert "orders" in world.written.topics
    world.up(THREE)
    assert isinstance(world.log[-1], StopReplicas)
    assert world.log[-1].broker == THREE
    world.handle(ReplicasStopped(THREE, frozenset((P0,))))
    assert not world.written.topics
    assert not world.controller.state.deleting


def test_a_topic_being_deleted_is_not_led_any_more() -> None:
    world = three()
    world.handle(DeletionWanted(frozenset(("orders",))))
    before = world.state()
    world.down(ONE)
    assert world.state() == before
    refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, lambda: world.propose(P0, (TWO,)))


# -- brokers -----------------------------------------------------------------------------------------------


def test_the_next_in_sync_leads_when_the_leader_goes() -> None:
    world = three()
    world.down(ONE)
    assert world.state() == PartitionImage((ONE, TWO, THREE), TWO, (TWO, THREE), 1, 1)
    world.up(ONE)
    assert world.state().leader == TWO
    assert world.told[ONE][P0].leader == TWO


def test_a_follower_that_goes_is_in_sync_no_longer() -> None:
    world = three()
    world.down(THREE)
    assert world.state() == PartitionImage((ONE, TWO, THREE), ONE, (ONE, TWO), 1, 1)


def test_the_last_in_sync_is_waited_for() -> None:
    world = three()
    world.down(TWO)
    world.down(ONE, THREE)
    assert world.state().leader == NO_BROKER
    assert world.state().isr == (ONE, THREE)
    world.up(TWO)
    assert world.state().leader == NO_BROKER
    world.up(THREE)
    assert world.state().leader == THREE


def test_an_unclean_election_says_so() -> None:
    world = three(unclean=True)
    world.down(TWO)
    world.down(ONE, THREE)
    world.up(TWO)
    state = world.state()
    assert (state.leader, state.isr, state.recovering) == (TWO, (TWO,), True)
    refused(ErrorCode.INVALID_REQUEST, lambda: recovering_with(world, (TWO, THREE)))
    world.propose(P0, (TWO,))
    assert not world.state().recovering


def recovering_with(world: World, isr: tuple[BrokerId, ...]) -> None:
    world.controller.propose_isr(TWO, P0, world.state()._replace(isr=isr))


def test_a_broker_that_comes_back_at_once_was_gone() -> None:
    """The store shows it under another epoch; nobody saw it missing."""
    world = three()
    world.up(ONE)
    assert world.state().leader == TWO
    assert ONE not in world.state().isr
    assert world.told[ONE][P0].leader == TWO


def test_replicas_on_a_failed_disk_are_replaced() -> None:
    world = three()
    asked = world.handle(LogDirFailed(ONE))
    assert [each.broker for each in asked if isinstance(each, TellReplicas)] == [ONE]
    world.handle(ReplicasFailed(ONE, frozenset((P0,))))
    assert (world.state().leader, world.state().isr) == (TWO, (TWO, THREE))
    refused(ErrorCode.INELIGIBLE_REPLICA, lambda: world.propose(P0, (ONE, TWO, THREE)))
    world.up(ONE)
    world.propose(P0, (ONE, TWO, THREE))


def test_a_story_is_written_as_kafkas_controller_wrote_it() -> None:
    """Three brokers of 3.9.2: one was shut down, another killed; leader, in-sync set and both epochs."""
    world = World(ONE, TWO, THREE)
    world.create("orders", (ONE, TWO, THREE))
    world.create("pair", (THREE, TWO))
    pair = Partition("pair", 0)

    def written(partition: Partition) -> tuple[BrokerId, tuple[BrokerId, ...], int, int]:
        state = world.state(partition)
        return state.leader, state.isr, state.leader_epoch, state.epoch

    world.carry_out(world.controller.shut_down(THREE, 1)[0])
    world.down(THREE)
    assert written(P0) == (ONE, (ONE, TWO), 1, 1)
    assert written(pair) == (TWO, (TWO,), 1, 1)
    world.down(TWO)
    assert written(P0) == (ONE, (ONE,), 2, 2)
    assert written(pair) == (NO_BROKER, (TWO,), 2, 2)


def test_a_broker_that_leaves_hands_over_what_it_can() -> None:
    world = three()
    world.create("alone", (ONE,))
    world.create("pair", (ONE, TWO))
    world.propose(Partition("pair", 0), (ONE,))
    effects, left = world.controller.shut_down(ONE, 1)
    world.carry_out(effects)
    assert left == {Partition("pair", 0)}
    assert (world.state().leader, world.state().isr) == (TWO, (TWO, THREE))
    refused(ErrorCode.INELIGIBLE_REPLICA, lambda: world.propose(P0, (ONE, TWO, THREE)))
    effects, left = world.controller.shut_down(TWO, -1)
    world.carry_out(effects)
    assert world.state().leader == THREE
    stops = [each for each in effects if isinstance(each, StopReplicas)]
    assert [(each.broker, each.delete) for each in stops] == [(TWO, False)]


def test_only_a_registered_broker_may_leave() -> None:
    world = three()
    refused(ErrorCode.STALE_BROKER_EPOCH, lambda: world.controller.shut_down(ONE, 7))
    refused(ErrorCode.BROKER_NOT_AVAILABLE, lambda: world.controller.shut_down(FOUR, 7))


# -- proposals ---------------------------------------------------------------------------------------------


def test_a_leader_says_who_is_in_sync() -> None:
    world = three()
    assert world.propose(P0, (ONE, TWO)).epoch == 1
    assert world.state().leader_epoch == 0
    assert not any(isinstance(each, TellReplicas) for each in world.log[-2:])
    assert world.metadata[THREE][P0].isr == (ONE, TWO)
    assert world.propose(P0, (ONE, TWO)).epoch == 1, "said again, the same answer"


def test_what_a_leader_may_not_say() -> None:
    world = three()
    world.propose(P0, (ONE, TWO))
    state = world.state()

    def say(broker: BrokerId = ONE, **changes: object) -> Callable[[], object]:
        proposed = state._replace(isr=(ONE, THREE))._replace(**changes)  # type: ignore[arg-type]
        return lambda: world.controller.propose_isr(broker, P0, proposed)

    refused(ErrorCode.NOT_CONTROLLER, say(leader_epoch=1))
    refused(ErrorCode.NOT_CONTROLLER, say(epoch=2))
    refused(ErrorCode.INVALID_UPDATE_VERSION, say(epoch=0))
    refused(ErrorCode.INVALID_REQUEST, say(broker=TWO))
    refused(ErrorCode.INVALID_REQUEST, say(isr=(TWO,)))
    refused(ErrorCode.INVALID_REQUEST, say(recovering=True))
    refused(ErrorCode.INELIGIBLE_REPLICA, say(isr=(ONE, FOUR)))
    refused(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        lambda: world.controller.propose_isr(ONE, Partition("orders", 9), state),
    )
    world.down(THREE)
    refused(ErrorCode.FENCED_LEADER_EPOCH, say()) if world.state().leader_epoch else None
    refused(ErrorCode.INELIGIBLE_REPLICA, lambda: world.propose(P0, (ONE, THREE)))


# -- elections that are asked for --------------------------------------------------------------------------


def test_the_first_replica_is_given_its_place_back() -> None:
    world = three()
    world.down(ONE)
    results = world.controller.elect_preferred([P0])[1]
    assert code(results[P0]) is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    world.up(ONE)
    world.propose(P0, (TWO, THREE, ONE))
    effects, results = world.controller.elect_preferred([P0, Partition("orders", 9)])
    world.carry_out(effects)
    assert world.state().leader == ONE
    assert results[P0] is None
    assert code(results[Partition("orders", 9)]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert code(world.controller.elect_preferred([P0])[1][P0]) is ErrorCode.ELECTION_NOT_NEEDED


def test_an_unclean_election_can_be_asked_for() -> None:
    world = three()
    world.unclean = True  # the world allows it; the topic does not ask for it by itself
    world.controller.state.allows_unclean = lambda _: False
    assert code(world.controller.elect_unclean([P0])[1][P0]) is ErrorCode.ELECTION_NOT_NEEDED
    world.down(TWO)
    world.down(ONE, THREE)
    results = world.controller.elect_unclean([P0])[1]
    assert code(results[P0]) is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    world.up(TWO)
    assert world.state().leader == NO_BROKER
    world.carry_out(world.controller.elect_unclean([P0])[0])
    assert (world.state().leader, world.state().recovering) == (TWO, True)


def code(result: ApiError | None) -> ErrorCode | None:
    return None if result is None else result.error


def test_leadership_goes_back_where_too_much_is_elsewhere() -> None:
    world = World(ONE, TWO)
    world.create("orders", *[(ONE, TWO)] * 10)
    world.down(ONE)
    world.up(ONE)
    partitions = [Partition("orders", number) for number in range(10)]
    for partition in partitions:
        world.propose(partition, (TWO, ONE))
    assert not world.handle(BalanceDue(100))
    world.carry_out(world.controller.elect_preferred(partitions[1:])[0])
    assert not world.handle(BalanceDue(10)), "one of ten is not more than ten per cent"
    world.handle(BalanceDue(9))
    assert {world.state(partition).leader for partition in partitions} == {ONE}


# -- reassignments -----------------------------------------------------------------------------------------


def moved(world: World, *replicas: BrokerId) -> None:
    effects, results = world.controller.reassign({P0: replicas})
    assert results == {P0: None}
    world.carry_out(effects)


def test_a_partition_moves_step_by_step() -> None:
    world = three()
    world.up(FOUR)
    moved(world, FOUR, TWO)
    state = world.state()
    assert state.replicas == (FOUR, TWO, ONE, THREE)
    assert (state.adding, state.removing, state.leader) == ((FOUR,), (ONE, THREE), ONE)
    assert P0 in world.told[FOUR]
    new = {each.broker: each.new for each in world.log[-6:] if isinstance(each, TellReplicas)}
    assert new == {ONE: frozenset(), TWO: frozenset(), THREE: frozenset(), FOUR: frozenset((P0,))}
    world.propose(P0, (ONE, TWO, THREE, FOUR))
    state = world.state()
    assert state.replicas == (FOUR, TWO)
    assert (state.leader, set(state.isr), state.adding, state.removing) == (FOUR, {TWO, FOUR}, (), ())
    assert P0 not in world.told[ONE]
    assert P0 not in world.told[THREE]
    world.finished()


def test_a_move_that_adds_nobody_is_done_at_once() -> None:
    world = three()
    moved(world, THREE, ONE)
    assert world.state().replicas == (THREE, ONE)
    assert world.state().leader == ONE
    world.finished()


def test_a_move_is_called_off() -> None:
    world = three()
    world.up(FOUR)
    moved(world, FOUR)
    effects, results = world.controller.reassign({P0: None})
    world.carry_out(effects)
    assert results == {P0: None}
    assert set(world.state().replicas) == {ONE, TWO, THREE}
    assert P0 not in world.told[FOUR]
    results = world.controller.reassign({P0: None})[1]
    assert code(results[P0]) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_the_next_controller_goes_on_with_a_move() -> None:
    world = three()
    world.up(FOUR)
    moved(world, FOUR, TWO)
    world.elect()
    world.propose(P0, (ONE, TWO, THREE, FOUR))
    assert world.state().replicas == (FOUR, TWO)
    world.finished()


def test_a_partition_that_was_never_led_just_changes_hands() -> None:
    world = World(ONE)
    world.create("orders", (TWO,))
    moved(world, ONE)
    assert world.state() == PartitionImage((ONE,), ONE, (ONE,), 0, 0)


def test_a_move_that_cannot_be_is_refused_by_itself() -> None:
    world = three()
    nowhere = Partition("orders", 9)
    effects, results = world.controller.reassign({P0: (ONE, FOUR), nowhere: (ONE,)})
    assert code(results[P0]) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert code(results[nowhere]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert effects == []


# -- by seeds ----------------------------------------------------------------------------------------------


@pytest.mark.simulation(seeds=200)
def test_whatever_happens_the_laws_hold(seed: int) -> None:
    rng = random.Random(seed)
    brokers = (ONE, TWO, THREE, FOUR)
    world = World(*brokers, unclean=rng.random() < 0.3)
    deeds = (
        come_or_go,
        come_or_go,
        propose,
        propose,
        propose,
        reassign,
        ask,
        create,
        delete,
        stopped,
        fail_over,
    )
    for _ in range(80):
        rng.choice(deeds)(world, rng)
    for broker in brokers:
        world.up(broker)
    for _ in range(3):
        for partition, state in list(world.controller.state.partitions()):
            if state.has_leader:
                world.propose(partition, dict.fromkeys((*state.isr, *state.replicas)))
    assert not any(reassignment.is_moving(state) for _, state in world.controller.state.partitions())
    world.finished()


def some_partition(world: World, rng: random.Random) -> Partition | None:
    known = [partition for partition, _ in world.controller.state.partitions()]
    return rng.choice(known) if known else None


def some_brokers(rng: random.Random) -> list[BrokerId]:
    return rng.sample((ONE, TWO, THREE, FOUR), rng.randrange(1, 4))


def come_or_go(world: World, rng: random.Random) -> None:
    broker = rng.choice((ONE, TWO, THREE, FOUR))
    match rng.choice(("up", "down", "leave", "disk")) if broker in world.epochs else "up":
        case "up":
            world.up(broker)
        case "down":
            world.down(broker)
        case "leave":
            world.carry_out(world.controller.shut_down(broker, world.epochs[broker])[0])
        case _:
            hosted = sorted(world.controller.state.hosted_by(broker))
            lost = frozenset(rng.sample(hosted, rng.randrange(len(hosted) + 1)))
            world.handle(ReplicasFailed(broker, lost))


def propose(world: World, rng: random.Random) -> None:
    partition = some_partition(world, rng)
    if partition is None or not world.state(partition).has_leader:
        return
    state = world.state(partition)
    followers = [each for each in state.replicas if each != state.leader and rng.random() < 0.7]
    able = world.controller.state.can_lead(partition)
    if able.issuperset(followers):
        world.propose(partition, (state.leader, *followers))
    else:
        refused(ErrorCode.INELIGIBLE_REPLICA, lambda: world.propose(partition, (state.leader, *followers)))


def reassign(world: World, rng: random.Random) -> None:
    partition = some_partition(world, rng)
    if partition is not None:
        wanted = some_brokers(rng) if rng.random() < 0.8 else None
        world.carry_out(world.controller.reassign({partition: wanted})[0])


def ask(world: World, rng: random.Random) -> None:
    partitions = [partition for partition, _ in world.controller.state.partitions()]
    if rng.random() < 0.5:
        world.carry_out(world.controller.elect_preferred(partitions)[0])
    else:
        world.handle(BalanceDue(rng.choice((0, 10))))


def create(world: World, rng: random.Random) -> None:
    name = f"t{rng.randrange(4)}"
    known = world.written.topics.get(name)
    if known is None:
        world.create(name, *(some_brokers(rng) for _ in range(rng.randrange(1, 4))))
    elif name not in world.controller.state.deleting:
        world.create(name, *(each.replicas for each in known.partitions.values()), some_brokers(rng))


def delete(world: World, rng: random.Random) -> None:
    if rng.random() < 0.3:
        world.handle(DeletionWanted(frozenset((f"t{rng.randrange(4)}",))))


def stopped(world: World, rng: random.Random) -> None:
    stops = [each for each in world.log if isinstance(each, StopReplicas) and each.delete]
    if stops:
        done = rng.choice(stops)
        if done.broker in world.epochs and EPOCH_WHILE_DELETED in done.epochs.values():
            world.handle(ReplicasStopped(done.broker, frozenset(done.epochs)))


def fail_over(world: World, rng: random.Random) -> None:
    wanted = frozenset(world.controller.state.deleting)
    if rng.random() < 0.2:
        world.elect()
        world.handle(DeletionWanted(wanted))
