"""Logs and tables on a real HDFS: a NameNode and a DataNode, on loopback."""

import gzip
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import pyspark
import pytest

from rollcall.pipeline.spark.config import SMALL_JOB, SMALL_JOB_JVM
from rollcall.pipeline.spark.errors import CHECK_FILE_SYSTEM
from tests.kafka.brokers import HEAP, START_SECONDS, Process, free_port
from tests.kafka.jars import Artifact, jars_for_spark, java
from tests.pipeline.running import OLD, lines, put, sums

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

# The version of Spark's Hadoop, whose jars hold everything else the servers need.
SERVERS = Artifact("org.apache.hadoop", "hadoop-client-minicluster", "3.5.0")
MAIN = "org.apache.hadoop.hdfs.server"
PLAIN, PACKED = "b1/request.log.1", "b2/request.log.2.gz"
LOGS = {PLAIN: lines(30).encode(), PACKED: gzip.compress(lines(20, first=30).encode())}
CREATE = """
import sys
from rollcall.pipeline.sources.hadoop import Hadoop, HadoopStore
from rollcall.pipeline.spark.session import open_session
from rollcall.pipeline.spark.config import SessionConfig
with open_session(SessionConfig(small=True)) as spark:
    print(HadoopStore(Hadoop(spark), sys.argv[1]).create("a.json", b"mine"))
"""
ENDS_SECONDS = 60
"""Upper bound for a run that lost HDFS; it fails much earlier."""


@dataclass
class Hdfs:
    """NameNode and DataNode processes, read and written over WebHDFS."""

    home: Path
    port: int = field(default_factory=free_port)
    web: int = field(default_factory=free_port)
    nodes: list[Process] = field(default_factory=list)

    def at(self, path: str) -> str:
        return f"hdfs://127.0.0.1:{self.port}{path}"

    def command(self, main: str, *words: str) -> list[str]:
        settings = {
            "fs.defaultFS": self.at(""),
            "hadoop.tmp.dir": self.home,
            "dfs.namenode.http-address": f"127.0.0.1:{self.web}",
            **{f"dfs.datanode.{name}address": "127.0.0.1:0" for name in ("", "http.", "ipc.")},
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.replication": 1,
            "dfs.permissions.enabled": "false",
            "dfs.namenode.safemode.extension": 0,
            # small blocks, so that a log of a few lines spans several and blocks end within lines
            "dfs.namenode.fs-limits.min-block-size": 4096,
            "dfs.blocksize": 4096,
        }
        jars = f"{jars_for_spark('hdfs', [SERVERS])}:{Path(pyspark.__file__).parent}/jars/*"
        options = [f"-D{name}={value}" for name, value in settings.items()]
        return [java(), *HEAP, "-cp", jars, f"{MAIN}.{main}", *options, *words]

    def format(self) -> None:
        words = self.command("namenode.NameNode", "-format", "-nonInteractive")
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=START_SECONDS
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        for main in ("namenode.NameNode", "datanode.DataNode"):
            home = self.home / main
            home.mkdir(exist_ok=True)
            self.nodes.append(Process(main, self.port, self.command(main), home))
        wait_until(self.takes_files, *(node.child for node in self.nodes))

    def stop(self) -> None:
        while self.nodes:
            self.nodes.pop().stop()

    def takes_files(self) -> bool:
        try:
            self.put("/is-it-up", b"yes")
        except (URLError, ConnectionError):
            return False
        return True

    def ask(self, method: str, path: str, op: str, **more: object) -> dict[str, Any]:
        query = urlencode({"op": op, "noredirect": "true", **more})
        url = f"http://127.0.0.1:{self.web}/webhdfs/v1{path}?{query}"
        answer: dict[str, Any] = json.loads(_http(method, url) or b"{}")
        return answer

    def put(self, path: str, content: bytes) -> None:
        where = self.ask("PUT", path, "CREATE", overwrite="true")["Location"]
        _http("PUT", where, content)
        self.make_old(path)

    def append(self, path: str, content: bytes) -> None:
        _http("POST", self.ask("POST", path, "APPEND")["Location"], content)
        self.make_old(path)

    def make_old(self, path: str) -> None:
        self.ask("PUT", path, "SETTIMES", modificationtime=int((time.time() - OLD) * 1000))

    def rename(self, path: str, to: str) -> None:
        assert self.ask("PUT", path, "RENAME", destination=to) == {"boolean": True}

    def has(self, path: str) -> bool:
        try:
            return bool(self.ask("GET", path, "GETFILESTATUS"))
        except URLError:
            return False

    def fetch(self, path: str, directory: Path) -> Path:
        """Copy a directory to the local disk, as `hdfs dfs -get` does."""
        directory.mkdir()
        for found in self.ask("GET", path, "LISTSTATUS")["FileStatuses"]["FileStatus"]:
            name = found["pathSuffix"]
            if found["type"] == "DIRECTORY":
                self.fetch(f"{path}/{name}", directory / name)
            else:
                where = self.ask("GET", f"{path}/{name}", "OPEN")["Location"]
                (directory / name).write_bytes(_http("GET", where))
        return directory


