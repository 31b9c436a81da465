"""The commands that ask brokers, on a cluster of our own, as a shell runs them."""

import json
import os
import signal
import subprocess
import time
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
def test_885_and_536_every_broker_is_known_by_its_own_word_in_both_dialects(
    cluster: RunningCluster, listener: str, dialect: str
) -> None:
    said = rollcall("brokers", cluster.bootstrap(listener), "--json")
    assert said.returncode == 0, said.stderr
    document = json.loads(said.stdout)
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


def test_511_the_commands_are_seen_by_their_name(cluster: RunningCluster) -> None:
    with subprocess.Popen(
        [*ROLLCALL, "brokers", cluster.bootstrap(), "--watch", "0.2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        eventually(lambda: [c for c in cluster.connections() if c["software_name"] == "rollcall"])
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == ""
    assert out.count("3 brokers, rollcall") >= 2  # and again


def test_536_5_a_killed_broker_is_seen_to_restart(cluster: RunningCluster) -> None:
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
    assert out.strip().endswith("broker 2: back, all others know")


def test_536_5_a_whole_cluster_is_seen_to_restart_one_after_another(
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
                if line.startswith(f"broker {number}: back"):
                    break
        _, err = process.communicate(timeout=50)
    assert (process.returncode, err) == (0, "")


def test_a_settings_file_opens_listeners_with_sasl_and_tls(tmp_path: Path) -> None:
    secured = write_secured(tmp_path)
    settings = tmp_path / "rollcall.toml"
    settings.write_text(
        '[sasl]\nmechanism = "SCRAM-SHA-512"\nusername = "alice"\n[tls]\nca = "ca.pem"\n'
    )
    with running_cluster("--config", str(secured.config), "--data-dir", str(tmp_path / "d")) as it:
        command = ["brokers", it.bootstrap("SASL_SSL"), "--config", str(settings)]
        shown = rollcall(*command, ROLLCALL_SASL_PASSWORD=PASSWORDS["alice"])
        denied = rollcall(*command, ROLLCALL_SASL_PASSWORD="not this one")
    assert shown.returncode == 0, shown.stderr
    assert "Kafka of tomorrow" in shown.stdout
    assert denied.returncode == 1
    assert "refused 'alice'" in denied.stderr
    assert "not this one" not in denied.stderr + denied.stdout
