"""The pipeline on a Spark standalone cluster with two workers."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.processes import next_line, start
from tests.pipeline.running import lines, put, read, rows, sums

pytestmark = pytest.mark.slow

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SECONDS = 240


@contextmanager
def daemon(log: Path, *command: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [SPARK_CLASS, *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1"},
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_for(log: Path, pattern: str) -> list[str]:
    deadline = time.monotonic() + SECONDS
    while not (found := re.findall(pattern, log.read_text(errors="replace"))):
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
        time.sleep(0.2)
    return found


@contextmanager
def cluster(directory: Path) -> Iterator[str]:
    """Start a master and two workers; yield the address of the master."""
    log = directory / "master.log"
    ports = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with ExitStack() as stack:
        stack.enter_context(daemon(log, MASTER, *ports))
        (address,) = wait_for(log, r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            work = str(directory / f"work-{number}")
            size = ["--cores", "1", "--memory", "600m", "--work-dir", work]
            stack.enter_context(
                daemon(directory / f"worker-{number}.log", WORKER, *ports, *size, address)
            )
        for number in (1, 2):
            wait_for(directory / f"worker-{number}.log", r"Successfully registered with master")
        yield address


@pytest.mark.timeout(900)
def test_cluster_of_two_workers_writes_the_same_tables(spark: SparkSession, tmp_path: Path) -> None:
    logs = [
        put(tmp_path / "logs" / name, lines(300, first=number * 300) + "odd\n")
        for number, name in enumerate(["a.log", "b.log.gz", "kafka-request.log"])
    ]
    conf = {
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
    }
    with cluster(tmp_path) as master:
        settings = {"master": master, "tables": str(tmp_path / "cluster"), "conf": conf}
        with start(json.dumps(settings), *logs) as process:
            assert (next_line(process), next_line(process)) == ("ready", "done")
        used = [
            number
            for number in (1, 2)
            if "Launching executor" in (tmp_path / f"worker-{number}.log").read_text()
            or "Asked to launch executor" in (tmp_path / f"worker-{number}.log").read_text()
        ]
    assert used == [1, 2]
    read(spark, tmp_path / "local", *logs)
    assert sums(tmp_path / "cluster") == sums(tmp_path / "local")
    for table, exclude in (("rejects", []), ("files", ["read_at"])):
        assert rows(tmp_path / "cluster", table, exclude) == rows(
            tmp_path / "local", table, exclude
        )
