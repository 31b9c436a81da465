"""Clients: reported, inferred and unknown names, filters, connections."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.catalog import Provenance
from rollcall.reports import Client, Clients, Filters, clients
from tests.reports.table_builder import TableBuilder, hour

JAVA = "apache-kafka-java 3.9.0"


def listed(directory: Path, builder: TableBuilder, **filters: object) -> Clients:
    return clients(builder.write(directory / "tables"), filters=Filters(**filters))  # type: ignore[arg-type]


def only(report: Clients) -> Client:
    (client,) = report.clients
    return client


def test_a_client_is_one_software_of_one_application_of_a_principal(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .use("Fetch", 11, JAVA, client_id="app-1")
        .use("Fetch", 13, JAVA, client_id="app-2")
    )
    builder.use("Metadata", 12, "apache-kafka-java 3.8.0", client_id="app-1", host="10.0.0.2")
    builder.use("Fetch", 11, JAVA, client_id="app-1", principal="User:other")
    builder.use("Fetch", 11, "librdkafka 2.4.0", client_id="app-1")
    keys = {client.key[1:] for client in listed(tmp_path, builder).clients}
    assert keys == {
        ("User:app", "app-*", "apache-kafka-java"),
        ("User:other", "app-*", "apache-kafka-java"),
        ("User:app", "app-*", "librdkafka"),
    }


def test_a_client_has_hosts_versions_apis_and_times(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, JAVA, client_id="app-1", days=range(2, 5))
    builder.use(
        "Fetch", 13, "apache-kafka-java 3.8.0", client_id="app-2", host="10.0.0.2", days=[3]
    )
    found = only(listed(tmp_path, builder.connect(3, software=JAVA, client_id="app-1")))
    assert found.hosts == ("10.0.0.1", "10.0.0.2")
    assert found.versions == ("3.9.0", "3.8.0")
    assert found.apis == {1: (11, 13)}
    assert (found.requests, found.connections) == (40, 3)
    assert (found.first, found.last.date()) == (hour(2), hour(4).date())


def test_raw_ids_lists_client_ids_instead_of_applications(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, client_id="app-1").use("Fetch", 11, client_id="app-2")
    raw = listed(tmp_path, builder, raw_ids=True)
    assert {client.application for client in raw.clients} == {"app-1", "app-2"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"principal": "User:a*"}, {"User:a"}),
        ({"client_id": "x-?"}, {"User:b"}),
        ({"software": "librdkafka*"}, {"User:b"}),
        ({"cluster": "test"}, {"User:c"}),
        ({"since": hour(10)}, {"User:b"}),
        ({"until": hour(10)}, {"User:a", "User:c"}),
    ],
)
def test_filters_select_clients(
    tmp_path: Path, filters: dict[str, object], expected: set[str]
) -> None:
    builder = TableBuilder().use("Fetch", 11, JAVA, principal="User:a", days=range(5))
    builder.use(
        "Fetch", 11, "librdkafka 2.4.0", principal="User:b", client_id="x-1", days=range(10, 14)
    )
    builder.use("Fetch", 11, JAVA, principal="User:c", cluster="test", days=range(5))
    assert {client.principal for client in listed(tmp_path, builder, **filters).clients} == expected


# K04: only the first connection of an application names itself


def test_k04_a_row_without_name_gets_the_only_name_reported_within_a_day(tmp_path: Path) -> None:
    builder = (
        TableBuilder().use("ApiVersions", 3, JAVA, days=range(3)).use("Fetch", 13, days=range(4))
    )
    found = only(listed(tmp_path, builder))
    assert (found.software, found.versions, found.software_provenance) == (
        "apache-kafka-java",
        ("3.9.0",),
        Provenance.REPORTED,
    )


def test_k04_requests_with_an_inferred_name_are_counted(tmp_path: Path) -> None:
    builder = TableBuilder().use("ApiVersions", 3, JAVA, days=[0], listener="A")
    found = only(listed(tmp_path, builder.use("Fetch", 13, days=[1], listener="B")))
    assert (found.requests, found.inferred_requests) == (20, 10)


@pytest.mark.parametrize(
    "other", [{"host": "10.9.9.9"}, {"client_id": "b"}, {"principal": "User:b"}, {"days": [5]}]
)
def test_k04_a_name_of_another_host_client_id_principal_or_day_is_not_inferred(
    tmp_path: Path, other: dict[str, object]
) -> None:
    builder = TableBuilder().use("ApiVersions", 3, JAVA, **({"days": [0]} | other))  # type: ignore[arg-type]
    builder.use("Fetch", 13, days=[0] if "days" not in other else [0, 1])
    assert None in {client.software for client in listed(tmp_path, builder).clients}


def test_k04_a_row_without_name_is_split_at_the_day_of_the_first_name(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 13, days=range(10)).use("ApiVersions", 3, JAVA, days=[9])
    named = {client.software: client for client in listed(tmp_path, builder).clients}
    assert named[None].requests == 80
    assert named["apache-kafka-java"].requests == 30
    assert named["apache-kafka-java"].first == hour(8)


def test_k04_each_day_gets_the_version_reported_on_that_day(tmp_path: Path) -> None:
    builder = TableBuilder().use("ApiVersions", 3, "librdkafka 2.3.0", days=range(3))
    builder.use("ApiVersions", 3, "librdkafka 2.4.0", days=range(7, 10))
    builder.use("Fetch", 11, days=[0, 1, 8, 9])
    found = only(listed(tmp_path, builder))
    fetches = {use.software_version: use.requests for use in found.uses if use.api_key == 1}
    assert fetches == {"2.3.0": 20, "2.4.0": 20}


def test_k04_two_reported_names_are_candidates(tmp_path: Path) -> None:
    builder = TableBuilder().use("ApiVersions", 3, JAVA, days=[0]).use("Fetch", 11, days=[0])
    builder.use("ApiVersions", 3, "librdkafka 2.4.0", days=[0])
    (nameless,) = (
        client for client in listed(tmp_path, builder).clients if client.software is None
    )
    assert nameless.name_candidates == ("apache-kafka-java", "librdkafka")


def test_k04_forwarded_requests_neither_give_nor_get_a_name(tmp_path: Path) -> None:
    builder = TableBuilder().use("CreateTopics", 7, JAVA, forwarded=True).use("Fetch", 13)
    assert only(listed(tmp_path, builder)).software is None


def test_k05_the_version_of_an_application_is_not_that_of_its_library(tmp_path: Path) -> None:
    found = only(listed(tmp_path, TableBuilder().use("Fetch", 11, "ClickHouse v24.8.1.1-stable")))
    inference = found.inference("v24.8.1.1-stable")
    assert inference is not None
    assert (inference.library, inference.candidates[0].engine_version) == ("clickhouse", None)


def test_k06_an_api_versions_request_counts_for_the_name_in_its_body(tmp_path: Path) -> None:
    builder = TableBuilder().use("ApiVersions", 3, JAVA).use("Metadata", 12, JAVA)
    assert only(listed(tmp_path, builder)).apis == {3: (12, 12), 18: (3, 3)}


@pytest.mark.parametrize(
    ("client_id", "versions", "library"),
    [
        ("aiokafka-0.14.0", {"ApiVersions": 0, "Metadata": 5, "Fetch": 11}, "aiokafka"),
        ("kafkajs", {"ApiVersions": 2, "Metadata": 6, "Fetch": 11}, "kafkajs"),
        ("app@host (github.com/segmentio/kafka-go)", {"ApiVersions": 2, "Fetch": 10}, "kafka-go"),
        ("mystery", {"Fetch": 11}, None),
    ],
)
def test_k07_a_client_without_name_is_inferred_or_unknown(
    tmp_path: Path, client_id: str, versions: dict[str, int], library: str | None
) -> None:
    builder = TableBuilder().broker_reports("3.9.0")
    for api, version in versions.items():
        builder.use(api, version, client_id=client_id)
    report = listed(tmp_path, builder)
    found = only(report)
    assert (found.software, found.library) == (None, library)
    assert report.coverage.unidentified_share == (0.0 if library else 1.0)


def test_a_client_without_principal_and_client_id_is_listed(tmp_path: Path) -> None:
    builder = TableBuilder().use(
        "Fetch", 2, principal=None, client_id=None, listener=None, form="B"
    )
    found = only(listed(tmp_path, builder.connect(2, principal=None, client_id=None)))
    assert (found.principal, found.application, found.connections) == (None, None, 2)


def test_summed_and_single_connections_are_added(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 13, JAVA).connect(4, day=13, software=JAVA)
    builder.add(
        "connection_hours",
        **{**builder.rows["connections"][0], "hour": hour(0), "opened": 6, "seen_once": 0}
        | {"longest_us": 1, "first_seen": hour(0), "last_seen": hour(0)},
    )
    for name in ("connection", "day"):
        del builder.rows["connection_hours"][0][name]
    assert only(listed(tmp_path, builder)).connections == 10


def test_empty_tables_have_no_clients(tmp_path: Path) -> None:
    report = listed(tmp_path, TableBuilder())
    assert (report.clients, report.coverage.first) == ((), None)


def test_the_unidentified_share_refers_to_the_listed_requests(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, "librdkafka 2.4.0", requests=90)
    directory = builder.use("Fetch", 3, principal="User:x").write(tmp_path / "tables")
    assert clients(directory).coverage.unidentified_share == 0.1
    coverage = clients(directory, filters=Filters(principal="User:x")).coverage
    assert (coverage.unidentified_share, coverage.listed_requests) == (1, 140)


@pytest.mark.parametrize("totals", [False, True])
@pytest.mark.parametrize("days", [100, 300])
def test_k04_a_name_is_inferred_within_a_day_in_a_window_of_any_length(
    tmp_path: Path, days: int, totals: bool
) -> None:
    builder = TableBuilder().use("Metadata", 4, "librdkafka 2.4.0", days=[0, 20])
    builder.use("Fetch", 11, days=[1]).use("Produce", 7, days=[3]).use("ListOffsets", 2, days=[19])
    builder.use("Fetch", 17, days=[days], client_id="far")
    found = clients(builder.write(tmp_path / "tables", totals=totals))
    used = {
        client.software: set(client.apis) for client in found.clients if client.application == "app"
    }
    assert used == {"librdkafka": {1, 2, 3}, None: {0}}
