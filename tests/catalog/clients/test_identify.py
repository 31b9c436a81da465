"""Which library is this client: reported, inferred, or cannot be told."""

import json
from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog.apis import Mode
from rollcall.catalog.clients.identify import LibraryEvidence, identify_library
from rollcall.catalog.clients.libraries import known_libraries
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.releases.api_ranges import listed_ranges
from rollcall.catalog.releases.release import Release

REAL: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "real_clients.json").read_text()
)
NAMELESS = [row for row in REAL if row["told"] is None]


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
def test_a_told_name_leads_to_its_library_and_the_right_version(
    name: str, version: str, library: str, own: str | None, engine: str, engine_version: str | None
) -> None:
    guess = identify_library(name, version)
    (candidate,) = guess.candidates
    assert guess.provenance is Provenance.REPORTED
    assert guess.library == library
    assert candidate.version == (Release.parse(own) if own else None)
    assert candidate.engine == engine
    assert candidate.engine_version == (Release.parse(engine_version) if engine_version else None)
    assert candidate.evidence == (LibraryEvidence.NAME,)


def test_a_build_with_its_own_number_is_judged_as_the_line_it_carries() -> None:
    guess = identify_library("apache-kafka-java", "7.9.10-0-ccs")
    (candidate,) = guess.candidates
    assert (candidate.version, candidate.build_of) == (Release((3, 9)), "3.9")
    assert guess.software_version == "7.9.10-0-ccs"


def test_a_name_nobody_knows_is_kept_and_not_guessed_at() -> None:
    guess = identify_library("our-billing", "17", client_id="rdkafka")
    assert guess.provenance is Provenance.REPORTED
    assert (guess.software_name, guess.software_version) == ("our-billing", "17")
    assert guess.library is None


@pytest.mark.parametrize("nothing", [None, "", "unknown"])
def test_a_client_that_tells_nothing_is_known_by_its_client_id(nothing: str | None) -> None:
    guess = identify_library(nothing, nothing, client_id="kafka-python-1.4.7")
    assert guess.provenance is Provenance.INFERRED
    assert guess.library == "kafka-python"
    assert guess.candidates[0].version == Release((1, 4, 7))
    assert guess.candidates[0].evidence == (LibraryEvidence.CLIENT_ID,)


def test_every_default_client_id_leads_to_its_library_alone() -> None:
    ids = {
        "rdkafka": "librdkafka", "sarama": "sarama", "kgo": "franz-go", "kafkajs": "kafkajs",
        "aiokafka-0.14.0": "aiokafka", "aiokafka-producer-1": "aiokafka",
        "kafka-python-producer-2": "kafka-python", "ruby-kafka": "ruby-kafka",
        "kafka-node-client": "kafka-node", "producer-1": "apache-kafka-java",
        "consumer-billing-1": "apache-kafka-java", "console-consumer-53205": "apache-kafka-scala",
        "loader@host (github.com/segmentio/kafka-go)": "kafka-go",
    }  # fmt: skip
    assert {client_id: identify_library(client_id=client_id).library for client_id in ids} == ids


AIOKAFKA_SENDS = {18: [0], 3: [5], 0: [7], 1: [11], 11: [5]}


def test_a_client_id_of_java_that_the_versions_contradict_is_set_aside() -> None:
    guess = identify_library(
        client_id="consumer-1", api_versions=AIOKAFKA_SENDS, broker_ranges=listed_ranges("3.9")
    )
    assert guess.library == "aiokafka"


def test_a_client_id_in_doubt_stays_a_candidate_where_not_all_versions_are_known() -> None:
    guess = identify_library(
        client_id="kafkajs", api_versions=AIOKAFKA_SENDS, broker_ranges=listed_ranges("3.9")
    )
    assert [candidate.library for candidate in guess.candidates] == ["kafkajs", "aiokafka"]
    assert guess.library is None
    unheard_of = {18: [2], 3: [4], 0: [4], 1: [5]}
    guess = identify_library(
        client_id="kafkajs", api_versions=unheard_of, broker_ranges=listed_ranges("3.9")
    )
    assert guess.library == "kafkajs"


def test_who_is_not_seen_to_ask_may_be_any_library_that_is_held_down() -> None:
    as_java_0_9 = {0: [1], 1: [1], 2: [0], 3: [0], 8: [2], 9: [1], 10: [0], 11: [0]}
    guess = identify_library(api_versions=as_java_0_9, broker_ranges=listed_ranges("3.9"))
    found = [candidate.library for candidate in guess.candidates]
    assert found[0] == "apache-kafka-java"
    assert {"librdkafka", "sarama", "kafka-python"} <= set(found)
    assert "franz-go" not in found  # it asks whatever its MaxVersions are


@pytest.mark.parametrize(
    "library", [it for it in known_libraries().values() if it.signatures], ids=lambda it: it.id
)
def test_no_signature_excludes_its_own_library(library: Any) -> None:
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
            guess = identify_library(api_versions=sent, broker_ranges=broker)
            tells = library.reports_name_since is not None and broker[18].high >= 3
            old = library.reports_name_since and signature.version
            if old and Release.parse(signature.version) < library.reports_name_since:
                tells = False
            found = {candidate.library for candidate in guess.candidates}
            assert not found or tells or not library.negotiates or library.id in found, release


@pytest.mark.parametrize("row", [row for row in REAL if row["told"]], ids=label)
def test_real_clients_that_told_their_name_are_known_by_it(row: dict[str, Any]) -> None:
    guess = identify_library(*row["told"])
    assert (guess.provenance, guess.library) == (Provenance.REPORTED, row["library"])
    assert str(guess.candidates[0].version) == row["version"]


@pytest.mark.parametrize("row", NAMELESS, ids=label)
def test_a_real_nameless_client_is_never_taken_for_another_library(row: dict[str, Any]) -> None:
    """The library, or the one it is built on, is always among the candidates, if there are any."""
    engine = known_libraries()[row["library"]].engine or row["library"]
    guess = identify_real(row)
    candidates = {candidate.library for candidate in guess.candidates}
    assert not candidates or engine in candidates
    assert guess.provenance is (Provenance.INFERRED if candidates else Provenance.MISSING)


@pytest.mark.parametrize(
    "row", [r for r in NAMELESS if r["library"] == "aiokafka" and r["release"] >= "2"], ids=label
)
def test_aiokafka_is_inferred_on_every_broker_that_hears_names(row: dict[str, Any]) -> None:
    assert identify_real(row).library == "aiokafka"


@pytest.mark.parametrize(
    "row", [r for r in NAMELESS if r["client_id"] in {"consumer-1", "console-producer"}], ids=label
)
def test_old_java_clients_are_inferred_with_their_default_ids(row: dict[str, Any]) -> None:
    assert identify_real(row, by_id=True).library == "apache-kafka-java"


def test_a_lone_metadata_request_tells_nothing() -> None:
    guess = identify_library(
        client_id="app", api_versions={3: [0]}, broker_ranges=listed_ranges("3.9")
    )
    assert (guess.provenance, guess.candidates) == (Provenance.MISSING, ())


def test_libraries_that_name_themselves_are_no_candidates_where_names_are_heard() -> None:
    sent = {18: [3], 0: [8], 3: [9], 1: [11]}
    old = identify_library(api_versions=sent, broker_ranges=listed_ranges("2.3"))
    new = identify_library(api_versions=sent, broker_ranges=listed_ranges("2.5"))
    assert "librdkafka" not in {candidate.library for candidate in new.candidates}
    assert old.provenance in (Provenance.INFERRED, Provenance.MISSING)