def _http(method: str, url: str, body: bytes | None = None) -> bytes:
    kind = {"Content-Type": "application/octet-stream"}
    with urlopen(Request(url, body, kind, method=method), timeout=30) as answer:
        content: bytes = answer.read()
        return content


def wait_until(true: Callable[[], bool], *alive: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not true():
        assert time.monotonic() < deadline
        assert [process.poll() for process in alive] == [None] * len(alive)
        time.sleep(0.05)


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    hdfs = Hdfs(tmp_path_factory.mktemp("hdfs"))
    hdfs.format()
    try:
        hdfs.start()
        yield hdfs
    finally:
        hdfs.stop()


def command(*words: str, **conf: object) -> list[str]:
    settings = {**SMALL_JOB, "spark.driver.extraJavaOptions": SMALL_JOB_JVM, **conf}
    given = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    program = [sys.executable, "-m", "rollcall"]
    return [*program, "pipeline", *words, *given]


def rollcall(*words: str, **conf: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words, **conf), capture_output=True, text=True, check=False, timeout=300
    )


def run_json(*words: str, **conf: object) -> dict[str, Any]:
    done = rollcall(*words, "--json", **conf)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def put_logs(hdfs: Hdfs, tables: str) -> list[str]:
    """The command that reads these logs into tables next to them."""
    for name, content in LOGS.items():
        hdfs.put(f"{tables}-logs/{name}", content)
    return ["run", hdfs.at(f"{tables}-logs"), "--tables", hdfs.at(tables)]


