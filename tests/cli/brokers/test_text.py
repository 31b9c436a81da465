from dataclasses import replace

import pytest

from rollcall.catalog import BrokerIdentity, identify_broker, identify_release, listed_ranges
from rollcall.cli.brokers.text import any_of, moment, software_cell, version_cell


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(0, "unknown"), (-1, "unknown"), (1, "1970-01-01 00:00:00"), (1 << 62, "unknown")],
)
def test_536_4_moment_of_no_time_is_unknown(ms: int, shown: str) -> None:
    assert moment(ms) == shown


@pytest.mark.parametrize(
    ("names", "shown"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (list("abc"), "a, b or c")]
)
def test_any_of_joins_names_as_alternatives(names: list[str], shown: str) -> None:
    assert any_of(names) == shown


KAFKA_3_0 = identify_release(listed_ranges("3.0"))
MANY = replace(
    KAFKA_3_0,
    candidates=tuple(replace(KAFKA_3_0.candidates[0], line=f"3.{n}") for n in range(5)),
)


@pytest.mark.parametrize(
    ("identity", "software", "version"),
    [
        (identify_broker("Mine", "7", inference=KAFKA_3_0), "Mine", "7"),
        (identify_broker("Mine", None, inference=KAFKA_3_0), "Mine", None),
        (identify_broker(inference=KAFKA_3_0), "Apache Kafka", "3.0 (inferred)"),
        (identify_broker(inference=MANY), "Apache Kafka", "unknown (5 candidates)"),
        (identify_broker(configured="0.8.2", inference=KAFKA_3_0), None, "0.8.2 (configured)"),
        (identify_broker(inference=None), None, None),
    ],
)
def test_885_4_cells_mark_every_value_that_is_not_reported(
    identity: BrokerIdentity, software: str | None, version: str | None
) -> None:
    assert (software_cell(identity), version_cell(identity)) == (software, version)


def test_other_product_is_not_shown_as_apache_kafka() -> None:
    redpanda = {
        0: (0, 7), 1: (4, 11), 2: (0, 4), 3: (0, 8), 8: (1, 8), 9: (1, 7), 18: (0, 3), 10: (0, 3),
    }  # fmt: skip
    known = identify_broker(inference=identify_release(redpanda))
    assert "Apache Kafka" not in str(software_cell(known))
