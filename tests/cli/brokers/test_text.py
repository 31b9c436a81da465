import pytest

from rollcall.catalog import Provenance, identify_broker, identify_release, listed_ranges
from rollcall.cli.brokers.text import any_of, moment, software, version
from rollcall.cli.terminal.text import duration


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (59, "59s"), (61, "1m 1s"), (3600, "1h"), (90061, "1d 1h"), (86400 * 400, "400d")],
)
def test_durations_have_their_two_largest_units(seconds: int, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(0, "unknown"), (-1, "unknown"), (1, "1970-01-01 00:00:00"), (1 << 62, "unknown")],
)
def test_536_4_no_time_is_unknown(ms: int, shown: str) -> None:
    assert moment(ms) == shown


@pytest.mark.parametrize(
    ("names", "shown"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (list("abc"), "a, b or c")]
)
def test_candidates_are_alternatives(names: list[str], shown: str) -> None:
    assert any_of(names) == shown


def test_885_4_a_report_comes_before_a_guess() -> None:
    inference = identify_release(listed_ranges("3.0"))
    known = identify_broker("Mine", "7", inference=inference)
    assert (software(known), version(known)) == ("Mine", "7")
    known = identify_broker(inference=inference)
    assert (software(known), version(known)) == ("Apache Kafka", "3.0")
    known = identify_broker(configured="0.8.2", inference=inference)
    assert (software(known), version(known)) == (None, "0.8.2")


def test_885_4_half_a_report_is_not_filled_up_with_a_guess() -> None:
    known = identify_broker("Mine", None, inference=identify_release(listed_ranges("3.0")))
    assert known.provenance is Provenance.REPORTED
    assert (software(known), version(known)) == ("Mine", None)


def test_other_products_are_called_by_their_name() -> None:
    redpanda = {
        0: (0, 7), 1: (4, 11), 2: (0, 4), 3: (0, 8), 8: (1, 8), 9: (1, 7), 18: (0, 3), 10: (0, 3),
    }  # fmt: skip
    known = identify_broker(inference=identify_release(redpanda))
    assert software(known) != "Apache Kafka"
