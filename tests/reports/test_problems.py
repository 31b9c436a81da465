"""Who misbehaves, and what is not yet problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.reports import Problems, ProblemThresholds
from rollcall.reports.problems import ProblemKind
from tests.reports.making import Made, hour

RDKAFKA = "librdkafka 2.4.0"


def found(folder: Path, made: Made, **more: object) -> Problems:
    return problems(made.write(folder / "tables"), **more)  # type: ignore[arg-type]


def kinds(report: Problems) -> set[ProblemKind]:
    return {it.kind for it in report.problems}


def calm() -> Made:
    return Made().use("Fetch", 11, RDKAFKA).use("Metadata", 12, RDKAFKA)


def test_a_calm_client_is_no_trouble(tmp_path: Path) -> None:
    assert found(tmp_path, calm().connect(10, told=RDKAFKA, requests=50)).problems == ()


def test_a_reconnect_storm_is_named_with_its_software_host_and_broker(tmp_path: Path) -> None:
    (it,) = found(tmp_path, calm().connect(100, told=RDKAFKA, requests=9)).problems
    assert it.kind is ProblemKind.RECONNECTS
    assert (it.client.software, it.versions) == ("librdkafka", ("2.4.0",))
    assert (it.host, it.broker, it.rate) == ("10.0.0.1", "b1:9092", 100)


@pytest.mark.parametrize(("opened", "is_trouble"), [(6, False), (11, True)])
def test_where_others_are_calm_fewer_reconnects_are_a_storm(
    tmp_path: Path, opened: int, is_trouble: bool
) -> None:
    made = Made()
    for number in range(9):
        made.use("Fetch", 11, RDKAFKA, client_id=f"calm-{number}x")
        made.connect(1, told=RDKAFKA, client_id=f"calm-{number}x", requests=50)
    made.use("Fetch", 11, RDKAFKA, client_id="restless")
    made.connect(opened, told=RDKAFKA, client_id="restless", requests=9)
    report = found(tmp_path, made)
    storms = [it.client.application for it in report.problems if it.kind is ProblemKind.RECONNECTS]
    assert storms == (["restless"] if is_trouble else [])


def test_an_old_storm_is_found_in_what_was_summed_up(tmp_path: Path) -> None:
    made = calm()
    row = {"cluster": "prod", "broker": "b1:9092", "listener": "PLAINTEXT", "host": "10.0.0.1"}
    row |= {"principal": "User:app", "client_id": "app", "software_name": "librdkafka"}
    row |= {"software_version": "2.4.0", "forwarded": False, "replica": False}
    # a day's row, whose longest connection lived on for two days
    times = {"hour": hour(0), "first_seen": hour(0), "last_seen": hour(2, 20)}
    opened = {"opened": 130, "most_opened": 100, "seen_once": 0, "most_seen_once": 0}
    made.add("connection_hours", **row, **times, **opened)
    (it,) = found(tmp_path, made).problems
    assert (it.kind, it.rate) == (ProblemKind.RECONNECTS, 100)


def test_connections_that_ask_once_and_leave(tmp_path: Path) -> None:
    made = calm().connect(30, told=RDKAFKA).connect(20, told=RDKAFKA, requests=5)
    (it,) = found(tmp_path, made).problems
    assert (it.kind, it.count, it.of) == (ProblemKind.ASKS_ONCE, 30, 50)


@pytest.mark.parametrize(
    ("api", "kind"),
    [("Metadata", ProblemKind.METADATA_FLOOD), ("ApiVersions", ProblemKind.API_VERSIONS_FLOOD)],
)
def test_floods_are_rates_of_one_hour(tmp_path: Path, api: str, kind: ProblemKind) -> None:
    made = Made().use(api, 3, RDKAFKA, requests=601, days=[0])
    assert kinds(found(tmp_path / "flood", made)) == {kind}
    spread = Made().use(api, 3, RDKAFKA, requests=2400, hours=0b1111, days=[0])  # over 4 hours
    assert kinds(found(tmp_path / "spread", spread)) == set()


@pytest.mark.parametrize("totals", [False, True], ids=["batches", "compactions"])
def test_a_flood_is_one_however_many_batches_its_hour_was_read_in(
    tmp_path: Path, totals: bool
) -> None:
    folder = calm().write(tmp_path / "tables", totals=totals)
    for number in range(2, 6):
        made = Made().use("Metadata", 3, RDKAFKA, requests=250, days=[1], client_id="restless")
        made.write_more(folder, number, totals=totals)
    (it,) = problems(folder).problems
    assert (it.kind, it.rate) == (ProblemKind.METADATA_FLOOD, 1000)


def test_errors_are_a_share_of_the_answers_that_could_be_read(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, RDKAFKA, requests=1000, answered=100, errors=10)
    (it,) = found(tmp_path, made).problems
    assert (it.kind, it.rate, it.api_key) == (ProblemKind.ERRORS, 0.1, 1)


def test_api_versions_that_a_broker_does_not_know_is_no_error(tmp_path: Path) -> None:
    made = Made().use("ApiVersions", 4, RDKAFKA, answered=10, errors=10, unsupported=10)
    assert kinds(found(tmp_path, made)) == set()


def test_throttling(tmp_path: Path) -> None:
    made = Made().use("Produce", 9, RDKAFKA, requests=100, throttled=5, throttle_us=10**6)
    assert kinds(found(tmp_path, made)) == {ProblemKind.THROTTLED}


def test_many_versions_of_one_library_on_the_same_day(tmp_path: Path) -> None:
    made = Made()
    for minor in range(3):
        made.use("Fetch", 11, f"librdkafka 2.{minor}.0", client_id=f"app-{minor}", days=[0, 4])
    (it,) = found(tmp_path / "same", made).problems
    assert (it.kind, it.versions) == (ProblemKind.MANY_VERSIONS, ("2.0.0", "2.1.0", "2.2.0"))
    after = Made()
    for minor in range(3):
        after.use("Fetch", 11, f"librdkafka 2.{minor}.0", days=[minor])
    assert kinds(found(tmp_path / "after", after)) == set()


def test_replicas_and_forwarded_requests_are_not_blamed_on_clients(tmp_path: Path) -> None:
    made = Made().use("Metadata", 3, requests=9999, replica=True)
    made.use("Metadata", 3, requests=9999, forwarded=True)
    assert kinds(found(tmp_path, made)) == set()


def test_where_trouble_begins_can_be_set(tmp_path: Path) -> None:
    made = calm().connect(10, told=RDKAFKA, requests=5)
    report = found(tmp_path, made, limits=ProblemThresholds(reconnects_per_hour=5))
    assert report.counts == {ProblemKind.RECONNECTS: 1}
