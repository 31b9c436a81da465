import json
import threading
import time

import pytest

from rollcall.cli.brokers.wait_restart import event_text
from rollcall.client.restarts import RestartEvent, RestartProgress
from tests.cli.scripted_cluster import rollcall, serving
from tests.client.scripted import METADATA, ScriptedBroker

BEFORE, AFTER = 1_700_000_000_000, 1_700_000_500_000


def restart_later(broker: ScriptedBroker, start: int) -> threading.Thread:
    """When its start time was asked for in the second look, so that the first is past."""

    def restart() -> None:
        deadline = time.monotonic() + 30
        while len(broker.versions_of(METADATA)) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        broker.start_time_ms = start

    thread = threading.Thread(target=restart, daemon=True)
    thread.start()
    return thread


def test_536_5_a_restart_is_exit_code_0_and_told_as_it_goes() -> None:
    with serving(ScriptedBroker(start_time_ms=BEFORE)) as [broker]:
        restart = restart_later(broker, AFTER)
        result = rollcall("wait-restart", broker.address, "--broker", 1, "--poll", 0.05)
        restart.join()
    assert result.code == 0
    assert result.out.splitlines() == [
        "broker 1: waiting for another start than 2023-11-14 22:13:20",
        "broker 1: restarted at 2023-11-14 22:21:40",
        "broker 1: back, all others know",
    ]


def test_536_5_a_lower_start_time_is_a_warning_on_stderr() -> None:
    with serving(ScriptedBroker(start_time_ms=AFTER)) as [broker]:
        restart = restart_later(broker, BEFORE)
        result = rollcall("wait-restart", broker.address, "--all", "--poll", 0.05)
        restart.join()
    assert result.code == 0
    assert "warning: broker 1 started at 2023-11-14 22:13:20" in result.err
    assert "its clock went back" in result.err


def test_of_several_it_is_told_how_many_are_back() -> None:
    told = event_text(RestartProgress(2, RestartEvent.BACK, back=1, of=3))
    assert told == "broker 2: back, all others know (1 of 3 are back)"


@pytest.mark.parametrize(
    "after", [BEFORE, "2023-11-14T22:13:20Z", "2023-11-14 22:13:20", "2023-11-14T23:13:20+01:00"]
)
def test_536_5_a_time_can_be_given_in_several_forms(after: object) -> None:
    with serving(ScriptedBroker(start_time_ms=AFTER)) as [broker]:
        result = rollcall("wait-restart", broker.address, "--all", "--after", after)
    assert result.code == 0


def test_536_5_a_timeout_is_exit_code_3_and_names_who_is_missing() -> None:
    with serving(ScriptedBroker(start_time_ms=BEFORE)) as [broker]:
        began = time.monotonic()
        result = rollcall("wait-restart", broker.address, "--broker", 1, "--timeout", 0.5)
    assert time.monotonic() - began < 5
    assert result.code == 3
    assert "after 0.5 s still waiting for broker 1" in result.err


def test_536_5_a_broker_without_start_time_is_exit_code_4_at_once() -> None:
    with serving(ScriptedBroker()) as [broker]:
        began = time.monotonic()
        result = rollcall("wait-restart", broker.address, "--broker", 1)
    assert time.monotonic() - began < 5
    assert result.code == 4
    assert "does not report its start time" in result.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [([], "Give --broker N"), (["--broker", "1", "--all"], "give one of them")],
)
def test_536_5_brokers_or_all_of_them_must_be_named(arguments: list[str], told: str) -> None:
    result = rollcall("wait-restart", "127.0.0.1:1", *arguments)
    assert result.code == 2
    assert told in result.err


def test_536_5_a_broker_that_is_not_there_is_told_with_those_that_are() -> None:
    with serving(ScriptedBroker(start_time_ms=BEFORE)) as [broker]:
        result = rollcall("wait-restart", broker.address, "--broker", 9)
    assert result.code == 1
    assert str(result.error) == "broker 9 does not exist: the cluster has 1"


def test_536_5_a_cluster_that_cannot_be_asked_is_an_error() -> None:
    result = rollcall("wait-restart", "127.0.0.1:1", "--all")
    assert result.code == 1
    assert "refused" in str(result.error)


def test_a_time_that_is_none_is_told() -> None:
    result = rollcall("wait-restart", "127.0.0.1:1", "--all", "--after", "yesterday")
    assert result.code == 2
    assert "'yesterday' is not a time" in result.err


def test_536_5_json_tells_every_step() -> None:
    with serving(ScriptedBroker(start_time_ms=AFTER)) as [broker]:
        result = rollcall("wait-restart", broker.address, "--all", "--after", BEFORE, "--json")
    steps = [json.loads(line) for line in result.out.splitlines()]
    assert [step["event"] for step in steps] == ["waiting", "restarted", "back"]
    assert steps[-1] == {
        "broker": 1,
        "event": "back",
        "start_time_ms": AFTER,
        "before_ms": BEFORE,
        "back": 1,
        "of": 1,
    }
