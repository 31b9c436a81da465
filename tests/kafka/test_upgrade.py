"""Verdicts against reality: real clients, real logs, the report, and the upgraded brokers.

Clients work on brokers of 2.8 and 3.9. Their request logs go through the pipeline, the report says
who breaks at 4.0.0 and at 4.0.1. Then the same clients run against brokers of these releases.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rollcall.catalog import listed_ranges
from rollcall.protocol.dialects import Dialect
from tests.kafka.brokers import Machine, Process
from tests.kafka.client_programs import SECONDS
from tests.kafka.conftest import Cluster
from tests.kafka.jars import Release
from tests.kafka.old_clients import old_kafka_python, old_librdkafka
from tests.kafka.raw_clients import PRODUCE, RawClient, raw_clients
from tests.kafka.schema_files import kafkas_own

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

RUNNING = {"old": "2.8.2", "new": "3.9.1"}
TARGETS = ("4.0.0", "4.0.1")
PROGRAM = Path(__file__).with_name("client_programs.py")
Works = Mapping[str, bool]
"""Whether each client could do its work, by client id."""


@dataclass(frozen=True)
class Application:
    """A program that uses a real client library, in its own process."""

    name: str
    library: str
    role: str
    path: Path | None = None
    directory: Path | None = None
    failures: list[str] = field(default_factory=list, compare=False)

    @property
    def client_id(self) -> str:
        return f"{self.name} {self.role}"

    def works(self, port: int) -> bool:
        """A failure is confirmed by a second run: a busy machine can cause a timeout."""
        return self._does(port) or self._does(port)

    def _does(self, port: int) -> bool:
        words = [sys.executable, str(PROGRAM), self.library, self.role, f"127.0.0.1:{port}"]
        try:
            done = subprocess.run(
                [*words, self.client_id, *([str(self.directory)] if self.directory else [])],
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS * 2,
                env={**os.environ, **({"PYTHONPATH": str(self.path)} if self.path else {})},
            )
        except subprocess.TimeoutExpired:
            self.failures.append("it did not end")
            return False
        self.failures.extend([done.stderr[-1000:]] if done.returncode else [])
        return done.returncode == 0


def both(name: str, library: str, **more: Path) -> Iterator[Application]:
    for role in ("produce", "consume"):
        yield Application(name, library, role, **more)


@pytest.fixture(scope="module")
def applications() -> list[Application]:
    """Current libraries, and the old ones that can be installed."""
    found = [
        *both("librdkafka of today", "confluent-kafka"),
        *both("kafka-python of today", "kafka-python"),
        *both("aiokafka of today", "aiokafka"),
    ]
    with suppress(pytest.skip.Exception):
        found += both("kafka-python 1.4", "kafka-python", path=old_kafka_python())
    with suppress(pytest.skip.Exception):
        found += both("librdkafka 1.3", "librdkafka", directory=old_librdkafka())
    return found


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Dialect:
    return kafkas_own(RUNNING["new"], tmp_path_factory.mktemp("schemas"))


@pytest.fixture(scope="module")
def running(machine: Machine, zookeeper: Process, kafka_3_9: Cluster) -> dict[str, Process]:
    old = machine.zookeeper_broker(Release(RUNNING["old"]), 1, zookeeper, "upgrade")
    old.wait_until_listening()
    return {"old": old, "new": kafka_3_9.brokers[1]}


def at_work(
    port: int, applications: list[Application], raw: list[RawClient], schemas: Dialect
) -> Works:
    """Run all programs. The first two create the topic with a record, and the offsets topic; the
    others run in parallel, because a failure shows only as a timeout."""
    done = [it.works(port) for it in applications[:2]]
    with ThreadPoolExecutor(4) as pool:
        done += pool.map(lambda it: it.works(port), applications[2:])
    return {
        **dict(zip((it.client_id for it in applications), done, strict=True)),
        **{it.client_id: it.works(port, schemas) for it in raw},
    }


@pytest.fixture(scope="module")
def before(
    running: dict[str, Process], applications: list[Application], schemas: Dialect
) -> dict[str, Works]:
    """Outcome of each client on the current brokers."""
    return {
        cluster: at_work(
            broker.port, applications, list(raw_clients(RUNNING[cluster], schemas)), schemas
        )
        for cluster, broker in running.items()
    }


@pytest.fixture(scope="module")
def after(machine: Machine, applications: list[Application], schemas: Dialect) -> dict[str, Works]:
    """Outcome of each client on both targets, in parallel, as most of the time is waiting."""
    raw = list(raw_clients(RUNNING["new"], schemas))
    brokers = [machine.kraft_node(Release(target), 1)[0] for target in TARGETS]
    for broker in brokers:
        broker.wait_until_listening()
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda it: at_work(it.port, applications, raw, schemas), brokers)
        works = dict(zip(TARGETS, found, strict=True))
    for broker in brokers:
        broker.stop()
    return works


@pytest.fixture(scope="module")
def tables(
    running: dict[str, Process], before: dict[str, Works], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Tables made from the request logs of the brokers."""
    directory = tmp_path_factory.mktemp("tables")
    for cluster, broker in running.items():
        words = ["pipeline", "run", str(broker.request_log), "--tables", str(directory)]
        done = rollcall(*words, "--cluster", cluster, "--master", "local[2]")
        assert done.returncode == 0, done.stderr
    return directory


