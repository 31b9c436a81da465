"""Identification of a client's library: reported, inferred or unknown."""

import json
from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog.apis import Mode
from rollcall.catalog.clients.identify import (
    RULES,
    LibraryEvidence,
    ObservedClient,
    identify_library,
)
from rollcall.catalog.clients.libraries import known_libraries
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.releases.api_ranges import listed_ranges
from rollcall.catalog.releases.release import Release

REAL: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "real_clients.json").read_text()
)
NAMELESS = [row for row in REAL if row["reported"] is None]


def identify_real(row: dict[str, Any], *, by_id: bool = False) -> Any:
    return identify_library(
        client_id=row["client_id"] if by_id else None,
        api_versions={int(key): versions for key, versions in row["api_versions"].items()},
        broker_ranges=listed_ranges(row["release"], Mode(row["mode"])),
    )


def label(row: dict[str, Any]) -> str:
    return f"{row['client_id']}-on-{row['release']}-{row['mode']}"


@pytest.mark.parametrize(
    ("name", "version", "library", "own", "engine", "engine_version"),
    [
        ("apache-kafka-java", "3.9.1", "apache-kafka-java", "3.9.1", "apache-kafka-java", "3.9.1"),
        ("librdkafka", "2.8.0", "librdkafka", "2.8.0", "librdkafka", "2.8.0"),
        ("sarama", "v1.38.1", "sarama", "1.38.1", "sarama", "1.38.1"),
        ("sarama", "dev", "sarama", None, "sarama", None),
        ("kgo", "v1.18.0", "franz-go", "1.18.0", "franz-go", "1.18.0"),
        ("kgo", "0.1.0", "franz-go", None, "franz-go", None),
        ("kadm", "v1.19.0", "franz-go", None, "franz-go", None),
        ("kafka-python", "2.2.3", "kafka-python", "2.2.3", "kafka-python", "2.2.3"),
        ("confluent-kafka-python", "2.16.1-rdkafka-2.16.0",
         "confluent-kafka-python", "2.16.1", "librdkafka", "2.16.0"),
        ("confluent-kafka-go", "2.8.0", "confluent-kafka-go", None, "librdkafka", "2.8.0"),
        ("confluent-kafka-javascript", "1.2.0-librdkafka-2.8.0",
         "confluent-kafka-javascript", "1.2.0", "librdkafka", "2.8.0"),
        ("karafka", "v2.4.0-rdkafka-ruby-v0.16.0-librdkafka-v2.4.0",
         "karafka", "2.4.0", "librdkafka", "2.4.0"),
        ("ClickHouse", "v24.8.1.1-stable", "clickhouse", None, "librdkafka", None),
        ("apache-kafka-java", "unknown", "apache-kafka-java", None, "apache-kafka-java", None),
    ],
)  # fmt: skip
def test_a_reported_name_identifies_library_and_version(
    name: str, version: str, library: str, own: str | None, engine: str, engine_version: str | None
) -> None:
    inference = identify_library(name, version)
    (candidate,) = inference.candidates
    assert inference.provenance is Provenance.REPORTED
    assert inference.library == library
    assert candidate.version == (Release.parse(own) if own else None)
    assert candidate.engine == engine
    assert candidate.engine_version == (Release.parse(engine_version) if engine_version else None)
    assert candidate.evidence == (LibraryEvidence.NAME,)


def test_a_vendor_build_is_identified_as_the_line_it_contains() -> None:
    inference = identify_library("apache-kafka-java", "7.9.10-0-ccs")
    (candidate,) = inference.candidates
    assert (candidate.version, candidate.apache_line) == (Release((3, 9)), "3.9")
    assert inference.software_version == "7.9.10-0-ccs"


def test_an_unknown_reported_name_is_kept_without_inference() -> None:
    inference = identify_library("our-billing", "17", client_id="rdkafka")
    assert inference.provenance is Provenance.REPORTED
    assert (inference.software_name, inference.software_version) == ("our-billing", "17")
    assert inference.library is None


@pytest.mark.parametrize(
    ("client", "rule"),
    [
        (ObservedClient(software_name="librdkafka", client_id="kafkajs"), "reported_name"),
        (ObservedClient(client_id="kafkajs"), "default_client_id"),
        (ObservedClient(api_versions={18: frozenset({0}), 3: frozenset({5})}), "api_versions"),
        (ObservedClient(), None),
    ],
)
def test_each_rule_decides_its_own_kind_of_client(client: ObservedClient, rule: str | None) -> None:
    deciding = (known.__name__ for known in RULES if known(client) is not None)
    assert next(deciding, None) == rule


@pytest.mark.parametrize("nothing", [None, "", "unknown"])
def test_a_client_without_a_name_is_identified_by_its_default_client_id(
    nothing: str | None,
) -> None:
    inference = identify_library(nothing, nothing, client_id="kafka-python-1.4.7")
    assert inference.provenance is Provenance.INFERRED
    assert inference.library == "kafka-python"
    assert inference.candidates[0].version == Release((1, 4, 7))
    assert inference.candidates[0].evidence == (LibraryEvidence.CLIENT_ID,)


