"""Logs that are read late, or in another order, with a compaction between."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.gaps import LONG_AGO, find_gaps
from rollcall.pipeline.writing import small_frame
from tests.pipeline.running import line, put, read
from tests.pipeline.test_compact import DAY, HOUR, ask, squeeze

NOON = datetime(2026, 3, 10, 12)  # noqa: DTZ001 - UTC
DAYS = 5
KEEPER = "10.1.0.1:9092-10.1.2.9:50000-1"
GUEST = "10.1.0.1:9092-10.1.2.3:40000-1"


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("heard", "gaps"),
    [
        ([(0, 59), (60, 100)], [(None, 0)]),
        ([(0, 59), (180, 200)], [(None, 0), (59, 180)]),
        ([(0, 30), (90, 119)], [(None, 0), (30, 90)]),  # of a zone that is half an hour off
        ([(-10 * 24 * 60, -9 * 24 * 60), (0, 5)], [(None, 0)]),
        ([(-30 * 60, -26 * 60), (-25 * 60, 5)], []),  # a day that was hours, long ago
    ],
)
def test_gaps_are_an_hour_and_more_and_what_is_before_the_first_line(
    spark: SparkSession,
    heard: list[tuple[int, int]],
    gaps: list[tuple[int | None, int]],
) -> None:
    rows = [
        {
            "cluster": None,
            "broker": "b1",
            "hour": at(first).replace(minute=0),
            "first_seen": at(first),
            "last_seen": at(last),
        }
        for first, last in heard
    ]
    types = {"cluster": "STRING", "broker": "STRING"}
    times = dict.fromkeys(("hour", "first_seen", "last_seen"), "TIMESTAMP_NTZ")
    found = find_gaps(small_frame(spark, types | times, rows), at(-60)).collect()
    told = [(gap.began, gap.ended) for row in found for gap in row.gaps]
    assert sorted(told) == [
        (at(began) if began is not None else LONG_AGO, at(ended)) for began, ended in gaps
    ]


def hourly(hours: range, guest: range) -> str:
    """A log of a broker that is heard every half hour, and on which a guest is for some hours."""
    seen = [(second, KEEPER) for hour in hours for second in (hour * HOUR, hour * HOUR + HOUR // 2)]
    seen += [(hour * HOUR, GUEST) for hour in hours if hour in guest]
    return "".join(
        line(0, second=second, connection=connection) + "\n" for second, connection in sorted(seen)
    )


def test_a_log_that_is_read_late_goes_on_with_the_connections_beside_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables, guest, missing = tmp_path / "tables", range(28, 35), range(30, 31)
    before = put(tmp_path / "1.log", hourly(range(missing.start), guest))
    after = put(tmp_path / "3.log", hourly(range(missing.stop, DAYS * 24), guest))
    read(spark, tables, before, after)
    squeeze(spark, tables)
    assert ask(tables, "SELECT count(*) FROM connection_hours") == [(0,)]
    late = put(tmp_path / "2.log", hourly(missing, guest))
    end = put(tmp_path / "4.log", line(0, second=30 * DAY, connection=KEEPER) + "\n")
    read(spark, tables, late, end)
    squeeze(spark, tables)
    counted = "SELECT opened, requests FROM connection_hours ORDER BY ALL"
    assert ask(tables, counted) == [(1, len(guest)), (1, 2 * DAYS * 24)]


def test_where_no_log_is_missing_a_connection_is_counted_after_48_hours(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    read(spark, tables, put(tmp_path / "a.log", hourly(range(DAYS * 24), range(28, 35))))
    squeeze(spark, tables)
    assert ask(tables, "SELECT opened, requests FROM connection_hours") == [(1, 7)]
    assert ask(tables, "SELECT connection FROM connections") == [(KEEPER,)]
