"""Real brokers of Apache Kafka as child processes, on loopback, with small heaps.

One ZooKeeper serves all releases that need one, a chroot for each cluster; a KRaft cluster has one
node that is broker and controller. Every process started here is stopped by its process id.
"""

import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.kafka.jars import Release, jars_of, java

START_SECONDS = 90
HEAP = ["-Xmx512m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
CLUSTER_ID = "cm9sbGNhbGwtdGVzdHMtMQ"
LOG4J1 = "log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
LOG4J1 += "log4j.appender.out.layout=org.apache.log4j.SimpleLayout\n"
LOG4J1 += "log4j.logger.kafka.request.logger=DEBUG, requests\n"
LOG4J1 += "log4j.appender.requests=org.apache.log4j.FileAppender\n"
LOG4J1 += "log4j.appender.requests.File=kafka-request.log\n"
LOG4J1 += "log4j.appender.requests.layout=org.apache.log4j.PatternLayout\n"
LOG4J1 += "log4j.appender.requests.layout.ConversionPattern=[%d] %p %m (%c)%n\n"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Process:
    """One JVM and its output."""

    name: str
    port: int
    command: list[str]
    home: Path
    log: Path = field(init=False)
    child: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.log = self.home / "stdout.log"
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as out:
            self.child = subprocess.Popen(
                self.command,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    @property
    def request_log(self) -> Path:
        """The request log in Kafka's own layout, which releases before 4.0 write here."""
        return self.home / "kafka-request.log"

    def wait_until_listening(self, seconds: float = START_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.child.poll() is not None:
                break
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        output = self.log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise AssertionError(f"{self.name} did not start:\n{output}")

    def stop(self) -> None:
        if self.child.poll() is None:
            self.child.kill()  # no data is worth a clean shutdown
        self.child.wait(timeout=30)

    def pause(self) -> None:
        self.child.send_signal(19)  # SIGSTOP: the port is open, nothing responds

    def resume(self) -> None:
        self.child.send_signal(18)


@dataclass
class Machine:
    """The processes of one test run and their directory."""

    directory: Path
    processes: list[Process] = field(default_factory=list)

    def start(
        self, name: str, release: Release, main: str, port: int, settings: Mapping[str, object]
    ) -> Process:
        home = self.directory / name
        home.mkdir(parents=True)
        config = home / "server.properties"
        config.write_text("".join(f"{k}={v}\n" for k, v in settings.items()), encoding="utf-8")
        process = Process(name, port, [*self.java(release), main, str(config)], home)
        self.processes.append(process)
        return process

    def java(self, release: Release) -> list[str]:
        log4j = self.directory / "log4j.properties"
        log4j.write_text(LOG4J1, encoding="utf-8")
        options = [f"-Dlog4j.configuration=file:{log4j}", "-Dzookeeper.jmx.log4j.disable=true"]
        return [java(), *HEAP, *options, "-cp", f"{jars_of(release)}/*"]

    def zookeeper(self, release: Release) -> Process:
        port = free_port()
        settings = {
            "dataDir": self.directory / "zookeeper-data",
            "clientPort": port,
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
        }
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        return self.start("zookeeper", release, main, port, settings)

    def zookeeper_broker(
        self, release: Release, broker: int, zookeeper: Process, chroot: str, **more: object
    ) -> Process:
        port = free_port()
        address = {"host.name": "127.0.0.1", "port": port}
        if not release.version.startswith("0.8"):
            address = {"listeners": f"PLAINTEXT://127.0.0.1:{port}"}
        settings = {
            "broker.id": broker,
            **address,
            "zookeeper.connect": f"127.0.0.1:{zookeeper.port}/{chroot}",
            **self._common(f"{chroot}-{broker}"),
            **more,
        }
        return self.start(
            f"kafka-{release.version}-{chroot}-{broker}", release, "kafka.Kafka", port, settings
        )

    def kraft_node(
        self,
        release: Release,
        node: int,
        *,
        controller: int | None = None,
        metadata_version: str | None = None,
        more_listeners: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
        format_options: Iterable[str] = (),
    ) -> tuple[Process, int]:
        """The node and the port of the controller: its own or the given one."""
        port, own = free_port(), controller is None
        controller = controller or free_port()
        listeners = {"PLAINTEXT": f"127.0.0.1:{port}", **(more_listeners or {})}
        if own:
            listeners["CONTROLLER"] = f"127.0.0.1:{controller}"
        settings = {
            "process.roles": "broker,controller" if own else "broker",
            "node.id": node,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(f"{name}://{address}" for name, address in listeners.items()),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,"
            "SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL",
            **self._common(f"kraft-{release.version}-{controller}-{node}"),
            **(more or {}),
        }
        name = f"kafka-{release.version}-kraft-{controller}-{node}"
        options = ["--release-version", metadata_version] if metadata_version else []
        self._format(release, name, settings, [*options, *format_options])
        return self.start(name, release, "kafka.Kafka", port, settings), controller

    def _format(
        self, release: Release, name: str, settings: Mapping[str, object], options: Iterable[str]
    ) -> None:
        config = self.directory / f"{name}.format.properties"
        config.write_text("".join(f"{k}={v}\n" for k, v in settings.items()), encoding="utf-8")
        done = subprocess.run(
            [
                *self.java(release), "kafka.tools.StorageTool", "format",
                "-t", CLUSTER_ID, "-c", str(config), *options,
            ],
            capture_output=True, text=True, check=False, timeout=START_SECONDS,
            stdin=subprocess.DEVNULL, cwd=self.directory,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def _common(self, name: str) -> dict[str, object]:
        return {
            "log.dirs": self.directory / "data" / name,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "num.network.threads": 2,
            "num.io.threads": 2,
            "log.cleaner.enable": "false",
            "zookeeper.connection.timeout.ms": 30000,
        }

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.stop()
