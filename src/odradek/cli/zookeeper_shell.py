"""What can be said in `odradek zookeeper shell`, in the words of ZooKeeper's own shell.

What was asked for goes to standard output, what was made and what went wrong to standard error.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias, cast

import click

from odradek.coordination.store import (
    ANY_VERSION,
    Create,
    Delete,
    NodeExists,
    NodeHasChildren,
    NoNode,
    StoreError,
    VersionConflict,
    Write,
)

if TYPE_CHECKING:
    from odradek.coordination.ensemble import FullStat
    from odradek.coordination.zookeeper import ZooKeeperSession

Doing: TypeAlias = Coroutine[object, object, None]

REFUSED = 1
UNKNOWN = 127


async def say(session: ZooKeeperSession, words: Sequence[str]) -> int:
    """One command; the exit code that it would end a shell with."""
    command = COMMANDS.get(words[0])
    if command is None:
        for each in COMMANDS.values():
            click.echo(f"\t{_usage(each)}", err=True)
        click.echo(f"Command not found: {words[0]}", err=True)
        return UNKNOWN
    try:
        doing = command.main(list(words[1:]), words[0], standalone_mode=False, obj=session)
        await cast("Doing", doing)
    except click.UsageError:
        click.echo(_usage(command), err=True)
        return REFUSED
    except StoreError as failure:
        click.echo(_complaint(failure, words), err=True)
        return REFUSED
    return 0


def split(line: str) -> list[str]:
    """A line as a shell would: quotes hold together what has spaces in it."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


_with_stat = click.option("-s", "with_stat", is_flag=True)
_version = click.option("-v", "version", type=int, default=ANY_VERSION, metavar="version")
_path = click.argument("path", metavar="path")


@click.command("ls", add_help_option=False)
@_with_stat
@click.option("-R", "recursive", is_flag=True)
@_path
@click.pass_obj
async def ls(session: ZooKeeperSession, path: str, with_stat: bool, recursive: bool) -> None:
    if recursive:
        async for each in _tree(session, path):
            click.echo(each)
        return
    click.echo(f"[{', '.join(await session.children(path))}]")
    if with_stat:
        _show((await session.read(path))[1])


@click.command("get", add_help_option=False)
@_with_stat
@_path
@click.pass_obj
async def get(session: ZooKeeperSession, path: str, with_stat: bool) -> None:
    data, stat = await session.read(path)
    click.echo("null" if data is None else data.decode(errors="replace"))
    if with_stat:
        _show(stat)


@click.command("set", add_help_option=False)
@_with_stat
@_version
@_path
@click.argument("data", metavar="data")
@click.pass_obj
async def put(session: ZooKeeperSession, path: str, data: str, version: int, with_stat: bool) -> None:
    await session.commit(Write(path, data.encode(), version))
    if with_stat:
        _show((await session.read(path))[1])


@click.command("create", add_help_option=False)
@click.option("-s", "sequential", is_flag=True)
@click.option("-e", "ephemeral", is_flag=True)
@_path
@click.argument("data", default="", metavar="[data]")
@click.pass_obj
async def create(session: ZooKeeperSession, path: str, data: str, sequential: bool, ephemeral: bool) -> None:
    done = await session.commit(Create(path, data.encode(), ephemeral, sequential))
    click.echo(f"Created {done[0].path}", err=True)


@click.command("delete", add_help_option=False)
@_version
@_path
@click.pass_obj
async def delete(session: ZooKeeperSession, path: str, version: int) -> None:
    await session.commit(Delete(path, version))


@click.command("stat", add_help_option=False)
@_path
@click.pass_obj
async def stat(session: ZooKeeperSession, path: str) -> None:
    _show((await session.read(path))[1])


COMMANDS: Mapping[str, click.Command] = {
    str(each.name): each for each in (create, delete, get, ls, put, stat)
}


async def _tree(session: ZooKeeperSession, path: str) -> AsyncIterator[str]:
    names = await session.children(path)
    yield path
    for name in names:
        async for each in _tree(session, f"{path.rstrip('/')}/{name}"):
            yield each


def _usage(command: click.Command) -> str:
    options = [
        f"[{each.opts[0]}{'' if each.is_flag else ' ' + str(each.metavar)}]"
        for each in command.params
        if isinstance(each, click.Option)
    ]
    arguments = [str(each.metavar) for each in command.params if isinstance(each, click.Argument)]
    return " ".join([str(command.name), *options, *arguments])


def _show(stat: FullStat) -> None:
    for name, value in (
        ("cZxid", hex(stat.created)),
        ("ctime", _date(stat.created_ms)),
        ("mZxid", hex(stat.changed)),
        ("mtime", _date(stat.changed_ms)),
        ("pZxid", hex(stat.children_changed)),
        ("cversion", stat.children_version),
        ("dataVersion", stat.version),
        ("aclVersion", stat.acl_version),
        ("ephemeralOwner", hex(stat.owner % (1 << 64))),
        ("dataLength", stat.data_size),
        ("numChildren", stat.child_count),
    ):
        click.echo(f"{name} = {value}")


def _date(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone().strftime("%a %b %d %H:%M:%S %Z %Y")


def _complaint(failure: StoreError, words: Sequence[str]) -> str:
    path = next((each for each in words if each.startswith("/")), failure.path)
    match failure:
        case NoNode():
            return f"Node does not exist: {path}"
        case NodeExists():
            return f"Node already exists: {path}"
        case NodeHasChildren():
            return f"Node not empty: {path}"
        case VersionConflict():
            return f"version No is not valid : {path}"
        case _:
            return str(failure)
