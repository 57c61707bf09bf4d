"""`odradek consumer-groups`: kafka-consumer-groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import REPORTED, Impossible, Misused, message, said_as
from odradek.cli.flags import switch, text, texts, verb
from odradek.cli.output import json_line
from odradek.cli.reach import ClusterFlags, administer
from odradek.model.errors import ErrorCode

if TYPE_CHECKING:
    from odradek.cli.formats.groups import GroupReport
    from odradek.client.cluster import Cluster
    from odradek.client.failures import Refused
    from odradek.model.ids import Partition

EXECUTION = "java.util.concurrent.ExecutionException: "  # in it Kafka's tools wrap whatever a broker refuses
_ANY = ""  # --state and --type without a value


@dataclass(frozen=True, kw_only=True)
class GroupsFlags(ClusterFlags):
    list: bool = switch("Show the groups.")
    describe: bool = switch("Show how far groups have come, who is in them, and in what state they are.")
    delete: bool = switch("Delete groups without members.")
    delete_offsets: bool = switch("Forget what a group has committed for --topic.")
    reset_offsets: bool = switch("Let groups without members go on elsewhere.")
    group: tuple[str, ...] = texts("A group; may be repeated.", shown="GROUP")
    all_groups: bool = switch("Every group.")
    members: bool = switch("--describe: the members.")
    offsets: bool = switch("--describe: offsets and lag; what it shows anyway.")
    state: str | None = text(
        "--describe: the group's state. --list: states, and only groups in these.",
        shown="[STATE,...]",
        alone=_ANY,
    )
    type: str | None = text("--list: types, and only groups of these.", shown="[TYPE,...]", alone=_ANY)
    verbose: bool = switch("--describe --members: what each was given.")
    seconds: bool = switch(
        "--describe: also the lag in seconds, the age of the oldest record that the group has not consumed."
    )
    topic: tuple[str, ...] = texts(
        "A topic, or some of its partitions; may be repeated.", shown="TOPIC[:PARTITION,...]"
    )
    all_topics: bool = switch("--reset-offsets: every partition that the group has committed for.")
    to_earliest: bool = switch("--reset-offsets: to where logs begin.")
    to_latest: bool = switch("--reset-offsets: to where logs end.")
    to_current: bool = switch("--reset-offsets: to where the group is.")
    to_offset: str | None = text("--reset-offsets: to this offset.", shown="OFFSET")
    to_datetime: str | None = text(
        "--reset-offsets: to the first record from this time on.", shown="2001-02-03T04:05:06.789[Z]"
    )
    by_duration: str | None = text(
        "--reset-offsets: to the first record that is not older.", shown="PnDTnHnMnS"
    )
    shift_by: str | None = text("--reset-offsets: so many records on, or back.", shown="[-]NUMBER")
    from_file: str | None = text(
        "--reset-offsets: as the file says, in lines of [GROUP,]TOPIC,PARTITION,OFFSET.", shown="FILE"
    )
    dry_run: bool = switch("--reset-offsets: only show where they would be; what it does anyway.")
    execute: bool = switch("--reset-offsets: do it.")
    export: bool = switch("--reset-offsets: print what --from-file reads.")


def run(flags: GroupsFlags) -> None:
    action = _checked(flags)
    try:
        if action == "list":
            _list(flags)
        elif action == "describe":
            _describe(flags)
        elif action == "delete":
            _delete(flags)
        elif action == "delete_offsets":
            _delete_offsets(flags)
        else:
            from odradek.cli.group_resets import reset

            reset(flags)
    except REPORTED as failure:
        _tell(failure)


def complain(said: str) -> None:
    click.echo(f"\nError: {said}")


def _tell(failure: Exception) -> None:
    """Kafka's tool complains on standard output, and ends with 0."""
    is_own = isinstance(failure, Impossible)
    said = message(failure) if is_own else f"{EXECUTION}{said_as(failure)}: {message(failure)}"
    complain(f"Executing consumer group command failed due to {said}")
    click.echo(f"{said_as(failure) if is_own else 'java.lang.RuntimeException'}: {said}", err=True)


# -- what may be asked together ----------------------------------------------------------------------------

_ACTIONS = ("list", "describe", "delete", "reset_offsets", "delete_offsets")
_ONLY_WITH = {
    "members": ("describe",),
    "offsets": ("describe",),
    "verbose": ("describe",),
    "seconds": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
}
_NOT_WITH = {
    "group": ("list", "all_groups"),
    "topic": ("describe", "list"),
    "all_topics": ("describe", "list"),
}
PLACES = (
    "to_offset",
    "to_datetime",
    "by_duration",
    "to_earliest",
    "to_latest",
    "to_current",
    "shift_by",
    "from_file",
)
_DRY_RUN_WARNING = (
    "WARN: No action will be performed as the --execute option is missing.In a future major release, the "
    "default behavior of this command will be to prompt the user before executing the reset rather than "
    "doing a dry run. You should add the --dry-run option explicitly if you are scripting this command and "
    "want to keep the current default behavior without prompting."
)


