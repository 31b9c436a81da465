"""When brokers started: unknown times, new addresses, wrong clocks, loops."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rollcall.reports import Filters, Restarts, restarts
from rollcall.reports.restarts import BrokerObservation, judge_restarts
from tests.reports.making import Made, hour

MINUTE = 1 / 24 / 60


def told(folder: Path, made: Made, **asked: object) -> Restarts:
    return restarts(made.write(folder / "tables"), filters=Filters(**asked))  # type: ignore[arg-type]


def test_a_broker_that_started_again_has_restarted_once(tmp_path: Path) -> None:
    made = Made().roll_call(1, start_time=hour(0)).roll_call(2, start_time=hour(0))
    (broker,) = told(tmp_path, made.roll_call(3, start_time=hour(2, 12))).brokers
    assert broker.restarts == 1
    assert broker.start is not None
    assert (broker.start.told, broker.start.after) == (hour(2, 12), hour(2))
    assert not broker.start.clock_off


def test_b04_a_broker_that_tells_no_start_time_is_unknown_and_last(tmp_path: Path) -> None:
    made = Made().roll_call(1, 1).roll_call(1, 2, start_time=hour(0))
    report = told(tmp_path, made.roll_call(1, 3, start_time=hour(0, 5)))
    assert [it.node_id for it in report.brokers] == [3, 2, 1]
    assert report.brokers[-1].start is None
    assert report.brokers[-1].restarts == 0
    assert report.up_together_since is None


def test_b05_the_same_id_on_a_new_address_is_the_same_broker_moved(tmp_path: Path) -> None:
    made = Made().roll_call(1, start_time=hour(0), host="old")
    (broker,) = told(tmp_path, made.roll_call(2, start_time=hour(1, 3), host="new")).brokers
    assert broker.address == "new:9092"
    assert broker.start is not None
    assert (broker.start.moved_from, broker.restarts) == ("old:9092", 1)


def test_b06_a_clock_that_is_20_minutes_ahead_is_found_and_taken_off(tmp_path: Path) -> None:
    made = Made().roll_call(1, start_time=hour(0))
    ahead = hour(2) + timedelta(minutes=20)
    (broker,) = told(tmp_path, made.roll_call(2, start_time=ahead)).brokers
    assert broker.start is not None
    assert broker.start.clock_off == timedelta(minutes=20)
    assert broker.start.time == hour(2)


def test_b06_so_is_one_that_is_behind(tmp_path: Path) -> None:
    made = Made().roll_call(1, start_time=hour(0))
    behind = hour(1) - timedelta(minutes=20)
    (broker,) = told(tmp_path, made.roll_call(1 + MINUTE, start_time=behind)).brokers
    assert broker.start is not None
    assert broker.start.clock_off == -timedelta(minutes=20)


def test_b06_a_start_time_that_went_back_is_a_restart_with_a_warning(tmp_path: Path) -> None:
    made = Made().roll_call(1, start_time=hour(0, 12))
    (broker,) = told(tmp_path, made.roll_call(2, start_time=hour(0))).brokers
    assert broker.restarts == 1
    assert broker.start is not None
    assert broker.start.is_earlier


def test_b07_a_restart_loop_is_one_flapping_broker(tmp_path: Path) -> None:
    made = Made().roll_call(0, start_time=hour(0))
    for number in range(50):
        at = 3 + number * 10 * MINUTE
        made.roll_call(at, start_time=hour(0) + timedelta(days=at) - timedelta(minutes=2))
    (broker,) = told(tmp_path, made).brokers
    assert broker.is_flapping
    assert (broker.restarts, len(broker.episodes[-1].starts)) == (1, 50)


def test_two_restarts_in_a_row_are_two_restarts(tmp_path: Path) -> None:
    made = Made().roll_call(0, start_time=hour(0)).roll_call(3, start_time=hour(2, 23))
    (broker,) = told(tmp_path, made.roll_call(3.02, start_time=hour(3))).brokers
    assert (broker.restarts, broker.is_flapping) == (2, False)


def test_brokers_that_restarted_one_after_another_are_a_wave(tmp_path: Path) -> None:
    made = Made()
    for node in (1, 2, 3):
        made.roll_call(0, node, start_time=hour(0))
        made.roll_call(2, node, start_time=hour(1) + timedelta(minutes=15 * node))
    (wave,) = (report := told(tmp_path, made)).waves
    assert wave.brokers == ("1", "2", "3")
    assert report.up_together_since == hour(1) + timedelta(minutes=45)


def test_how_few_answered_together_is_told(tmp_path: Path) -> None:
    made = Made().roll_call(0, 1, start_time=hour(0)).roll_call(0, 2, start_time=hour(0))
    made.roll_call(0, 3, start_time=hour(0)).roll_call(1, 1, start_time=hour(0))
    made.roll_call(1, 2, failure="timeout").roll_call(1, 3, failure="refused")
    report = told(tmp_path, made)
    assert report.fewest_up == (1, hour(1))
    assert report.up_together_since is None
    assert {it.node_id: it.failure for it in report.brokers}[2] == "timeout"


def test_a_broker_that_roll_calls_no_longer_name_is_not_up(tmp_path: Path) -> None:
    made = Made()
    for node in (1, 2):
        made.roll_call(0, node, start_time=hour(0))
    made.roll_call(0, 1, cluster="other", start_time=hour(0))  # no roll call since, so nobody knows
    report = told(tmp_path, made.roll_call(1, 1, start_time=hour(0)))
    found = {(it.cluster, it.node_id): it.failure for it in report.brokers}
    assert found == {("prod", 1): None, ("prod", 2): "unlisted", ("other", 1): None}
    assert report.up_together_since is None
    assert report.fewest_up == (2, hour(1))


def test_brokers_without_an_id_are_told_apart_by_their_address(tmp_path: Path) -> None:
    made = Made().roll_call(1, start_time=hour(0))
    for host in ("x", "y"):
        made.roll_call(1, None, host=host, failure="refused")  # type: ignore[arg-type]
    report = told(tmp_path, made)
    assert [it.address for it in report.brokers] == ["b1:9092", "x:9092", "y:9092"]
    assert report.fewest_up == (1, hour(1))


def test_the_window_and_the_cluster_are_asked_for(tmp_path: Path) -> None:
    made = Made().roll_call(1, 1, start_time=hour(0)).roll_call(5, 2, start_time=hour(4))
    report = told(tmp_path, made, since=hour(3))
    assert [it.node_id for it in report.brokers] == [2]
    made.roll_call(5, 3, start_time=hour(4), cluster="other")
    report = told(tmp_path / "other", made, cluster="other")
    assert [it.node_id for it in report.brokers] == [3]


@pytest.mark.parametrize("seed", range(5))
def test_hours_in_which_nothing_changed_are_as_good_as_one(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    made, hours = Made(), dict[tuple[Any, ...], list[datetime]]()
    state: dict[int | None, dict[str, Any]] = {}
    for call in range(200):
        day = call * 10 * MINUTE
        for node in (1, 2, None):
            now = state.setdefault(node, {"start_time": hour(0), "host": "h", "failure": None})
            if chance.random() < 0.05:
                now["start_time"] = hour(0) + timedelta(days=day - chance.random() / 24)
            if chance.random() < 0.03:
                now["host"] = chance.choice("hi")
            now["failure"] = "refused" if chance.random() < 0.1 else None
            if chance.random() < 0.9:
                answer = {**now, "start_time": None if now["failure"] else now["start_time"]}
                made.roll_call(day, node_id=node, **answer)  # type: ignore[arg-type]
                at = hour(0) + timedelta(days=day)
                key = (
                    node,
                    *(answer[it] for it in ("host", "failure", "start_time")),
                    at.day,
                    at.hour,
                )
                hours.setdefault(key, []).append(at)
    seen = [
        BrokerObservation("prod", node, host, 9092, failure, start, min(times), max(times))
        for (node, host, failure, start, *_), times in hours.items()
    ]
    assert restarts(made.write(tmp_path / "tables")) == judge_restarts(seen)
