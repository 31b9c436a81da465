"""What brokers told of themselves, taken together."""

from datetime import UTC, datetime, timedelta

from rollcall.catalog import Mode, Ranges, ranges_of
from rollcall.reports.impact.broker_limits import MaximumProvenance, ReportedRanges
from rollcall.reports.query.brokers import common_ranges

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


def told(
    broker: str, minutes: int, ranges: Ranges, origin: MaximumProvenance = MaximumProvenance.LOG
) -> ReportedRanges:
    at = NOON + timedelta(minutes=minutes)
    return ReportedRanges(("prod", broker), origin, at, at, ranges)


def test_clients_can_rely_on_what_all_brokers_last_told() -> None:
    old, new = listed_ranges("2.8.2"), listed_ranges("3.9.1", Mode.ZOOKEEPER)
    common = common_ranges([told("b1", 0, old), told("b1", 9, new), told("b2", 5, old)])
    assert common["prod"][1] == old[1]
    assert common_ranges([told("b1", 0, old), told("b1", 9, new)])["prod"] == new


def test_what_a_log_tells_outranks_a_roll_call() -> None:
    old, new = ranges_of("2.8.2"), ranges_of("3.9.1")
    answers = [told("b1", 9, old, MaximumProvenance.ROLL_CALL), told("b1", 0, new)]
    assert common_ranges(answers)["prod"] == new


def test_the_controllers_listener_of_a_node_is_left_aside() -> None:
    """It is in the log of a node that is both, whoever was asked last."""
    broker, controller = listed_ranges("3.9.1", Mode.KRAFT), listed_ranges("3.9.1", Mode.CONTROLLER)
    answers = [told("b1", 0, broker), told("b1", 9, controller), told("c1", 0, controller)]
    assert common_ranges(answers) == {"prod": broker}
    assert common_ranges([told("c1", 0, controller)]) == {}