def _checked(flags: GroupsFlags) -> str:
    """The one action."""
    for name, needed in _ONLY_WITH.items():
        if _is_given(flags, name) and not any(getattr(flags, each) for each in needed):
            raise Misused(
                'Exception in thread "main" joptsimple.UnavailableOptionException: '
                f"Option(s) [{name}] are unavailable given other options on the command line"
            )
    if not flags.bootstrap_server:
        raise Misused('Missing required argument "[bootstrap-server]"')
    has_scope = bool(flags.group or flags.all_groups)
    if flags.describe:
        _check_describe(flags, has_scope=has_scope)
    if flags.delete:
        if not has_scope:
            raise Misused("Option [delete] takes one of these options: [all-groups], [group]")
        if flags.topic:
            raise Misused(
                "The consumer does not support topic-specific offset deletion from a consumer group."
            )
    if flags.delete_offsets and not (flags.group and flags.topic):
        raise Misused("Option [delete-offsets] takes the following options: [all-groups], [group]")
    if flags.reset_offsets:
        _check_reset(flags, has_scope=has_scope)
    for name, others in _NOT_WITH.items():
        for other in others:
            if getattr(flags, name) and getattr(flags, other):
                raise _clash(name, other)
    actions = [each for each in _ACTIONS if getattr(flags, each)]
    if len(actions) != 1:
        raise Misused(
            "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, "
            "--delete-offsets"
        )
    return actions[0]


def _check_describe(flags: GroupsFlags, *, has_scope: bool) -> None:
    if not has_scope:
        raise Misused(  # sic
            "Option [describe] takes one of these options: [reset-offsets], [describe], [delete], [list]"
        )
    if sum(_is_given(flags, each) for each in ("members", "offsets", "state")) > 1:
        raise Misused("Option [describe] takes at most one of these options: [members], [offsets], [state]")
    if flags.state:
        raise Misused("Option [describe] does not take a value for [state]")