@contextmanager
def in_the_middle(hdfs: Hdfs, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A run that has started to write its tables and has not committed them."""
    tables = words[words.index("--tables") + 1].removeprefix(hdfs.at(""))
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: hdfs.has(f"{tables}/parts"), process)
            process.send_signal(signal.SIGSTOP)
            assert not hdfs.has(f"{tables}/manifests")
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, ...]]]:
    """Content of the tables when logs and tables are local files."""
    home = tmp_path_factory.mktemp("local")
    for name, content in LOGS.items():
        put(home / "logs" / name, gzip.decompress(content) if name == PACKED else content)
    assert run_json("run", str(home / "logs"), "--tables", str(home / "tables"))["requests"] == 50
    return sums(home / "tables")


def test_logs_on_hdfs_give_the_same_tables_as_local_logs_also_after_renames(
    hdfs: Hdfs, expected: object, tmp_path: Path
) -> None:
    logs, where = hdfs.at("/logs"), ["--tables", hdfs.at("/tables")]
    cut = len(LOGS[PLAIN]) - len(lines(10).encode()) - 200
    hdfs.put(f"/logs/{PLAIN}", LOGS[PLAIN][:cut])
    hdfs.put(f"/logs/{PACKED}", LOGS[PACKED])
    first = run_json("run", logs, *where)
    assert (first["files"], first["requests"], first["rejected"]) == (2, 39, 0)

    hdfs.rename(f"/logs/{PACKED}", "/logs/b2/request.log.3.gz")
    hdfs.append(f"/logs/{PLAIN}", LOGS[PLAIN][cut:])
    here = {"spark.hadoop.fs.defaultFS": hdfs.at("")}
    second = run_json("run", logs, f"{logs}/{PLAIN}", "--tables", "hdfs:///tables", **here)
    assert (second["requests"], second["already_read"]) == (11, 1)
    assert sums(hdfs.fetch("/tables", tmp_path / "read")) == expected

    run_json("compact", *where)
    assert sums(hdfs.fetch("/tables", tmp_path / "compacted")) == expected


def test_second_writer_is_refused_until_the_first_is_killed(
    hdfs: Hdfs, expected: object, tmp_path: Path
) -> None:
    words = put_logs(hdfs, "/killed")
    with in_the_middle(hdfs, *words) as first:
        second = rollcall(*words)
        assert second.returncode == 1
        told_who = f"(process {first.pid} on {socket.gethostname()}) is writing to"
        assert f"{told_who} {hdfs.at('/killed')}\nhint: wait until it is done" in second.stderr
    assert first.returncode == -signal.SIGKILL
    assert run_json(*words)["requests"] == 50
    assert sums(hdfs.fetch("/killed", tmp_path / "killed")) == expected


def test_file_being_created_by_another_client_already_exists(hdfs: Hdfs) -> None:
    where = urlsplit(hdfs.ask("PUT", "/store/a.json", "CREATE")["Location"])
    with closing(HTTPConnection(where.netloc, timeout=30)) as other:
        other.putrequest("PUT", f"{where.path}?{where.query}")
        other.putheader("Content-Length", "6")
        other.endheaders(b"the")
        wait_until(lambda: hdfs.has("/store/a.json"))
        words = [sys.executable, "-c", CREATE, hdfs.at("/store")]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        assert done.stdout == "False\n", done.stderr
        other.send(b"irs")
        assert other.getresponse().status == 201


def test_run_that_loses_hdfs_fails_soon_and_continues_when_hdfs_is_back(
    hdfs: Hdfs, expected: object, tmp_path: Path
) -> None:
    words = put_logs(hdfs, "/left")
    with in_the_middle(hdfs, *words) as process:
        hdfs.stop()
        process.send_signal(signal.SIGCONT)
        _, output = process.communicate(timeout=ENDS_SECONDS)
    assert process.returncode == 1
    assert output.startswith("error: ")
    assert output.endswith(f"\nhint: {CHECK_FILE_SYSTEM}\n")
    hdfs.start()
    assert run_json(*words)["requests"] == 50
    assert sums(hdfs.fetch("/left", tmp_path / "left")) == expected


def test_missing_hdfs_is_an_error_with_a_hint(tmp_path: Path) -> None:
    logs = f"hdfs://127.0.0.1:{free_port()}/logs"
    done = rollcall("run", logs, "--tables", str(tmp_path / "tables"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {logs} cannot be read: java.net.ConnectException")
    assert done.stderr.endswith(f"\nhint: {CHECK_FILE_SYSTEM}\n")
    assert not (tmp_path / "tables").exists()


def test_unresponsive_hdfs_times_out(tmp_path: Path) -> None:
    log = put(tmp_path / "a.log", lines(1))
    with socket.create_server(("127.0.0.1", 0), backlog=0) as unresponsive:
        port = unresponsive.getsockname()[1]
        # the accept queue is full: a new connection gets no response
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        began = time.monotonic()
        soon = {"spark.hadoop.ipc.client.connect.timeout": 1000}
        done = rollcall("run", str(log), "--tables", f"hdfs://127.0.0.1:{port}/tables", **soon)
        for each in waiting:
            each.close()
    assert done.returncode == 1
    assert "ConnectTimeoutException" in done.stderr
    assert done.stderr.endswith(f"\nhint: {CHECK_FILE_SYSTEM}\n")
    assert time.monotonic() - began < ENDS_SECONDS
