"""Flags are read as Kafka's tools read theirs."""

from __future__ import annotations

from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner

from odradek.cli.failures import Impossible, Told
from odradek.cli.flags import count, idle, number, switch, text, texts, verb, words


@dataclass(frozen=True, kw_only=True)
class Shared:
    bootstrap_server: str | None = text("Where.", "--bootstrap-server", "-b")


@dataclass(frozen=True, kw_only=True)
class Flags(Shared):
    create: bool = switch("Do it.")
    topic: str | None = text("Which.")
    topic_id: str | None = text("Which.")
    config: tuple[str, ...] = texts("How.")
    codec: str | None = text("How.", alone="gzip")
    size: int = count("How large.", default=7)
    most: int | None = number("How many.")
    acks: str = words("Who.", default="-1")
    producer_config: str | None = text("A file.", "--producer.config")
    ignored: str | None = idle()
    rest: tuple[str, ...] = ()


def asked(*arguments: str) -> Flags:
    seen: list[Flags] = []
    command = verb("v", Flags, seen.append, help="A verb.", arguments=[click.Argument(["rest"], nargs=-1)])
    ran = CliRunner().invoke(command, arguments)
    assert ran.exit_code == 0, ran.output
    return seen[0]


def complaint(*arguments: str) -> str:
    ran = CliRunner().invoke(verb("v", Flags, lambda _: None, help="A verb.", complaint="! "), arguments)
    assert ran.exit_code == 1
    assert ran.stdout == ""
    return ran.stderr.partition("\n")[0]


def test_what_is_not_given_has_its_default() -> None:
    assert asked("--create") == Flags(create=True)
    assert Flags().size == 7
    assert Flags().acks == "-1"


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (("--topic", "t"), Flags(topic="t")),
        (("--topic=t",), Flags(topic="t")),
        (("--config", "a=1", "--config=b=2"), Flags(config=("a=1", "b=2"))),
        (("-b", "h:1"), Flags(bootstrap_server="h:1")),
        (("--boot", "h:1"), Flags(bootstrap_server="h:1")),
        (("--boot=h:1",), Flags(bootstrap_server="h:1")),
        (("--producer.config", "f"), Flags(producer_config="f")),
        (("--codec", "zstd"), Flags(codec="zstd")),
        (("--codec", "--create"), Flags(codec="gzip", create=True)),
        (("--size", "3", "--most", "-1"), Flags(size=3, most=-1)),
        (("--ignored", "x"), Flags(ignored="x")),
        (("--config", "a=1", "b=2", "c=3"), Flags(config=("a=1",), rest=("b=2", "c=3"))),
    ],
)
def test_flags_have_their_values(arguments: tuple[str, ...], flags: Flags) -> None:
    assert asked(*arguments) == flags


def test_a_whole_name_is_no_cut_short_one() -> None:
    assert asked("--topic", "t").topic_id is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--bogus",), "! bogus is not a recognized option"),
        (("--topi", "t"), "! topi is not a recognized option"),
        (("--topic",), "! Option topic requires an argument"),
        (("stray",), "! Got unexpected extra argument (stray)"),
    ],
)
def test_what_makes_no_sense_is_said_on_the_first_line(arguments: tuple[str, ...], said: str) -> None:
    assert complaint(*arguments) == said


def test_help_shows_what_verbs_share_last_and_hides_what_does_nothing() -> None:
    shown = CliRunner().invoke(verb("v", Flags, lambda _: None, help="A verb."), ["--help"]).output
    assert shown.index("--create") < shown.index("--bootstrap-server")
    assert "--ignored" not in shown
    assert "Without it: 7." in shown


def test_the_first_word_of_the_version_is_kafka_s() -> None:
    shown = CliRunner().invoke(verb("v", Flags, lambda _: None, help="A verb."), ["--version"])
    assert (shown.exit_code, shown.stdout.split()[0]) == (0, "3.9.2")


def test_a_failure_is_told_as_the_verb_says() -> None:
    def run(_: Flags) -> None:
        raise Impossible("never")

    command = verb(
        "v", Flags, run, help="", failing=lambda failure, given: Told(f"no: {failure}", f"{given}")
    )
    ran = CliRunner().invoke(command, ["--create"])
    assert (ran.exit_code, ran.stdout, ran.stderr) == (1, "no: never\n", "('--create',)\n")