def _check_reset(flags: GroupsFlags, *, has_scope: bool) -> None:
    if flags.execute and flags.dry_run:
        raise Misused("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not (flags.execute or flags.dry_run):
        click.echo(_DRY_RUN_WARNING, err=True)
    if not has_scope:
        raise Misused("Option [reset-offsets] takes one of these options: [all-groups], [group]")
    given = [each for each in PLACES if _is_given(flags, each)]
    if len(given) > 1:
        raise _clash(*given[:2])
    if not given:
        raise Misused(
            "Option '[reset-offsets]' requires one of the following scenarios: [[to-offset], [to-current], "
            "[to-datetime], [from-file], [by-duration], [to-earliest], [to-latest], [shift-by]]"
        )
    if not (flags.topic or flags.all_topics or flags.from_file):
        raise Misused("One of the reset scopes should be defined: --all-topics, --topic.")


def _is_given(flags: GroupsFlags, name: str) -> bool:
    return getattr(flags, name) not in (None, False, ())


def _clash(one: str, other: str) -> Misused:
    one, other = (each.replace("_", "-") for each in (one, other))
    return Misused(f'Option "[{one}]" can\'t be used with option "[{other}]"')


# -- list --------------------------------------------------------------------------------------------------

_STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling")
_TYPES = ("Consumer", "Classic")
_PROTOCOLS = ("", "consumer")  # of groups of consumers; others are Connect's


def _list(flags: GroupsFlags) -> None:
    from odradek.cli.formats.groups import listed
    from odradek.client.groups import list_groups

    states = _among(flags.state, _STATES, "state")
    types = _among(flags.type, _TYPES, "types")
    groups = administer(flags, lambda cluster: list_groups(cluster, states, types))
    found = {each.group_id: each for each in groups if each.protocol_type in _PROTOCOLS}
    spelled = {each.lower(): each for each in _TYPES}
    rows = [
        (id, spelled.get(each.group_type.lower(), "Unknown"), each.group_state)
        for id in ids_in_order(found)
        if (each := found[id])
    ]
    if flags.json:
        for id, type, state in rows:
            click.echo(json_line({"group": id, "type": type, "state": state}))
        return
    for line in listed(rows, types=flags.type is not None, states=flags.state is not None):
        click.echo(line)


def _among(given: str | None, known: Sequence[str], what: str) -> Sequence[str]:
    """In the spelling that brokers know; no names mean all."""
    named = [each.strip() for each in given.split(",")] if given else []
    spelled = {each.lower(): each for each in known}
    if any(each.lower() not in spelled for each in named):
        kinds = what.removesuffix("s") + "s"
        raise Misused(f"Invalid {what} list '{given}'. Valid {kinds} are: {', '.join(known)}")
    return [spelled[each.lower()] for each in named]


def ids_in_order(ids: Iterable[str]) -> Sequence[str]:
    from odradek.cli.formats.java_order import hash_of_text, in_map

    return in_map(list(ids), hash_of_text)


async def ids_meant(cluster: Cluster, flags: GroupsFlags) -> Sequence[str]:
    from odradek.client.groups import list_groups

    if not flags.all_groups:
        return flags.group
    return [each.group_id for each in await list_groups(cluster) if each.protocol_type in _PROTOCOLS]


# -- describe ----------------------------------------------------------------------------------------------


def _describe(flags: GroupsFlags) -> None:
    from odradek.cli.formats import groups as formats
    from odradek.cli.group_reports import group_reports

    async def reports(cluster: Cluster) -> Sequence[GroupReport]:
        ids = await ids_meant(cluster, flags)
        is_brief = flags.members or flags.state is not None
        return await group_reports(
            cluster,
            ids,
            with_offsets=flags.json or not is_brief,
            in_seconds=flags.json or flags.seconds,
        )

    for report in administer(flags, reports):
        if flags.json:
            click.echo(json_line(formats.as_json(report)))
            continue
        _tell_state(report)
        if flags.members:
            lines = formats.members(report, at_length=flags.verbose)
        elif report.is_dead:
            continue
        else:
            lines = formats.offsets(report) if flags.state is None else formats.state(report)
        _print_table(lines, is_set_off=flags.members or flags.state is not None)
    if not flags.json:
        click.echo()


def _print_table(lines: Iterable[str], *, is_set_off: bool) -> None:
    """Below one another, Kafka's tables of offsets are not set off by empty lines, the others are."""
    for line in lines:
        click.echo(f"\n{line}", nl=False)
    if is_set_off:
        click.echo()


def _tell_state(report: GroupReport) -> None:
    """What it means for who reads the table."""
    if report.is_dead:
        complain(f"Consumer group '{report.id}' does not exist.")
    elif report.state == "Empty":
        click.echo(f"\nConsumer group '{report.id}' has no active members.", err=True)
    elif report.state in ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"):
        click.echo(f"\nWarning: Consumer group '{report.id}' is rebalancing.", err=True)


# -- delete ------------------------------------------------------------------------------------------------


def _delete(flags: GroupsFlags) -> None:
    from odradek.client.groups import delete_groups

    async def work(cluster: Cluster) -> Mapping[str, Refused | None]:
        return await delete_groups(cluster, await ids_meant(cluster, flags))

    results = administer(flags, work)
    done = ids_in_order(id for id, refused in results.items() if refused is None)
    refusals = {id: refused for id in ids_in_order(results) if (refused := results[id]) is not None}
    if flags.json:
        for id, refused in results.items():
            click.echo(json_line({"group": id, "error": None if refused is None else refused.error.name}))
        return
    if not refusals:
        click.echo(f"Deletion of requested consumer groups ('{', '.join(done)}') was successful.")
        return
    complain("Deletion of some consumer groups failed:")
    for id, refused in refusals.items():
        said = f"{EXECUTION}{said_as(refused)}: {message(refused)}"
        click.echo(f"* Group '{id}' could not be deleted due to: {said}")
    if done:
        names = "'".join(done)
        click.echo(f"\nThese consumer groups were deleted successfully: '{names}', '")


def _delete_offsets(flags: GroupsFlags) -> None:
    from odradek.cli.formats.groups import deletions
    from odradek.cli.group_resets import UNKNOWN, partitions_named
    from odradek.client.failures import Refused
    from odradek.client.groups import delete_offsets

    (*_, id) = flags.group
    named = ", ".join(flags.topic)

    async def work(cluster: Cluster) -> tuple[Mapping[Partition, Refused | None], Refused | None]:
        partitions = await partitions_named(cluster, flags.topic)
        strange = Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        results: dict[Partition, Refused | None] = dict.fromkeys(partitions, strange)
        known = [each for each in partitions if each.number != UNKNOWN]
        try:
            return results | await delete_offsets(cluster, id, known), None
        except Refused as refused:
            return dict.fromkeys(partitions, refused), refused

    results, refused = administer(flags, work)
    if refused is not None:
        complain(_why_kept(id, refused))
    elif any(each is not None and place.number != UNKNOWN for place, each in results.items()):
        complain("Encounter some partition level error, see the follow-up details:")
    else:
        click.echo(f"Request succeed for deleting offsets with topic {named} group {id}")
    outcomes = {
        place: "Successful" if each is None else f"Error: :{said_as(each)}: {message(each)}"
        for place, each in results.items()
    }
    for line in deletions(outcomes):
        click.echo(line)


def _why_kept(id: str, refused: Refused) -> str:
    match refused.error:
        case ErrorCode.INVALID_GROUP_ID:
            return f"'{id}' is not valid."
        case ErrorCode.GROUP_ID_NOT_FOUND:
            return f"'{id}' does not exist."
        case ErrorCode.GROUP_AUTHORIZATION_FAILED:
            return f"Access to '{id}' is not authorized."
        case ErrorCode.NON_EMPTY_GROUP:
            return f"Deleting offsets of a consumer group '{id}' is forbidden if the group is not empty."
        case _:
            return f"Encounter some unknown error: {said_as(refused)}: {message(refused)}"


consumer_groups = verb(
    "consumer-groups",
    GroupsFlags,
    run,
    help="Show groups, their members and their lag; delete groups; let them go on elsewhere.",
    complaint='Exception in thread "main" joptsimple.UnrecognizedOptionException: ',
)
