"""Coverage: observed and known brokers under the names that logs and roll calls have for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.reports import ObservedBroker, clients
from rollcall.reports.query.coverage import BrokerComparison, compare_brokers, least_brokers
from tests.reports.table_builder import TableBuilder


@pytest.mark.parametrize(
    ("observed", "missing"),
    [
        (["b1", "b2", "b3"], []),
        (["b1:9092", "b2", "3"], []),  # address, host, id
        (["b1"], ["b2:9092", "b3:9092"]),
        (["10.0.0.1", "10.0.0.2", "10.0.0.3"], []),  # other names, but as many
        (["10.0.0.1", "10.0.0.2"], ["one of b1:9092, b2:9092, b3:9092"]),
        # another address of b1 does not count as b2
        (["b1", "10.0.0.1"], ["b2:9092", "b3:9092"]),
        (["b1", "10.0.0.2", "10.0.0.3"], ["b2:9092", "b3:9092"]),
    ],
)
def test_brokers_without_logs_are_found_by_any_name(
    tmp_path: Path, observed: list[str], missing: list[str]
) -> None:
    builder = TableBuilder()
    for node_id in (1, 2, 3):
        builder.roll_call(0, node_id)
    for name in observed:
        builder.use("Fetch", 11, broker=name, days=[0])
    coverage = clients(builder.write(tmp_path / "tables")).coverage
    assert list(coverage.not_observed) == missing
    assert (coverage.brokers_observed, coverage.brokers_known) == (3 - len(missing), 3)


def test_brokers_of_two_clusters_are_compared_per_cluster() -> None:
    known = [("a", "a1:9092", "a1", "a1:9092", "1"), ("b", "b1:9092", "b1", "b1:9092", "1")]
    # the log of cluster b names its broker by address
    observed = [ObservedBroker("a", "a1:9092", 1, 1), ObservedBroker("b", "10.0.0.1:9092", 1, 1)]
    assert compare_brokers(known, observed) == BrokerComparison(2, ())
    assert compare_brokers(known, observed[:1]) == BrokerComparison(2, ("b1:9092",))


@pytest.mark.parametrize(
    ("names", "brokers"),
    [
        ((), 0),
        ((None,), 1),
        (("10.1.0.1:9092", "[fd00::1]:9092", None), 1),
        (("10.1.0.1:9092", "10.1.0.2:9092", "fd00:0:0:0:0:0:0:1:9092"), 2),
        (("broker-1", "broker-2", None), 2),
    ],
)
def test_an_ipv4_and_an_ipv6_address_may_be_one_broker(
    names: tuple[str | None, ...], brokers: int
) -> None:
    assert least_brokers(names) == brokers
