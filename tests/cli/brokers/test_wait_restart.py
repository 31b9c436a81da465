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
    """Change the start time during the second poll, after the first has recorded it."""

    def restart() -> None:
        deadline = time.monotonic() + 30
        while len(broker.versions_of(METADATA)) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        broker.start_time_ms = start

    thread = threading.Thread(target=restart, daemon=True)
    thread.start()
    return thread


def test_536_5_restart_is_exit_code_0_with_a_line_per_event() -> None:
    with serving(ScriptedBroker(start_time_ms=BEFORE)) as [broker]:
        restart = restart_later(broker, AFTER)
        result = rollcall("wait-restart", broker.address, "--broker", 1, "--poll", 0.05)
        restart.join()
    assert result.code == 0
    assert result.out.splitlines() == [
        "broker 1: waiting for a restart, last start 2023-11-14 22:13:20",
        "broker 1: restarted at 2023-11-14 22:21:40",
        "broker 1: all other brokers report the new start time",
    ]


def test_536_5_lower_start_time_is_a_warning_on_stderr() -> None:
    with serving(ScriptedBroker(start_time_ms=AFTER)) as [broker]:
        restart = restart_later(broker, BEFORE)
        result = rollcall("wait-restart", broker.address, "--all", "--poll", 0.05)
        restart.join()
    assert result.code == 0
    assert "warning: broker 1: new start time 2023-11-14 22:13:20 is before" in result.err
    assert "check the clock of the broker" in result.err


def test_event_text_counts_the_brokers_that_are_done() -> None:
    text = event_text(RestartProgress(2, RestartEvent.BACK, back=1, of=3))
    assert text == "broker 2: all other brokers report the new start time (1 of 3 brokers done)"


@pytest.mark.parametrize(
    "after", [BEFORE, "2023-11-14T22:13:20Z", "2023-11-14 22:13:20", "2023-11-14T23:13:20+01:00"]
)
def test_536_5_after_option_accepts_milliseconds_and_iso_times(after: object) -> None:
    with serving(ScriptedBroker(start_time_ms=AFTER)) as [broker]:
        result = rollcall("wait-restart", broker.address, "--all", "--after", after)
    assert result.code == 0


def test_536_5_timeout_is_exit_code_3_and_names_the_pending_brokers() -> None:
    with serving(ScriptedBroker(start_time_ms=BEFORE)) as [broker]:
        began = time.monotonic()
        result = rollcall("wait-restart", broker.address, "--broker", 1, "--timeout", 0.5)
    assert time.monotonic() - began < 60
    assert result.code == 3
    assert "timeout after 0.5 s, still waiting for broker 1" in result.err


def test_536_5_broker_without_start_time_is_exit_code_4_at_once() -> None:
    with serving(ScriptedBroker()) as [broker]:
        began = time.monotonic()
        result = rollcall("wait-restart", broker.address, "--broker", 1)
    assert time.monotonic() - began < 60
    assert result.code == 4
    assert "does not report its start time" in result.err


@pytest.mark.parametrize("arguments", [[], ["--broker", "1", "--all"]], ids=["neither", "both"])
def test_536_5_either_broker_or_all_is_required(arguments: list[str]) -> None:
    result = rollcall("wait-restart", "127.0.0.1:1", *arguments)
    assert result.code == 2
    assert "give either --broker ID or --all" in result.err


def test_536_5_unknown_broker_is_an_error_that_lists_the_known_ones() -> None:
    with serving(ScriptedBroker(start_time_ms=BEFORE)) as [broker]:
        result = rollcall("wait-restart", broker.address, "--broker", 9)
    assert result.code == 1
    assert str(result.error) == "broker 9 does not exist: the cluster has 1"


def test_536_5_unreachable_cluster_is_an_error() -> None:
    result = rollcall("wait-restart", "127.0.0.1:1", "--all")
    assert result.code == 1
    assert "refused" in str(result.error)


def test_after_option_rejects_other_text() -> None:
    result = rollcall("wait-restart", "127.0.0.1:1", "--all", "--after", "yesterday")
    assert result.code == 2
    assert "'yesterday' is not a time" in result.err


def test_536_5_json_has_a_line_per_event() -> None:
    with serving(ScriptedBroker(start_time_ms=AFTER)) as [broker]:
        result = rollcall("wait-restart", broker.address, "--all", "--after", BEFORE, "--json")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [event["event"] for event in events] == ["waiting", "restarted", "back"]
    assert events[-1] == {
        "broker": 1,
        "event": "back",
        "start_time_ms": AFTER,
        "before_ms": BEFORE,
        "back": 1,
        "of": 1,
    }
