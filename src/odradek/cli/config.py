"""`odradek config --describe`: the reference of all settings, printed from where they are declared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import click

from odradek.cli.failures import Misused
from odradek.cli.flags import switch, texts, verb
from odradek.cli.output import json_line


@dataclass(frozen=True, kw_only=True)
class ConfigFlags:
    describe: bool = switch("Print the reference.")
    topics: bool = switch("Only the settings of topics.")
    brokers: bool = switch("Only the settings of brokers.")
    name: tuple[str, ...] = texts("Only these settings.", shown="NAME")
    json: bool = switch("As JSON, one setting a line.")
    markdown: bool = switch("As tables in Markdown.")


def run(flags: ConfigFlags) -> None:
    from odradek.cli.formats.reference import SCOPES, as_json, as_markdown, as_text

    if not flags.describe:
        raise Misused(
            "`odradek config` prints the reference of settings: add --describe. "
            "Settings of a running cluster are shown and changed by `odradek configs`."
        )
    if flags.json and flags.markdown:
        raise Misused("either --json or --markdown")
    wanted = [
        (scope, [each for each in settings.values() if not flags.name or each.name in flags.name])
        for scope, settings in SCOPES.items()
        if getattr(flags, scope) or not (flags.topics or flags.brokers)
    ]
    found = {each.name for _, settings in wanted for each in settings}
    unknown = [each for each in flags.name if each not in found]
    if unknown:
        raise Misused(f"no such setting: {', '.join(unknown)}")
    for scope, settings in wanted:
        if flags.json:
            _print(json_line(as_json(scope, each)) for each in settings)
        else:
            _print(as_markdown(scope, settings) if flags.markdown else as_text(scope, settings))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


config = verb("config", ConfigFlags, run, help="Print the reference of all settings.")
