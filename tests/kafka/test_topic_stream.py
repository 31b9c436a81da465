"""A topic of a real broker as the source, through Spark's Kafka connector."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from rollcall.pipeline.spark.config import SMALL_JOB, SMALL_JOB_JVM
from tests.kafka.brokers import Machine, Process
from tests.kafka.jars import Artifact, Release, jars_for_spark
from tests.pipeline.running import line, lines, put, requests, sums

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

TOPIC = "request-logs"
SOON = {"kafka.request.timeout.ms": "3000", "kafka.default.api.timeout.ms": "4000"}
"""Consumer settings with short timeouts."""
# Published artifacts that work together with the pinned Spark.
CONNECTOR = (
    Artifact("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0"),
    Artifact("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    Artifact("org.apache.kafka", "kafka-clients", "3.9.2"),
    Artifact("org.apache.commons", "commons-pool2", "2.13.1"),
)


@pytest.fixture(scope="module")
def connector() -> str:
    """The jars of Spark's Kafka connector, as a comma-separated list."""
    return jars_for_spark("spark-connector", CONNECTOR)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    machine = Machine(tmp_path_factory.mktemp("kafka"))
    try:
        node, _ = machine.kraft_node(Release("4.3.0"), 1, more={"num.partitions": 2})
        node.wait_until_listening()
        yield node
    finally:
        machine.stop()


def send(broker: Process, topic: str, values: list[str]) -> None:
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{broker.port}"})
    for number, value in enumerate(values):
        producer.produce(topic, value.encode(), partition=number % 2)
    assert producer.flush(60) == 0


def command(*arguments: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "rollcall",
        "pipeline",
        *arguments,
    ]


def stream(broker: Process, topic: str, tables: Path, connector: str, *more: str) -> list[str]:
    source = f"kafka://127.0.0.1:{broker.port}/{topic}"
    conf = {**SMALL_JOB, **SOON, "spark.jars": connector}
    conf["spark.driver.extraJavaOptions"] = SMALL_JOB_JVM
    settings = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    where = ["--tables", str(tables), "--master", "local[2]"]
    return command("stream", source, *where, *settings, *more)


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=400)


def wait_for_a_commit(tables: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while not list((tables / "manifests").glob("*.json")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_stream_fails_when_its_broker_stops_and_continues_later(
    broker: Process, connector: str, tmp_path: Path
) -> None:
    tables = tmp_path / "topic"
    send(broker, TOPIC, [line(number) for number in range(20)])
    words = stream(broker, TOPIC, tables, connector, "--trigger", "1s")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        wait_for_a_commit(tables, process)
        broker.stop()
        _, printed = process.communicate(timeout=300)
    assert process.returncode == 1
    assert f"error: the stream of kafka://127.0.0.1:{broker.port}/{TOPIC} failed" in printed
    assert "continues where it stopped" in printed
    broker.start()
    broker.wait_until_listening()
    send(broker, TOPIC, [line(number) for number in range(20, 40)])
    result = run(stream(broker, TOPIC, tables, connector, "--trigger", "once"))
    assert result.returncode == 0, result.stderr
    log = put(tmp_path / "a.log", lines(40))
    result = run(command("run", str(log), "--tables", str(tmp_path / "file")))
    assert result.returncode == 0, result.stderr
    assert sums(tables) == sums(tmp_path / "file")


def test_killed_stream_continues_and_counts_each_line_once(
    broker: Process, connector: str, tmp_path: Path
) -> None:
    topic, tables = "killed", tmp_path / "tables"
    envelope = [json.dumps({"message": line(n), "host": {"name": f"b{n % 3}"}}) for n in range(60)]
    send(broker, topic, envelope[:30])
    fields = ["--line-field", "message", "--broker-field", "host.name"]
    words = stream(broker, topic, tables, connector, "--trigger", "1s", *fields)
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, text=True) as process:
        wait_for_a_commit(tables, process)
        process.send_signal(signal.SIGKILL)
    send(broker, topic, envelope[30:])
    words = stream(broker, topic, tables, connector, "--trigger", "once", *fields)
    result = run([word.replace("127.0.0.1", "localhost") for word in words])  # another address
    assert result.returncode == 0, result.stderr
    assert requests(tables) == 60


def test_missing_broker_is_an_error_with_a_hint(connector: str, tmp_path: Path) -> None:
    gone = Process.__new__(Process)
    gone.port = 1
    result = run(stream(gone, TOPIC, tmp_path / "tables", connector, "--trigger", "once"))
    assert result.returncode == 1
    assert "error: the stream of kafka://127.0.0.1:1/request-logs failed" in result.stderr
    assert "check that the broker is up and the topic exists" in result.stderr
