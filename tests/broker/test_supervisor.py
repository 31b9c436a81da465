"""Nodes, the controller and the supervisor itself are killed, and what is left carries on."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.client import ClientError, ConnectionRefusedByBrokerError
from tests.broker.running import (
    ROLLCALL,
    RunningCluster,
    ask,
    child_processes,
    eventually,
    get,
    is_alive,
    running_cluster,
)

METADATA = 3
TWO_SECONDS = 2.0
SLACK = 2.0
"""For a machine that has other things to do: what is promised is measured, with this on top."""


@pytest.fixture(scope="module")
def victims() -> Iterator[RunningCluster]:
    """A cluster for tests that kill parts of it, and leave it whole."""
    with running_cluster() as started:
        yield started


def start_times(cluster: RunningCluster, broker_id: int) -> dict[int, int]:
    """What a node tells of all nodes; nothing while it cannot be asked."""
    try:
        answer = asyncio.run(ask(cluster.address(broker_id), METADATA))
    except ClientError:
        return {}
    return {broker.node_id: broker.start_time_ms for broker in answer.brokers}


def everywhere(cluster: RunningCluster) -> list[dict[int, int]]:
    return [start_times(cluster, broker["id"]) for broker in cluster.brokers]


def agree_on_a_start_after(cluster: RunningCluster, killed: int, before: dict[int, int]) -> bool:
    """All nodes tell the same three, and a later start of the one that was killed."""
    told = everywhere(cluster)
    return told[0].keys() == before.keys() and all(
        view == told[0] and view[killed] > before[killed] for view in told
    )


@pytest.mark.parametrize("killed", [3, 1], ids=["a node", "the controller"])
def test_536_2_a_killed_node_is_started_again_and_its_new_start_time_is_everywhere(
    victims: RunningCluster, killed: int
) -> None:
    before = start_times(victims, 2)
    old = victims.pid_of(killed)
    os.kill(old, signal.SIGKILL)
    eventually(lambda: victims.pid_of(killed) not in (0, old))
    eventually(lambda: agree_on_a_start_after(victims, killed, before))
    agreed, told = time.time(), start_times(victims, 2)
    assert agreed - told[killed] / 1000 < TWO_SECONDS + SLACK
    assert {b for b in before if told[b] != before[b]} == {killed}


def test_the_others_answer_while_the_controller_is_down(victims: RunningCluster) -> None:
    os.kill(victims.pid_of(1), signal.SIGKILL)
    seen = [start_times(victims, 2).keys() | {0}]
    deadline = time.monotonic() + 5
    while not start_times(victims, 1) and time.monotonic() < deadline:
        seen += [start_times(victims, 2).keys() | {0}, start_times(victims, 3).keys() | {0}]
    assert all(view == {0, 1, 2, 3} for view in seen), "a view without the living was told"
    eventually(lambda: all(view.keys() == {1, 2, 3} for view in everywhere(victims)))


def test_a_killed_node_is_dropped_by_the_others(victims: RunningCluster) -> None:
    """The supervisor is held up meanwhile: it would have the node back before anyone looks."""
    old = victims.pid_of(3)
    victims.process.send_signal(signal.SIGSTOP)
    try:
        killed = time.monotonic()
        os.kill(old, signal.SIGKILL)
        eventually(lambda: all(start_times(victims, node).keys() == {1, 2} for node in (1, 2)))
        assert time.monotonic() - killed < TWO_SECONDS + SLACK
        with pytest.raises(ConnectionRefusedByBrokerError):
            asyncio.run(ask(victims.address(3), METADATA))
    finally:
        victims.process.send_signal(signal.SIGCONT)
    eventually(lambda: all(view.keys() == {1, 2, 3} for view in everywhere(victims)))


def test_a_node_that_hangs_is_dropped_by_the_others_and_taken_back(
    victims: RunningCluster,
) -> None:
    pid = victims.pid_of(3)
    os.kill(pid, signal.SIGSTOP)
    try:
        stopped = time.monotonic()
        eventually(
            lambda: all(start_times(victims, node).keys() == {1, 2} for node in (1, 2)), seconds=5
        )
        assert time.monotonic() - stopped < TWO_SECONDS + SLACK
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually(lambda: all(view.keys() == {1, 2, 3} for view in everywhere(victims)))
    assert victims.pid_of(3) == pid


def test_a_node_that_is_told_to_end_says_goodbye(victims: RunningCluster) -> None:
    """The controller takes it off at once; then the supervisor starts it again."""
    log = Path(victims.broker(1)["request_log"]).parent / "server.log"
    old, before = victims.pid_of(2), len(log.read_text(encoding="utf-8"))
    os.kill(old, signal.SIGTERM)
    eventually(lambda: victims.pid_of(2) not in (0, old))
    eventually(lambda: all(view.keys() == {1, 2, 3} for view in everywhere(victims)))
    assert "node 2 has not been heard" not in log.read_text(encoding="utf-8")[before:]


def test_536_5_wait_restart_sees_a_node_come_back(victims: RunningCluster) -> None:
    eventually(lambda: all(view.keys() == {1, 2, 3} for view in everywhere(victims)))
    before = start_times(victims, 1)[3]
    waiting = [*ROLLCALL, "wait-restart", victims.bootstrap(), "--broker", "3", "--timeout", "40"]
    process = subprocess.Popen(
        [*waiting, "--after", str(before), "--poll", "0.1", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    os.kill(victims.pid_of(3), signal.SIGKILL)
    out, _ = process.communicate(timeout=45)
    assert process.returncode == 0, out
    assert start_times(victims, 1)[3] > before


def test_health_tells_what_a_node_knows(victims: RunningCluster) -> None:
    eventually(lambda: all(view.keys() == {1, 2, 3} for view in everywhere(victims)))
    health = json.loads(get(f"{victims.broker(2)['http']}/health"))
    assert health["status"] == "ready"
    assert health["brokers"] == [1, 2, 3]
    assert health["start_time_ms"] == start_times(victims, 1)[2]


def test_when_the_supervisor_is_killed_its_nodes_end() -> None:
    with running_cluster("--brokers", "2") as cluster:
        nodes = [pid for pid, _ in child_processes(cluster.process.pid)]
        assert len(nodes) == 2
        cluster.process.kill()
        eventually(lambda: not any(map(is_alive, nodes)), seconds=5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_in_order(number: signal.Signals) -> None:
    with running_cluster("--brokers", "2") as cluster:
        nodes = [pid for pid, _ in child_processes(cluster.process.pid)]
        folder = Path(cluster.broker(1)["request_log"]).parents[1]
        assert folder.is_dir()
        cluster.process.send_signal(number)
        out, err = cluster.process.communicate(timeout=10)
        assert (cluster.process.returncode, out, err) == (0, "", "")
        assert not any(map(is_alive, nodes))
        assert not folder.exists(), "the temporary folder was left behind"


def test_a_signal_while_it_starts_ends_everything_too() -> None:
    process = subprocess.Popen([*ROLLCALL, "cluster", "start"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "node 1 is starting\n"
    nodes = eventually(lambda: child_processes(process.pid))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 0
    assert not any(is_alive(pid) for pid, _ in nodes)


def test_a_data_folder_keeps_the_cluster_id_and_the_logs(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        with running_cluster("--brokers", "1", "--data-dir", str(tmp_path)) as cluster:
            ids.append(cluster.description["cluster_id"])
            asyncio.run(ask(cluster.address(1), METADATA))
            assert cluster.broker(1)["request_log"] == str(tmp_path / "node-1/kafka-request.log")
    assert ids[0] == ids[1]
    assert len(ids[0]) == 22
    assert '"requestApiKeyName":"METADATA"' in (tmp_path / "node-1/kafka-request.log").read_text()


def test_two_clusters_do_not_share_a_folder(tmp_path: Path) -> None:
    with running_cluster("--brokers", "1", "--data-dir", str(tmp_path)):
        second = subprocess.run(
            [*ROLLCALL, "cluster", "start", "--data-dir", str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert second.returncode == 1
    assert "is used by another cluster" in second.stderr
    assert "hint: end that one first" in second.stderr
