"""The verbs and their help. A verb's file is imported when the verb is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from odradek import __version__

# What each verb does. Its command is the function of its name in the file of its name.
VERBS: Mapping[str, str] = {
    "start": "Run a broker.",
    "dump": "Print what the files of a data directory hold.",
    "config": "Print the reference of all settings.",
    "topics": "Create, delete, describe or change topics.",
    "configs": "Show and change settings.",
    "get-offsets": "Show where logs begin and end.",
    "delete-records": "Delete the oldest records of partitions.",
    "log-dirs": "Show the data directories of brokers.",
    "broker-api-versions": "Show what each broker can be asked.",
    "cluster": "Show the cluster's id, or forget a broker.",
    "consumer-groups": "Show groups, their members and their lag; delete groups; let them go on elsewhere.",
    "explain-group": "Say in plain words why a group does or does not progress.",
    "transactions": "Show transactions and their producers, find those that hang, and end them.",
    "zookeeper": "Run a real ZooKeeper, or look into one.",
    "console-producer": "Lines in, records out.",
    "console-consumer": "Records in, lines out.",
    "producer-perf-test": "Measure how fast records can be sent.",
    "consumer-perf-test": "Measure how fast records can be consumed.",
    "e2e-latency": "Measure how long a record takes from producer to consumer.",
    "verifiable-producer": "Send numbers that grow, and say in JSON what became of each.",
    "verifiable-consumer": "Consume in a group, and say in JSON what it was given.",
}


class Verbs(click.Group):
    """Lists verbs without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(import_module(f"odradek.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs)
@click.version_option(__version__, prog_name="odradek")
def main() -> None:
    """Apache Kafka's log in Python."""
