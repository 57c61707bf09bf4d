"""A verb's flags, declared once as a class, and the command made of them.

    class Flags(ClusterFlags):
        topic: str | None = text("The topic.", shown="NAME")

    topics = verb("topics", Flags, run, "Create, delete, describe or change topics.")

They are read as Kafka's tools read theirs, so that scripts written for those keep working: a flag may be cut
short as long as it is not ambiguous, and a command line that makes no sense ends with 1 and the complaint as
the first line on standard error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import click

import odradek
from odradek.cli.failures import REPORTED, Ended, Misused, Told, plainly

Flags = TypeVar("Flags")

ARGUMENTS = "arguments"  # of click's context: what stood on the command line
KAFKA_VERSION = "3.9.2"  # whose tools these are like
_SPEC = "flag"


@dataclasses.dataclass(frozen=True, slots=True)
class _Spec:
    help: str
    shown: str | None  # how its value is called in the help text
    kind: click.types.StringParamType | click.types.IntParamType | None  # None: it takes no value
    names: tuple[str, ...]  # instead of its field's
    is_repeated: bool = False
    alone: object = None  # what it means without a value, where it may stand so
    is_hidden: bool = False


# -- kinds of flags: each is the default of a field --------------------------------------------------------


def switch(help: str, *names: str) -> bool:
    made: bool = dataclasses.field(default=False, metadata={_SPEC: _Spec(help, None, None, names)})
    return made


def text(help: str, *names: str, shown: str = "TEXT", alone: str | None = None) -> str | None:
    spec = _Spec(help, shown, click.STRING, names, alone=alone)
    made: str | None = dataclasses.field(default=None, metadata={_SPEC: spec})
    return made


def texts(help: str, *names: str, shown: str = "TEXT") -> tuple[str, ...]:
    spec = _Spec(help, shown, click.STRING, names, is_repeated=True)
    made: tuple[str, ...] = dataclasses.field(default=(), metadata={_SPEC: spec})
    return made


def words(help: str, *names: str, default: str, shown: str = "TEXT") -> str:
    spec = _Spec(f"{help} Without it: {default}.", shown, click.STRING, names)
    made: str = dataclasses.field(default=default, metadata={_SPEC: spec})
    return made


def number(help: str, *names: str, shown: str = "NUMBER") -> int | None:
    spec = _Spec(help, shown, click.INT, names)
    made: int | None = dataclasses.field(default=None, metadata={_SPEC: spec})
    return made


def count(help: str, *names: str, default: int, shown: str = "NUMBER") -> int:
    spec = _Spec(f"{help} Without it: {default}.", shown, click.INT, names)
    made: int = dataclasses.field(default=default, metadata={_SPEC: spec})
    return made


def idle(*names: str, shown: str = "TEXT") -> str | None:
    """Taken because Kafka's tool takes it; it changes nothing here."""
    spec = _Spec("Taken, without effect.", shown, click.STRING, names, is_hidden=True)
    made: str | None = dataclasses.field(default=None, metadata={_SPEC: spec})
    return made


# -- the command -------------------------------------------------------------------------------------------


class Verb(click.Command):
    """Complains in the words of Kafka's tools."""

    complaint = ""  # what begins each

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)
        if not args:
            raise Misused(self.get_help(ctx))
        try:
            return super().parse_args(ctx, list(self._spelled_out(ctx, args)))
        except click.NoSuchOption as unknown:
            said = f"{unknown.option_name.lstrip('-')} is not a recognized option"
        except click.BadOptionUsage as bare:
            said = f"Option {bare.option_name.lstrip('-')} requires an argument"
        except click.UsageError as bad:
            said = bad.format_message()
        raise Misused(self.complaint + said)

    def _spelled_out(self, ctx: click.Context, args: Iterable[str]) -> Iterator[str]:
        """--boot is --bootstrap-server where nothing else begins so."""
        known = [name for each in self.get_params(ctx) for name in each.opts if name.startswith("--")]
        for arg in args:
            name, equals, value = arg.partition("=")
            found = [each for each in known if each.startswith(name)] if name.startswith("--") else []
            is_short = name not in known and len(name) > 2 and len(found) == 1
            yield found[0] + equals + value if is_short else arg


def verb(
    name: str,
    flags: type[Flags],
    run: Callable[[Flags], None],
    *,
    help: str,
    failing: Callable[[Exception, Sequence[str]], Told] = plainly,
    complaint: str = "",
    arguments: Sequence[click.Argument] = (),
) -> click.Command:
    """The command `name`: reads the flags into their class and runs with them."""

    def callback(**values: object) -> None:
        try:
            run(flags(**values))
        except REPORTED as failure:
            raise Ended(failing(failure, click.get_current_context().meta[ARGUMENTS])) from failure

    made = Verb(name, params=[*arguments, *_options(flags), _version()], callback=callback, help=help)
    made.complaint = complaint
    return made


def _version() -> click.Option:
    """Scripts take the first word for Kafka's version."""

    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            click.echo(f"{KAFKA_VERSION} (Odradek {odradek.__version__})")
            context.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show the version.",
    )


def _options(flags: type[object]) -> Iterator[click.Option]:
    fields = dataclasses.fields(flags)  # type: ignore[arg-type]
    for field in sorted(fields, key=lambda each: each.name in _inherited(flags)):
        spec = field.metadata.get(_SPEC)
        if spec is not None:
            names = spec.names or (f"--{field.name.replace('_', '-')}",)
            yield _option([field.name, *names], spec, field.default)


def _inherited(flags: type[object]) -> set[str]:
    """What verbs share, which help texts show last."""
    return {
        field.name
        for base in flags.__mro__[1:]
        if dataclasses.is_dataclass(base)
        for field in dataclasses.fields(base)
    }


def _option(names: list[str], spec: _Spec, default: object) -> click.Option:
    if spec.kind is None:
        return click.Option(names, is_flag=True, help=spec.help)
    if spec.alone is not None:
        return click.Option(
            names, is_flag=False, flag_value=spec.alone, type=spec.kind, metavar=spec.shown, help=spec.help
        )
    return click.Option(
        names,
        type=spec.kind,
        metavar=spec.shown,
        help=spec.help,
        multiple=spec.is_repeated,
        default=default or None,
        hidden=spec.is_hidden,
    )
