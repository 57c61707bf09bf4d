"""Makes these recordings anew: `python capture.py CLASSPATH [VERB...]`. README.md says more."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from click.testing import CliRunner

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.compatibility.kafka import SMALL_JVM, Kafka, start_kafka  # noqa: E402
from tests.golden.cli.bystanders import Bystanders  # noqa: E402
from tests.golden.cli.recordings import LUCK, Case, Recording, read, write  # noqa: E402

from odradek.cli.main import main  # noqa: E402
from odradek.cli.reach import Reach  # noqa: E402
from odradek.client.connections import Connector, PeerConnector  # noqa: E402
from odradek.client.settings import ClientSettings  # noqa: E402
from odradek.runtime.clock import SystemClock  # noqa: E402
from odradek.testing.recorded_cluster import Exchange, Recorder  # noqa: E402
from odradek.testing.sim_entropy import SeededEntropy  # noqa: E402

TOOLS = {
    "topics": "org.apache.kafka.tools.TopicCommand",
    "configs": "kafka.admin.ConfigCommand",
    "get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "cluster": "org.apache.kafka.tools.ClusterTool",
    "broker-api-versions": "kafka.admin.BrokerApiVersionsCommand",
    "console-producer": "kafka.tools.ConsoleProducer",
    "console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "transactions": "org.apache.kafka.tools.TransactionsCommand",
}
SETTINGS = {
    "transaction.partition.verification.enable": "false"
}  # or else no transaction could be left behind
UNRECORDED = ("console-producer", "console-consumer")  # what librdkafka says to the cluster
HOME = Path("/tmp/kafka-golden")  # data directories are named in what log-dirs prints
BROKERS = 3
DOINGS = ("join", "leave", "keep", "commit", "open", "close", "hang")  # of bystanders
SETTLES_WITHIN_S = 0.7  # until every broker has heard of a change
LOG4J = """log4j.rootLogger=WARN, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%p %m (%c)%n
"""


def capture(kafka: Kafka, verb: str) -> None:
    path = HERE / f"{verb}.txt"
    recording = Recording(kafka.bootstrap, read(path).cases)
    bystanders = Bystanders(kafka.bootstrap)
    for number, case in enumerate(recording.cases):
        file, topic = kafka.home / "FILE", f"{verb}-{number}"
        file.write_text(case.input)
        arguments = case.command_line(kafka.bootstrap, file, topic)
        prepare(kafka, bystanders, case, topic)
        run_theirs(kafka, TOOLS[verb], case, arguments)
        if verb not in UNRECORDED:
            prepare(kafka, bystanders, case, topic)
            case.exchanges, case.now_ms = run_ours([verb, *arguments])
        print(f"{verb}: {case.name}: exit {case.exit}, {case.out.count(chr(10))} lines")
    write(path, recording)


def prepare(kafka: Kafka, bystanders: Bystanders, case: Case, topic: str) -> None:
    if case.before:
        time.sleep(SETTLES_WITHIN_S)  # after whatever was done last
    for line in case.before:
        arguments = shlex.split(line.replace("TOPIC", topic))
        if arguments[0] == "produce":
            produce(kafka, *arguments[1:])
            continue
        if arguments[0] in DOINGS:
            getattr(bystanders, arguments[0])(*arguments[1:])
            continue
        if arguments[0] == "console-producer":
            more = ["--bootstrap-server", kafka.bootstrap]
            java(kafka, TOOLS["console-producer"], [*arguments[1:], *more], stdin=case.input)
            continue
        ran = CliRunner().invoke(main, [*arguments, "--bootstrap-server", kafka.bootstrap])
        assert ran.exit_code == 0, f"{line}: {ran.output}"
        time.sleep(SETTLES_WITHIN_S)


def produce(kafka: Kafka, topic: str, *records: str) -> None:
    """Records as KEY:VALUE, by the console producer."""
    command = ["--bootstrap-server", kafka.bootstrap, "--topic", topic]
    command += ["--property", "parse.key=true", "--property", "key.separator=:"]
    java(kafka, "kafka.tools.ConsoleProducer", command, stdin="".join(f"{each}\n" for each in records))


def run_theirs(kafka: Kafka, tool: str, case: Case, arguments: list[str]) -> None:
    ran = java(kafka, tool, arguments, stdin=case.input)
    case.exit = ran.returncode
    case.out = ran.stdout
    case.err = next((line for line in ran.stderr.splitlines() if "clientId=" not in line), None)


def java(kafka: Kafka, tool: str, arguments: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    log4j = kafka.home / "log4j.properties"
    log4j.write_text(LOG4J)
    command = ["java", *SMALL_JVM, f"-Dlog4j.configuration=file:{log4j}", "-cp", kafka.jars, tool, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)


class StoppedClock:
    """Says the same however often it is asked, and knows whether it was."""

    def __init__(self) -> None:
        self._now_ms = SystemClock().wall_ms()
        self.said_ms: int | None = None

    def wall_ms(self) -> int:
        self.said_ms = self._now_ms
        return self._now_ms

    def monotonic(self) -> float:
        return 0


def run_ours(arguments: list[str]) -> tuple[list[Exchange], int | None]:
    """What was asked and answered, and when, if that mattered."""
    recorders: list[Recorder] = []
    clock = StoppedClock()

    def connector(settings: ClientSettings) -> Connector:
        recorders.append(Recorder(PeerConnector(settings)))
        return recorders[-1]

    CliRunner().invoke(main, arguments, obj=Reach(connector, clock, SeededEntropy(LUCK)))
    return [each for recorder in recorders for each in recorder.exchanges], clock.said_ms


if __name__ == "__main__":
    shutil.rmtree(HOME, ignore_errors=True)
    with start_kafka(sys.argv[1], HOME, brokers=BROKERS, settings=SETTINGS) as running:
        for name in sys.argv[2:] or TOOLS:
            capture(running, name)
    shutil.rmtree(HOME)
