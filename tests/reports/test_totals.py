"""The totals that a compaction leaves change no answer: they are only read sooner."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from rollcall.reports import Filters, clients, impact
from rollcall.reports.timeline import version_timeline
from tests.reports.making import DAY0, Made, hour

JAVA = "apache-kafka-java 3.9.0"


def fleet() -> Made:
    """Three months of clients that come, go, change, take names, and misbehave."""
    made = Made().told("3.9.0").roll_call(1, 1).file()
    made.use("Fetch", 13, JAVA, days=range(90)).use("Metadata", 12, JAVA, days=[0, 40, 89])
    made.use("Fetch", 3, "sarama v1.30.0", principal="User:old", days=range(5, 50))
    made.use("Fetch", 11, "sarama v1.40.0", principal="User:old", days=range(50, 70))
    made.use("Fetch", 3, principal="User:pinned", of_day=23, days=[30, 61], host="10.0.0.7")
    made.use("ApiVersions", 3, "librdkafka 2.4.0", principal="User:shy", days=[20, 31, 32])
    made.use("Fetch", 11, principal="User:shy", days=range(15, 40))
    made.use("Fetch", 11, replica=True, days=range(0, 90, 7), broker="b2:9092")
    made.use("CreateTopics", 5, forwarded=True, days=[33])
    made.use("ApiVersions", 3, "kgo v1.20.0", principal="User:flood", requests=5000, days=[44, 62])
    made.use("Produce", 9, principal="User:wrong", days=[10, 60], answered=10, errors=10)
    return made.connect(90, day=62, told=JAVA)


WINDOWS = {
    "all": Filters(),
    "since a day": Filters(since=hour(33)),
    "since within a day": Filters(since=hour(31) + timedelta(hours=3, minutes=30)),
    "until": Filters(until=hour(61)),
    "one month": Filters(since=hour(31), until=hour(61)),
    "within a month": Filters(since=hour(40), until=hour(45)),
    "from month to month": Filters(since=DAY0, until=datetime(2026, 12, 1)),  # noqa: DTZ001
    "one cluster": Filters(cluster="prod"),
    "one principal": Filters(principal="User:s*", since=hour(18)),
}


@pytest.mark.parametrize("asked", WINDOWS.values(), ids=WINDOWS)
def test_every_answer_is_the_same_with_totals(tmp_path: Path, asked: Filters) -> None:
    plain = fleet().write(tmp_path / "plain")
    added = fleet().write(tmp_path / "added", totals=True)
    assert clients(added, filters=asked) == clients(plain, filters=asked)
    assert impact(added, "4.0.0", filters=asked) == impact(plain, "4.0.0", filters=asked)
    assert problems(added, filters=asked) == problems(plain, filters=asked)
    assert version_timeline(added, filters=asked) == version_timeline(plain, filters=asked)


def test_they_are_what_is_read(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11).write(tmp_path / "tables", totals=True)
    for part in folder.glob("parts/*/usage/*.parquet"):
        part.write_bytes(b"nobody reads this")
    (found,) = clients(folder).clients
    assert found.requests == 140


def test_parts_with_and_without_them_are_added_up(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11, days=[0]).write(tmp_path / "tables", totals=True)
    later = Made().use("Fetch", 11, days=[1]).use("Fetch", 12, days=[1])
    later.write_more(folder, 2)
    (found,) = clients(folder).clients
    assert (found.requests, found.apis, found.last.date()) == (30, {1: (11, 12)}, hour(1).date())


def test_a_window_longer_than_the_bits_shares_them_in_the_same_way(tmp_path: Path) -> None:
    made = Made().told("3.9.0").use("Fetch", 3, days=[0]).use("Fetch", 11, days=range(100, 400, 3))
    plain, added = made.write(tmp_path / "plain"), made.write(tmp_path / "added", totals=True)
    assert version_timeline(added) == version_timeline(plain)
    assert impact(added, "4.0.0") == impact(plain, "4.0.0")