def rollcall(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rollcall", *arguments],
        capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip


def verdicts(
    tables: Path, cluster: str, target: str, field: str = "verdict"
) -> dict[str, str | None]:
    words = ["report", "impact", "--tables", str(tables), "--target", target, "--cluster", cluster]
    done = rollcall(*words, "--all", "--raw-ids", "--json")
    assert done.returncode in (1, 3), done.stderr
    return {row["application"]: row[field] for row in json.loads(done.stdout)["clients"]}


def test_all_clients_work_on_the_current_brokers(
    before: dict[str, Works], applications: list[Application]
) -> None:
    failing = {it for works in before.values() for it, working in works.items() if not working}
    assert failing == set(), [it.failures for it in applications]


def test_kafka_python_1_4_works_at_4_0(tables: Path, after: dict[str, Works]) -> None:
    old_kafka_python()  # skips with the reason where it cannot be installed
    for client in ("kafka-python 1.4 produce", "kafka-python 1.4 consume"):
        assert verdicts(tables, "new", "4.0.0")[client] == "safe"
        assert after["4.0.0"][client]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cluster", RUNNING)
def test_clients_judged_breaks_fail_and_clients_judged_safe_work(
    cluster: str, target: str, tables: Path, before: dict[str, Works], after: dict[str, Works]
) -> None:
    judged = verdicts(tables, cluster, target)
    works = {client: after[target][client] for client in before[cluster]}
    expected = {client: "safe" if working else "breaks" for client, working in works.items()}
    if "librdkafka 1.3 produce" in expected:
        expected["librdkafka 1.3 produce"] = "at risk"  # it works, but cannot look up offsets
    assert {client: judged[client] for client in works} == expected


@pytest.mark.parametrize("cluster", RUNNING)
def test_libraries_are_identified_with_and_without_a_reported_name(
    cluster: str, tables: Path, applications: list[Application]
) -> None:
    found = verdicts(tables, cluster, "4.0.0", "library")
    consumers = [it for it in applications if it.role == "consume"]
    expected = {"confluent-kafka": "confluent-kafka-python"}
    assert {it.client_id: found[it.client_id] for it in consumers} == {
        it.client_id: expected.get(it.library, it.library) for it in consumers
    }
    assert found["aiokafka of today produce"] == "aiokafka"


def test_librdkafka_1_3_produces_on_4_0_and_cannot_look_up_offsets(
    tables: Path, after: dict[str, Works]
) -> None:
    old_librdkafka()  # skips with the reason where it cannot be installed
    for cluster in RUNNING:
        judged = verdicts(tables, cluster, "4.0.0")
        assert judged["librdkafka 1.3 produce"] == "at risk"  # look-ups were not observed
        assert judged["librdkafka 1.3 consume"] == "breaks"
    assert after["4.0.0"]["librdkafka 1.3 produce"]
    assert not after["4.0.0"]["librdkafka 1.3 consume"]


def test_join_group_0_and_1_are_all_that_4_0_1_accepts_again(
    tables: Path, after: dict[str, Works]
) -> None:
    expected = {"raw-JoinGroup-0", "raw-JoinGroup-1"}
    at = {target: verdicts(tables, "new", target) for target in TARGETS}
    assert {it for it in at["4.0.0"] if at["4.0.0"][it] != at["4.0.1"][it]} == expected
    assert {it for it in after["4.0.0"] if after["4.0.0"][it] != after["4.0.1"][it]} == expected


def test_produce_0_to_2_is_listed_and_refused(tables: Path, after: dict[str, Works]) -> None:
    judged = verdicts(tables, "new", "4.0.0")
    assert listed_ranges("4.0.0")[PRODUCE].low == 0
    for version in range(3):
        assert judged[f"raw-Produce-{version}"] == "breaks"
        assert not after["4.0.0"][f"raw-Produce-{version}"]