def test_every_default_client_id_identifies_one_library() -> None:
    ids = {
        "rdkafka": "librdkafka", "sarama": "sarama", "kgo": "franz-go", "kafkajs": "kafkajs",
        "aiokafka-0.14.0": "aiokafka", "aiokafka-producer-1": "aiokafka",
        "kafka-python-producer-2": "kafka-python", "ruby-kafka": "ruby-kafka",
        "kafka-node-client": "kafka-node", "producer-1": "apache-kafka-java",
        "consumer-billing-1": "apache-kafka-java", "console-consumer-53205": "apache-kafka-scala",
        "loader@host (github.com/segmentio/kafka-go)": "kafka-go",
    }  # fmt: skip
    assert {client_id: identify_library(client_id=client_id).library for client_id in ids} == ids


AIOKAFKA = {18: [0], 3: [5], 0: [7], 1: [11], 11: [5]}


def test_a_java_client_id_with_conflicting_versions_is_ignored() -> None:
    inference = identify_library(
        client_id="consumer-1", api_versions=AIOKAFKA, broker_ranges=listed_ranges("3.9")
    )
    assert inference.library == "aiokafka"


def test_another_client_id_with_conflicting_versions_stays_a_candidate() -> None:
    inference = identify_library(
        client_id="kafkajs", api_versions=AIOKAFKA, broker_ranges=listed_ranges("3.9")
    )
    assert [candidate.library for candidate in inference.candidates] == ["kafkajs", "aiokafka"]
    assert inference.library is None
    unknown_versions = {18: [2], 3: [4], 0: [4], 1: [5]}
    inference = identify_library(
        client_id="kafkajs", api_versions=unknown_versions, broker_ranges=listed_ranges("3.9")
    )
    assert inference.library == "kafkajs"


def test_a_client_without_api_versions_may_be_any_library_that_is_pinned() -> None:
    as_java_0_9 = {0: [1], 1: [1], 2: [0], 3: [0], 8: [2], 9: [1], 10: [0], 11: [0]}
    inference = identify_library(api_versions=as_java_0_9, broker_ranges=listed_ranges("3.9"))
    found = [candidate.library for candidate in inference.candidates]
    assert found[0] == "apache-kafka-java"
    assert {"librdkafka", "sarama", "kafka-python"} <= set(found)
    assert "franz-go" not in found  # it sends ApiVersions even if MaxVersions is set


@pytest.mark.parametrize(
    "library",
    [library for library in known_libraries().values() if library.signatures],
    ids=lambda library: library.id,
)
def test_a_signature_matches_its_own_library(library: Any) -> None:
    for signature in library.signatures:
        for release in ("4.3", "3.9", "2.3", "0.11"):
            broker = listed_ranges(release)
            sent = {
                key: {
                    min(version, broker[key].high) if key != 18 else version for version in versions
                }
                for key, versions in signature.apis.items()
                if key in broker
            }
            inference = identify_library(api_versions=sent, broker_ranges=broker)
            since = library.reports_name_since
            is_older = since and signature.version and signature.version < since
            has_name = since is not None and broker[18].high >= 3 and not is_older
            found = {candidate.library for candidate in inference.candidates}
            assert not found or has_name or not library.negotiates or library.id in found, release


@pytest.mark.parametrize("row", [row for row in REAL if row["reported"]], ids=label)
def test_real_clients_with_a_name_are_identified_by_it(row: dict[str, Any]) -> None:
    inference = identify_library(*row["reported"])
    assert (inference.provenance, inference.library) == (Provenance.REPORTED, row["library"])
    assert str(inference.candidates[0].version) == row["version"]


@pytest.mark.parametrize("row", NAMELESS, ids=label)
def test_a_real_nameless_client_is_never_identified_as_another_library(row: dict[str, Any]) -> None:
    """If there are candidates, they include the library or its engine."""
    engine = known_libraries()[row["library"]].engine or row["library"]
    inference = identify_real(row)
    candidates = {candidate.library for candidate in inference.candidates}
    assert not candidates or engine in candidates
    assert inference.provenance is (Provenance.INFERRED if candidates else Provenance.MISSING)


@pytest.mark.parametrize(
    "row", [r for r in NAMELESS if r["library"] == "aiokafka" and r["release"] >= "2"], ids=label
)
def test_aiokafka_is_inferred_on_every_broker_since_2_0(row: dict[str, Any]) -> None:
    assert identify_real(row).library == "aiokafka"


@pytest.mark.parametrize(
    "row", [r for r in NAMELESS if r["client_id"] in {"consumer-1", "console-producer"}], ids=label
)
def test_old_java_clients_are_inferred_from_their_default_client_ids(row: dict[str, Any]) -> None:
    assert identify_real(row, by_id=True).library == "apache-kafka-java"


def test_a_single_metadata_request_identifies_no_library() -> None:
    inference = identify_library(
        client_id="app", api_versions={3: [0]}, broker_ranges=listed_ranges("3.9")
    )
    assert (inference.provenance, inference.candidates) == (Provenance.MISSING, ())


def test_a_library_that_reports_its_name_is_not_a_candidate_for_a_nameless_client() -> None:
    sent = {18: [3], 0: [8], 3: [9], 1: [11]}
    old = identify_library(api_versions=sent, broker_ranges=listed_ranges("2.3"))
    new = identify_library(api_versions=sent, broker_ranges=listed_ranges("2.5"))
    assert "librdkafka" not in {candidate.library for candidate in new.candidates}
    assert old.provenance in (Provenance.INFERRED, Provenance.MISSING)
