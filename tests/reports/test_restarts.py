"""Broker starts: unknown start times, new addresses, wrong clocks, restart loops."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rollcall.reports import Filters, Restarts, restarts
from rollcall.reports.restarts import BrokerObservation, judge_restarts
from tests.reports.table_builder import TableBuilder, hour

MINUTE = 1 / 24 / 60


def report_of(directory: Path, builder: TableBuilder, **filters: object) -> Restarts:
    return restarts(builder.write(directory / "tables"), filters=Filters(**filters))  # type: ignore[arg-type]


def test_a_new_start_time_is_one_restart(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, start_time=hour(0)).roll_call(2, start_time=hour(0))
    (broker,) = report_of(tmp_path, builder.roll_call(3, start_time=hour(2, 12))).brokers
    assert broker.restarts == 1
    assert broker.start is not None
    assert (broker.start.reported, broker.start.after) == (hour(2, 12), hour(2))
    assert not broker.start.clock_ahead


def test_b04_a_broker_without_start_time_is_unknown_and_sorted_last(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, 1).roll_call(1, 2, start_time=hour(0))
    report = report_of(tmp_path, builder.roll_call(1, 3, start_time=hour(0, 5)))
    assert [broker.node_id for broker in report.brokers] == [3, 2, 1]
    assert report.brokers[-1].start is None
    assert report.brokers[-1].restarts == 0
    assert report.up_together_since is None


def test_b05_a_node_id_at_a_new_address_is_the_same_broker_moved(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, start_time=hour(0), host="old")
    (broker,) = report_of(tmp_path, builder.roll_call(2, start_time=hour(1, 3), host="new")).brokers
    assert broker.address == "new:9092"
    assert broker.start is not None
    assert (broker.start.moved_from, broker.restarts) == ("old:9092", 1)


def test_b06_a_clock_20_minutes_ahead_is_detected_and_corrected(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, start_time=hour(0))
    ahead = hour(2) + timedelta(minutes=20)
    (broker,) = report_of(tmp_path, builder.roll_call(2, start_time=ahead)).brokers
    assert broker.start is not None
    assert broker.start.clock_ahead == timedelta(minutes=20)
    assert broker.start.time == hour(2)


def test_b06_a_clock_20_minutes_behind_is_detected(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, start_time=hour(0))
    behind = hour(1) - timedelta(minutes=20)
    (broker,) = report_of(tmp_path, builder.roll_call(1 + MINUTE, start_time=behind)).brokers
    assert broker.start is not None
    assert broker.start.clock_ahead == -timedelta(minutes=20)


def test_b06_an_earlier_start_time_is_a_restart_and_marked(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, start_time=hour(0, 12))
    (broker,) = report_of(tmp_path, builder.roll_call(2, start_time=hour(0))).brokers
    assert broker.restarts == 1
    assert broker.start is not None
    assert broker.start.is_earlier


def test_b07_a_restart_loop_is_one_flapping_broker(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(0, start_time=hour(0))
    for number in range(50):
        at = 3 + number * 10 * MINUTE
        builder.roll_call(at, start_time=hour(0) + timedelta(days=at) - timedelta(minutes=2))
    (broker,) = report_of(tmp_path, builder).brokers
    assert broker.is_flapping
    assert (broker.restarts, len(broker.episodes[-1].starts)) == (1, 50)


def test_two_restarts_within_an_hour_are_not_flapping(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(0, start_time=hour(0)).roll_call(3, start_time=hour(2, 23))
    (broker,) = report_of(tmp_path, builder.roll_call(3.02, start_time=hour(3))).brokers
    assert (broker.restarts, broker.is_flapping) == (2, False)


def test_brokers_that_restart_one_after_another_are_a_rolling_restart(tmp_path: Path) -> None:
    builder = TableBuilder()
    for node in (1, 2, 3):
        builder.roll_call(0, node, start_time=hour(0))
        builder.roll_call(2, node, start_time=hour(1) + timedelta(minutes=15 * node))
    (rolling,) = (report := report_of(tmp_path, builder)).rolling_restarts
    assert rolling.brokers == ("1", "2", "3")
    assert report.up_together_since == hour(1) + timedelta(minutes=45)


def test_restarts_report_the_fewest_brokers_that_responded(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(0, 1, start_time=hour(0)).roll_call(0, 2, start_time=hour(0))
    builder.roll_call(0, 3, start_time=hour(0)).roll_call(1, 1, start_time=hour(0))
    builder.roll_call(1, 2, failure="timeout").roll_call(1, 3, failure="refused")
    report = report_of(tmp_path, builder)
    assert report.fewest_up == (1, hour(1))
    assert report.up_together_since is None
    assert {broker.node_id: broker.failure for broker in report.brokers}[2] == "timeout"


def test_a_broker_missing_in_newer_roll_calls_is_unlisted(tmp_path: Path) -> None:
    builder = TableBuilder()
    for node in (1, 2):
        builder.roll_call(0, node, start_time=hour(0))
    builder.roll_call(0, 1, cluster="other", start_time=hour(0))  # no roll call since, so unknown
    report = report_of(tmp_path, builder.roll_call(1, 1, start_time=hour(0)))
    found = {(broker.cluster, broker.node_id): broker.failure for broker in report.brokers}
    assert found == {("prod", 1): None, ("prod", 2): "unlisted", ("other", 1): None}
    assert report.up_together_since is None
    assert report.fewest_up == (2, hour(1))


def test_brokers_without_node_id_are_distinguished_by_address(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, start_time=hour(0))
    for host in ("x", "y"):
        builder.roll_call(1, None, host=host, failure="refused")
    report = report_of(tmp_path, builder)
    assert [broker.address for broker in report.brokers] == ["b1:9092", "x:9092", "y:9092"]
    assert report.fewest_up == (1, hour(1))


def test_restarts_respect_window_and_cluster(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(1, 1, start_time=hour(0)).roll_call(5, 2, start_time=hour(4))
    report = report_of(tmp_path, builder, since=hour(3))
    assert [broker.node_id for broker in report.brokers] == [2]
    builder.roll_call(5, 3, start_time=hour(4), cluster="other")
    report = report_of(tmp_path / "other", builder, cluster="other")
    assert [broker.node_id for broker in report.brokers] == [3]


@pytest.mark.parametrize("seed", range(5))
def test_merging_hours_without_a_change_gives_the_same_restarts(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    builder, hours = TableBuilder(), dict[tuple[Any, ...], list[datetime]]()
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
                response = {**now, "start_time": None if now["failure"] else now["start_time"]}
                builder.roll_call(day, node_id=node, **response)
                at = hour(0) + timedelta(days=day)
                key = (
                    node,
                    *(response[name] for name in ("host", "failure", "start_time")),
                    at.day,
                    at.hour,
                )
                hours.setdefault(key, []).append(at)
    seen = [
        BrokerObservation("prod", node, host, 9092, failure, start, min(times), max(times))
        for (node, host, failure, start, *_), times in hours.items()
    ]
    assert restarts(builder.write(tmp_path / "tables")) == judge_restarts(seen)
