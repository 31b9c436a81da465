"""Clients that misbehave, and the thresholds."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.reports import ProblemKind, Problems, ProblemThresholds, problems
from tests.reports.table_builder import TableBuilder, hour

RDKAFKA = "librdkafka 2.4.0"


def report_of(directory: Path, builder: TableBuilder, **more: object) -> Problems:
    return problems(builder.write(directory / "tables"), **more)  # type: ignore[arg-type]


def kinds(report: Problems) -> set[ProblemKind]:
    return {problem.kind for problem in report.problems}


def normal_client() -> TableBuilder:
    return TableBuilder().use("Fetch", 11, RDKAFKA).use("Metadata", 12, RDKAFKA)


def test_a_normal_client_has_no_problem(tmp_path: Path) -> None:
    assert (
        report_of(tmp_path, normal_client().connect(10, software=RDKAFKA, requests=50)).problems
        == ()
    )


def test_a_reconnect_storm_has_software_host_and_broker(tmp_path: Path) -> None:
    (problem,) = report_of(
        tmp_path, normal_client().connect(100, software=RDKAFKA, requests=9)
    ).problems
    assert problem.kind is ProblemKind.RECONNECT_STORM
    assert (problem.client.software, problem.versions) == ("librdkafka", ("2.4.0",))
    assert (problem.host, problem.broker, problem.rate) == ("10.0.0.1", "b1:9092", 100)


@pytest.mark.parametrize(("opened", "is_problem"), [(6, False), (11, True)])
def test_reconnects_far_above_the_median_are_a_storm(
    tmp_path: Path, opened: int, is_problem: bool
) -> None:
    builder = TableBuilder()
    for number in range(9):
        builder.use("Fetch", 11, RDKAFKA, client_id=f"normal-{number}x")
        builder.connect(1, software=RDKAFKA, client_id=f"normal-{number}x", requests=50)
    builder.use("Fetch", 11, RDKAFKA, client_id="unstable")
    builder.connect(opened, software=RDKAFKA, client_id="unstable", requests=9)
    report = report_of(tmp_path, builder)
    storms = [
        problem.client.application
        for problem in report.problems
        if problem.kind is ProblemKind.RECONNECT_STORM
    ]
    assert storms == (["unstable"] if is_problem else [])


def test_an_old_storm_is_found_in_summed_connections(tmp_path: Path) -> None:
    builder = normal_client()
    row = {"cluster": "prod", "broker": "b1:9092", "listener": "PLAINTEXT", "host": "10.0.0.1"}
    row |= {"principal": "User:app", "client_id": "app", "software_name": "librdkafka"}
    row |= {"software_version": "2.4.0", "forwarded": False, "replica": False}
    # the row of a day, whose longest connection lasted two days
    times = {"hour": hour(0), "first_seen": hour(0), "last_seen": hour(2, 20)}
    opened = {"opened": 130, "most_opened": 100, "seen_once": 0, "most_seen_once": 0}
    builder.add("connection_hours", **row, **times, **opened)
    (problem,) = report_of(tmp_path, builder).problems
    assert (problem.kind, problem.rate) == (ProblemKind.RECONNECT_STORM, 100)


def test_connections_with_one_request_are_a_problem(tmp_path: Path) -> None:
    builder = (
        normal_client().connect(30, software=RDKAFKA).connect(20, software=RDKAFKA, requests=5)
    )
    (problem,) = report_of(tmp_path, builder).problems
    assert (problem.kind, problem.count, problem.of) == (
        ProblemKind.SINGLE_REQUEST_CONNECTIONS,
        30,
        50,
    )


@pytest.mark.parametrize(
    ("api", "kind"),
    [("Metadata", ProblemKind.METADATA_FLOOD), ("ApiVersions", ProblemKind.API_VERSIONS_FLOOD)],
)
def test_a_flood_is_a_rate_within_one_hour(tmp_path: Path, api: str, kind: ProblemKind) -> None:
    builder = TableBuilder().use(api, 3, RDKAFKA, requests=601, days=[0])
    assert kinds(report_of(tmp_path / "flood", builder)) == {kind}
    spread = TableBuilder().use(
        api, 3, RDKAFKA, requests=2400, hours=0b1111, days=[0]
    )  # over 4 hours
    assert kinds(report_of(tmp_path / "spread", spread)) == set()


@pytest.mark.parametrize("totals", [False, True], ids=["batches", "compactions"])
def test_a_flood_read_in_several_batches_is_one_problem(tmp_path: Path, totals: bool) -> None:
    directory = normal_client().write(tmp_path / "tables", totals=totals)
    for number in range(2, 6):
        builder = TableBuilder().use(
            "Metadata", 3, RDKAFKA, requests=250, days=[1], client_id="unstable"
        )
        builder.write_batch(directory, number, totals=totals)
    (problem,) = problems(directory).problems
    assert (problem.kind, problem.rate) == (ProblemKind.METADATA_FLOOD, 1000)


def test_errors_are_a_share_of_the_parsed_responses(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, RDKAFKA, requests=1000, answered=100, errors=10)
    (problem,) = report_of(tmp_path, builder).problems
    assert (problem.kind, problem.rate, problem.api_key) == (ProblemKind.ERRORS, 0.1, 1)


def test_an_unsupported_api_versions_version_is_not_an_error(tmp_path: Path) -> None:
    builder = TableBuilder().use("ApiVersions", 4, RDKAFKA, answered=10, errors=10, unsupported=10)
    assert kinds(report_of(tmp_path, builder)) == set()


def test_throttled_requests_are_a_problem(tmp_path: Path) -> None:
    builder = TableBuilder().use(
        "Produce", 9, RDKAFKA, requests=100, throttled=5, throttle_us=10**6
    )
    assert kinds(report_of(tmp_path, builder)) == {ProblemKind.THROTTLED}


def test_three_versions_of_one_library_on_one_day_are_a_problem(tmp_path: Path) -> None:
    builder = TableBuilder()
    for minor in range(3):
        builder.use("Fetch", 11, f"librdkafka 2.{minor}.0", client_id=f"app-{minor}", days=[0, 4])
    (problem,) = report_of(tmp_path / "same", builder).problems
    assert (problem.kind, problem.versions) == (
        ProblemKind.MANY_VERSIONS,
        ("2.0.0", "2.1.0", "2.2.0"),
    )
    after = TableBuilder()
    for minor in range(3):
        after.use("Fetch", 11, f"librdkafka 2.{minor}.0", days=[minor])
    assert kinds(report_of(tmp_path / "after", after)) == set()


def test_replica_and_forwarded_requests_are_not_problems_of_clients(tmp_path: Path) -> None:
    builder = TableBuilder().use("Metadata", 3, requests=9999, replica=True)
    builder.use("Metadata", 3, requests=9999, forwarded=True)
    assert kinds(report_of(tmp_path, builder)) == set()


def test_thresholds_can_be_set(tmp_path: Path) -> None:
    builder = normal_client().connect(10, software=RDKAFKA, requests=5)
    report = report_of(tmp_path, builder, thresholds=ProblemThresholds(reconnects_per_hour=5))
    assert report.counts == {ProblemKind.RECONNECT_STORM: 1}
