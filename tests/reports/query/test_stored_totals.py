"""Totals that a compaction stores: faster to read, with the same reports."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from rollcall.reports import Filters, clients, impact, problems, version_timeline
from tests.reports.table_builder import DAY0, TableBuilder, hour

JAVA = "apache-kafka-java 3.9.0"


def fleet() -> TableBuilder:
    """Three months of clients that start, stop, change, report names late and misbehave."""
    builder = TableBuilder().broker_reports("3.9.0").roll_call(1, 1).file()
    builder.use("Fetch", 13, JAVA, days=range(90)).use("Metadata", 12, JAVA, days=[0, 40, 89])
    builder.use("Fetch", 3, "sarama v1.30.0", principal="User:old", days=range(5, 50))
    builder.use("Fetch", 11, "sarama v1.40.0", principal="User:old", days=range(50, 70))
    builder.use("Fetch", 3, principal="User:pinned", of_day=23, days=[30, 61], host="10.0.0.7")
    builder.use("ApiVersions", 3, "librdkafka 2.4.0", principal="User:slow", days=[20, 31, 32])
    builder.use("Fetch", 11, principal="User:slow", days=range(15, 40))
    builder.use("Fetch", 11, replica=True, days=range(0, 90, 7), broker="b2:9092")
    builder.use("CreateTopics", 5, forwarded=True, days=[33])
    builder.use(
        "ApiVersions", 3, "kgo v1.20.0", principal="User:flood", requests=5000, days=[44, 62]
    )
    builder.use("Produce", 9, principal="User:wrong", days=[10, 60], answered=10, errors=10)
    return builder.connect(90, day=62, software=JAVA)


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


@pytest.mark.parametrize("filters", WINDOWS.values(), ids=WINDOWS)
def test_every_report_is_the_same_with_and_without_stored_totals(
    tmp_path: Path, filters: Filters
) -> None:
    plain = fleet().write(tmp_path / "plain")
    added = fleet().write(tmp_path / "added", totals=True)
    assert clients(added, filters=filters) == clients(plain, filters=filters)
    assert impact(added, "4.0.0", filters=filters) == impact(plain, "4.0.0", filters=filters)
    assert problems(added, filters=filters) == problems(plain, filters=filters)
    assert version_timeline(added, filters=filters) == version_timeline(plain, filters=filters)


def test_stored_totals_are_read_instead_of_the_rows(tmp_path: Path) -> None:
    directory = TableBuilder().use("Fetch", 11).write(tmp_path / "tables", totals=True)
    for part in directory.glob("parts/*/usage/*.parquet"):
        part.write_bytes(b"not read")
    (found,) = clients(directory).clients
    assert found.requests == 140


def test_batches_with_and_without_stored_totals_are_summed(tmp_path: Path) -> None:
    directory = TableBuilder().use("Fetch", 11, days=[0]).write(tmp_path / "tables", totals=True)
    later = TableBuilder().use("Fetch", 11, days=[1]).use("Fetch", 12, days=[1])
    later.write_batch(directory, 2)
    (found,) = clients(directory).clients
    assert (found.requests, found.apis, found.last.date()) == (30, {1: (11, 12)}, hour(1).date())


def test_a_window_of_400_days_is_the_same_with_and_without_stored_totals(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, days=[0])
        .use("Fetch", 11, days=range(100, 400, 3))
    )
    plain, added = builder.write(tmp_path / "plain"), builder.write(tmp_path / "added", totals=True)
    assert version_timeline(added) == version_timeline(plain)
    assert impact(added, "4.0.0") == impact(plain, "4.0.0")
