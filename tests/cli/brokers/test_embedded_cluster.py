"""The commands that query brokers, run as processes against the embedded cluster."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall import __version__
from tests.broker.running import ROLLCALL, RunningCluster, eventually, running_cluster
from tests.broker.secured import PASSWORDS, write_secured


def rollcall(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ROLLCALL, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with running_cluster() as started:
        yield started


@pytest.mark.parametrize(("listener", "dialect"), [("PLAINTEXT", "released"), ("KIP", "kip")])
def test_885_and_536_every_broker_reports_itself_in_both_dialects(
    cluster: RunningCluster, listener: str, dialect: str
) -> None:
    result = rollcall("brokers", cluster.bootstrap(listener), "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [broker["id"] for broker in document["brokers"]] == [1, 2, 3]
    for broker in document["brokers"]:
        assert broker["software"]["provenance"] == "reported"
        assert (broker["software"]["name"], broker["software"]["version"]) == (
            "rollcall",
            __version__,
        )
        assert broker["start_time"]["provenance"] == "reported"
        assert 0 <= document["time_ms"] - broker["start_time"]["ms"] < 600_000
        assert broker["api_versions"]["dialect"] == dialect
    assert not document["summary"]["mixed"]


def test_35_7_features_and_api_versions_of_both_dialects(cluster: RunningCluster) -> None:
    for listener in ("PLAINTEXT", "KIP"):
        features = rollcall("features", cluster.bootstrap(listener), "--json")
        usable = {f["id"]: f["usable"] for f in json.loads(features.stdout)["features"]}
        assert (usable["broker-identity"], usable["broker-start-time"]) == ("yes", "yes")
        same = rollcall("api-versions", cluster.bootstrap(listener), "--compare", "2")
        assert same.returncode == 0, same.stderr


def test_511_commands_report_their_software_name(cluster: RunningCluster) -> None:
    with subprocess.Popen(
        [*ROLLCALL, "brokers", cluster.bootstrap(), "--watch", "0.2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        eventually(lambda: [c for c in cluster.connections() if c["software_name"] == "rollcall"])
        assert process.stdout is not None
        summaries = 0
        while summaries < 2:
            summaries += "3 brokers, rollcall" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")


def test_536_5_wait_restart_ends_when_a_killed_broker_is_back(cluster: RunningCluster) -> None:
    with subprocess.Popen(
        [*ROLLCALL, "wait-restart", cluster.bootstrap(), "--broker", "2", "--timeout", "40"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("broker 2: waiting")
        os.kill(cluster.pid_of(2), signal.SIGKILL)
        out, _ = process.communicate(timeout=50)
    assert process.returncode == 0
    assert "broker 2: restarted at" in out
    assert out.strip().endswith("broker 2: all other brokers report the new start time")


def test_536_5_wait_restart_all_follows_a_rolling_restart(
    cluster: RunningCluster,
) -> None:
    with subprocess.Popen(
        [*ROLLCALL, "wait-restart", cluster.bootstrap("KIP"), "--all", "--timeout", "50"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        waiting = [process.stdout.readline() for _ in range(3)]
        assert all("waiting" in line for line in waiting)
        for number in (1, 2, 3):
            os.kill(cluster.pid_of(number), signal.SIGKILL)
            for line in process.stdout:
                if line.startswith(f"broker {number}: all other brokers report"):
                    break
        _, err = process.communicate(timeout=50)
    assert (process.returncode, err) == (0, "")


def test_settings_file_connects_with_sasl_and_tls(tmp_path: Path) -> None:
    secured = write_secured(tmp_path)
    settings = tmp_path / "rollcall.toml"
    settings.write_text(
        '[sasl]\nmechanism = "SCRAM-SHA-512"\nusername = "alice"\n[tls]\nca = "ca.pem"\n'
    )
    with running_cluster(
        "--config", str(secured.config), "--data-dir", str(tmp_path / "d")
    ) as cluster:
        command = ["brokers", cluster.bootstrap("SASL_SSL"), "--config", str(settings)]
        shown = rollcall(*command, ROLLCALL_SASL_PASSWORD=PASSWORDS["alice"])
        denied = rollcall(*command, ROLLCALL_SASL_PASSWORD="not this one")
    assert shown.returncode == 0, shown.stderr
    assert "Kafka of tomorrow" in shown.stdout
    assert denied.returncode == 1
    assert "refused 'alice'" in denied.stderr
    assert "not this one" not in denied.stderr + denied.stdout
