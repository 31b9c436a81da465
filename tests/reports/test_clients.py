"""Who is on the cluster: names told, taken from others, inferred, or not to be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.catalog import Source
from rollcall.reports import Client, Clients, Filters, clients
from rollcall.reports.timeline import version_timeline
from tests.reports.making import Made, hour

JAVA = "apache-kafka-java 3.9.0"


def listed(folder: Path, made: Made, **asked: object) -> Clients:
    return clients(made.write(folder / "tables"), filters=Filters(**asked))  # type: ignore[arg-type]


def only(report: Clients) -> Client:
    (client,) = report.clients
    return client


def test_a_client_is_a_principals_application_on_one_software(tmp_path: Path) -> None:
    made = (
        Made().use("Fetch", 11, JAVA, client_id="app-1").use("Fetch", 13, JAVA, client_id="app-2")
    )
    made.use("Metadata", 12, "apache-kafka-java 3.8.0", client_id="app-1", host="10.0.0.2")
    made.use("Fetch", 11, JAVA, client_id="app-1", principal="User:other")
    made.use("Fetch", 11, "librdkafka 2.4.0", client_id="app-1")
    keys = {it.key[1:] for it in listed(tmp_path, made).clients}
    assert keys == {
        ("User:app", "app-*", "apache-kafka-java"),
        ("User:other", "app-*", "apache-kafka-java"),
        ("User:app", "app-*", "librdkafka"),
    }


def test_it_is_told_with_hosts_versions_apis_and_times(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, JAVA, client_id="app-1", days=range(2, 5))
    made.use("Fetch", 13, "apache-kafka-java 3.8.0", client_id="app-2", host="10.0.0.2", days=[3])
    found = only(listed(tmp_path, made.connect(3, told=JAVA, client_id="app-1")))
    assert found.hosts == ("10.0.0.1", "10.0.0.2")
    assert found.versions == ("3.9.0", "3.8.0")
    assert found.apis == {1: (11, 13)}
    assert (found.requests, found.connections) == (40, 3)
    assert (found.first, found.last.date()) == (hour(2), hour(4).date())


def test_raw_ids_are_kept_apart_on_request(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, client_id="app-1").use("Fetch", 11, client_id="app-2")
    raw = listed(tmp_path, made, raw_ids=True)
    assert {it.application for it in raw.clients} == {"app-1", "app-2"}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"principal": "User:a*"}, {"User:a"}),
        ({"client_id": "x-?"}, {"User:b"}),
        ({"software": "librdkafka*"}, {"User:b"}),
        ({"cluster": "test"}, {"User:c"}),
        ({"since": hour(10)}, {"User:b"}),
        ({"until": hour(10)}, {"User:a", "User:c"}),
    ],
)
def test_filters_choose_whose_rows_are_shown(
    tmp_path: Path, asked: dict[str, object], expected: set[str]
) -> None:
    made = Made().use("Fetch", 11, JAVA, principal="User:a", days=range(5))
    made.use(
        "Fetch", 11, "librdkafka 2.4.0", principal="User:b", client_id="x-1", days=range(10, 14)
    )
    made.use("Fetch", 11, JAVA, principal="User:c", cluster="test", days=range(5))
    assert {it.principal for it in listed(tmp_path, made, **asked).clients} == expected


# K04: only the first connection of an application names itself


def test_k04_a_nameless_row_takes_the_one_name_told_within_a_day(tmp_path: Path) -> None:
    made = Made().use("ApiVersions", 3, JAVA, days=range(3)).use("Fetch", 13, days=range(4))
    found = only(listed(tmp_path, made))
    assert (found.software, found.versions, found.named) == (
        "apache-kafka-java",
        ("3.9.0",),
        Provenance.REPORTED,
    )


def test_k04_how_much_of_it_was_taken_from_others_is_told(tmp_path: Path) -> None:
    made = Made().use("ApiVersions", 3, JAVA, days=[0], listener="A")
    found = only(listed(tmp_path, made.use("Fetch", 13, days=[1], listener="B")))
    assert (found.requests, found.inferred_requests) == (20, 10)


@pytest.mark.parametrize(
    "other", [{"host": "10.9.9.9"}, {"client_id": "b"}, {"principal": "User:b"}, {"days": [5]}]
)
def test_k04_and_no_other_name(tmp_path: Path, other: dict[str, object]) -> None:
    made = Made().use("ApiVersions", 3, JAVA, **({"days": [0]} | other))  # type: ignore[arg-type]
    made.use("Fetch", 13, days=[0] if "days" not in other else [0, 1])
    assert None in {it.software for it in listed(tmp_path, made).clients}


def test_k04_a_nameless_row_is_split_where_the_name_came_later(tmp_path: Path) -> None:
    made = Made().use("Fetch", 13, days=range(10)).use("ApiVersions", 3, JAVA, days=[9])
    named = {it.software: it for it in listed(tmp_path, made).clients}
    assert named[None].requests == 80
    assert named["apache-kafka-java"].requests == 30
    assert named["apache-kafka-java"].first == hour(8)


def test_k04_each_day_takes_the_version_of_that_day(tmp_path: Path) -> None:
    made = Made().use("ApiVersions", 3, "librdkafka 2.3.0", days=range(3))
    made.use("ApiVersions", 3, "librdkafka 2.4.0", days=range(7, 10))
    made.use("Fetch", 11, days=[0, 1, 8, 9])
    found = only(listed(tmp_path, made))
    fetches = {use.software_version: use.requests for use in found.uses if use.api_key == 1}
    assert fetches == {"2.3.0": 20, "2.4.0": 20}


def test_k04_two_names_are_candidates(tmp_path: Path) -> None:
    made = Made().use("ApiVersions", 3, JAVA, days=[0]).use("Fetch", 11, days=[0])
    made.use("ApiVersions", 3, "librdkafka 2.4.0", days=[0])
    (nameless,) = (it for it in listed(tmp_path, made).clients if it.software is None)
    assert nameless.other_names == ("apache-kafka-java", "librdkafka")


def test_k04_forwarded_lines_neither_take_nor_give_a_name(tmp_path: Path) -> None:
    made = Made().use("CreateTopics", 7, JAVA, forwarded=True).use("Fetch", 13)
    assert only(listed(tmp_path, made)).software is None


def test_k05_the_version_of_an_application_is_not_taken_for_the_librarys(tmp_path: Path) -> None:
    found = only(listed(tmp_path, Made().use("Fetch", 11, "ClickHouse v24.8.1.1-stable")))
    inference = found.inference("v24.8.1.1-stable")
    assert inference is not None
    assert (inference.library, inference.candidates[0].engine_version) == ("clickhouse", None)


def test_k06_the_line_of_api_versions_counts_for_the_name_in_its_body(tmp_path: Path) -> None:
    made = Made().use("ApiVersions", 3, JAVA).use("Metadata", 12, JAVA)
    assert only(listed(tmp_path, made)).apis == {3: (12, 12), 18: (3, 3)}


@pytest.mark.parametrize(
    ("client_id", "versions", "library"),
    [
        ("aiokafka-0.14.0", {"ApiVersions": 0, "Metadata": 5, "Fetch": 11}, "aiokafka"),
        ("kafkajs", {"ApiVersions": 2, "Metadata": 6, "Fetch": 11}, "kafkajs"),
        ("app@host (github.com/segmentio/kafka-go)", {"ApiVersions": 2, "Fetch": 10}, "kafka-go"),
        ("mystery", {"Fetch": 11}, None),
    ],
)
def test_k07_who_never_tells_is_inferred_or_cannot_be_told(
    tmp_path: Path, client_id: str, versions: dict[str, int], library: str | None
) -> None:
    made = Made().told("3.9.0")
    for api, version in versions.items():
        made.use(api, version, client_id=client_id)
    report = listed(tmp_path, made)
    found = only(report)
    assert (found.software, found.library) == (None, library)
    assert report.coverage.unidentified_share == (0.0 if library else 1.0)


def test_a_client_without_principal_or_client_id_is_one_too(tmp_path: Path) -> None:
    made = Made().use("Fetch", 2, principal=None, client_id=None, listener=None, form="B")
    found = only(listed(tmp_path, made.connect(2, principal=None, client_id=None)))
    assert (found.principal, found.application, found.connections) == (None, None, 2)


def test_connections_that_were_summed_up_count_with_those_that_were_not(tmp_path: Path) -> None:
    made = Made().use("Fetch", 13, JAVA).connect(4, day=13, told=JAVA)
    made.add(
        "connection_hours",
        **{**made.rows["connections"][0], "hour": hour(0), "opened": 6, "seen_once": 0}
        | {"longest_us": 1, "first_seen": hour(0), "last_seen": hour(0)},
    )
    for name in ("connection", "day"):
        del made.rows["connection_hours"][0][name]
    assert only(listed(tmp_path, made)).connections == 10


def test_versions_over_time_count_applications_day_by_day(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, "librdkafka 2.3.0", days=[0, 1])
    made.use("Fetch", 11, "librdkafka 2.4.1", days=[1, 2]).use(
        "Fetch", 3, principal="User:b", days=[2]
    )
    found = version_timeline(made.write(tmp_path / "tables"))
    assert found.days == (hour(0), hour(1), hour(2))
    assert found.series == {
        "librdkafka 2.3": (1, 1, 0),
        "librdkafka 2.4": (0, 1, 1),
        "no name told": (0, 0, 1),
    }


def test_empty_tables_have_nobody_in_them(tmp_path: Path) -> None:
    report = listed(tmp_path, Made())
    assert (report.clients, report.coverage.first) == ((), None)
    assert version_timeline(tmp_path / "tables").series == {}


def test_what_nobody_identified_is_a_share_of_what_is_listed(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, "librdkafka 2.4.0", requests=90)
    folder = made.use("Fetch", 3, principal="User:x").write(tmp_path / "tables")
    assert clients(folder).coverage.unidentified_share == 0.1
    asked = clients(folder, filters=Filters(principal="User:x")).coverage
    assert (asked.unidentified_share, asked.listed_requests) == (1, 140)


@pytest.mark.parametrize("totals", [False, True])
@pytest.mark.parametrize("days", [100, 300])
def test_k04_a_name_holds_for_a_day_however_long_the_window_is(
    tmp_path: Path, days: int, totals: bool
) -> None:
    made = Made().use("Metadata", 4, "librdkafka 2.4.0", days=[0, 20])
    made.use("Fetch", 11, days=[1]).use("Produce", 7, days=[3]).use("ListOffsets", 2, days=[19])
    made.use("Fetch", 17, days=[days], client_id="far")
    found = clients(made.write(tmp_path / "tables", totals=totals))
    used = {it.software: set(it.apis) for it in found.clients if it.application == "app"}
    assert used == {"librdkafka": {1, 2, 3}, None: {0}}
