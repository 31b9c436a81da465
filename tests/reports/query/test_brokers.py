"""API ranges that brokers reported."""

from datetime import UTC, datetime, timedelta

from rollcall.catalog import Mode, Ranges, listed_ranges
from rollcall.reports.query.brokers import RangesSource, ReportedRanges, common_ranges

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


def reported(
    broker: str, minutes: int, ranges: Ranges, source: RangesSource = RangesSource.LOG
) -> ReportedRanges:
    time = NOON + timedelta(minutes=minutes)
    return ReportedRanges(("prod", broker), source, time, time, ranges)


def test_common_ranges_are_the_intersection_of_the_newest_reports() -> None:
    old, new = listed_ranges("2.8.2"), listed_ranges("3.9.1", Mode.ZOOKEEPER)
    common = common_ranges([reported("b1", 0, old), reported("b1", 9, new), reported("b2", 5, old)])
    assert common["prod"][1] == old[1]
    assert common_ranges([reported("b1", 0, old), reported("b1", 9, new)])["prod"] == new


def test_ranges_in_a_log_outrank_those_of_a_roll_call() -> None:
    old, new = listed_ranges("2.8.2"), listed_ranges("3.9.1")
    reports = [reported("b1", 9, old, RangesSource.ROLL_CALL), reported("b1", 0, new)]
    assert common_ranges(reports)["prod"] == new


def test_ranges_of_a_controller_listener_are_ignored() -> None:
    """The log of a combined node holds responses of both listeners."""
    broker = listed_ranges("3.9.1", Mode.KRAFT)
    controller = listed_ranges("3.9.1", Mode.CONTROLLER)
    reports = [
        reported("b1", 0, broker),
        reported("b1", 9, controller),
        reported("c1", 0, controller),
    ]
    assert common_ranges(reports) == {"prod": broker}
    assert common_ranges([reported("c1", 0, controller)]) == {}
