"""Compatibility of a library version with a target release."""

import pytest

from rollcall.catalog.clients.compatibility import (
    RiskReason,
    known_api_versions,
    library_compatibility,
)
from rollcall.catalog.loader import CatalogError
from rollcall.catalog.releases.api_ranges import accepts
from rollcall.catalog.releases.release import Release, UnknownReleaseError

LIST_OFFSETS, OFFSET_COMMIT, JOIN_GROUP, CREATE_TOPICS, DELETE_TOPICS = 2, 8, 11, 19, 20


def risks(library: str, version: str | None, target: str) -> dict[int, RiskReason]:
    own = Release.parse(version) if version else None
    return {risk.api_key: risk.reason for risk in library_compatibility(library, own, target).risks}


@pytest.mark.parametrize(
    ("library", "version", "target", "expected"),
    [
        ("librdkafka", "2.10.1", "4.0.0", {JOIN_GROUP: RiskReason.NOT_LISTED}),
        ("librdkafka", "2.10.1", "4.0.1", {}),
        ("librdkafka", "2.11.0", "4.0.0", {}),
        ("librdkafka", "1.7.0", "4.0.1", {LIST_OFFSETS: RiskReason.REFUSED}),
        ("librdkafka", "1.7.0", "3.9.0", {}),
        ("sarama", "1.40.1", "4.1.0", {OFFSET_COMMIT: RiskReason.REFUSED}),
        (
            "sarama",
            "1.40.1",
            "4.0.0",
            {OFFSET_COMMIT: RiskReason.REFUSED, JOIN_GROUP: RiskReason.REFUSED},
        ),
        ("sarama", "1.41.0", "4.0.0", {}),
        (
            "kafka-go",
            "0.4.47",
            "4.0.1",
            {CREATE_TOPICS: RiskReason.REFUSED, DELETE_TOPICS: RiskReason.REFUSED},
        ),
        ("kafka-go", "0.4.48", "4.0.0", {}),
        (
            "ruby-kafka",
            "1.5.1",
            "4.3.0",
            {CREATE_TOPICS: RiskReason.REFUSED, DELETE_TOPICS: RiskReason.REFUSED},
        ),
        (
            "ruby-kafka",
            None,
            "4.3.0",
            {CREATE_TOPICS: RiskReason.REFUSED, DELETE_TOPICS: RiskReason.REFUSED},
        ),
        ("kafka_ex", "0.14.0", "4.0.0", {JOIN_GROUP: RiskReason.REFUSED}),
        ("kafka_ex", "0.14.0", "4.0.1", {}),
        ("franz-go", "1.18.0", "4.3.0", {}),
    ],
)
def test_requirements_are_compared_with_the_patch_release(
    library: str, version: str | None, target: str, expected: dict[int, RiskReason]
) -> None:
    assert risks(library, version, target) == expected


def test_a_risk_has_its_operation_fix_and_reference() -> None:
    (risk,) = library_compatibility("librdkafka", Release((2, 10, 1)), "4.0.0").risks
    assert "Kerberos" in str(risk.operation)
    assert risk.fixed_in == Release((2, 11, 0))
    assert risk.reference == "KAFKA-19444"


def test_a_binding_is_judged_by_its_engine() -> None:
    engine = Release((1, 6, 0))
    judged = library_compatibility(
        "confluent-kafka-python", Release((1, 6, 0)), "4.0.1", engine_version=engine
    )
    assert judged.below_minimum is True
    assert [risk.api_key for risk in judged.risks] == [LIST_OFFSETS]
    unknown = library_compatibility("confluent-kafka-go", None, "4.0.1")
    assert (unknown.below_minimum, unknown.risks) == (None, ())


def test_the_setting_that_pins_api_versions_is_named() -> None:
    assert library_compatibility("sarama", None, "4.0.0").pin == "Config.Version"
    assert "api.version.request" in str(
        library_compatibility("confluent-kafka-go", None, "4.0.0").pin
    )
    assert library_compatibility("apache-kafka-java", None, "4.0.0").pin is None


@pytest.mark.parametrize(
    ("version", "target", "below"),
    [("2.0.1", "4.0.0", True), ("2.1.0", "4.0.0", False), ("2.0.1", "3.9.0", None)],
)
def test_a_documented_minimum_applies_from_4_0_on(
    version: str, target: str, below: bool | None
) -> None:
    judged = library_compatibility("apache-kafka-java", Release.parse(version), target)
    assert judged.below_minimum is below
    assert (judged.minimum is None) == (below is None)


def test_a_java_client_without_a_common_version_is_at_risk() -> None:
    judged = library_compatibility("apache-kafka-java", Release((0, 11, 0, 3)), "4.0.0")
    by_key = {risk.api_key: risk for risk in judged.risks}
    assert by_key[29].reason is RiskReason.NO_COMMON
    assert by_key[29].fixed_in == Release((2, 0))
    assert by_key[32].fixed_in == Release((1, 1))
    assert 0 not in by_key
    assert library_compatibility("apache-kafka-java", Release((2, 1, 1)), "4.0.0").risks == ()


def test_known_api_versions_include_those_of_older_library_versions() -> None:
    assert known_api_versions("librdkafka", Release((2, 0, 2)))[LIST_OFFSETS] == {0, 2}
    assert known_api_versions("librdkafka", Release((2, 20, 0)))[LIST_OFFSETS] == {0, 2, 7}
    assert known_api_versions("librdkafka", Release((0, 9, 0))) == {}
    assert known_api_versions("librdkafka", None) == {}
    engine = Release((2, 16, 0))
    assert known_api_versions("confluent-kafka-go", None, engine_version=engine)[LIST_OFFSETS] == {
        0,
        2,
        7,
    }


def test_known_api_versions_of_a_java_client_are_those_of_its_release() -> None:
    known = known_api_versions("apache-kafka-java", Release((2, 8, 2)))
    assert known[0] == set(range(10))
    assert any(accepts("4.0.0", 0, version) for version in known[0])
    assert known_api_versions("apache-kafka-java", Release((9, 9))) == {}


def test_unknown_libraries_and_targets_are_errors() -> None:
    with pytest.raises(CatalogError, match="no library 'kafka'") as caught:
        library_compatibility("kafka", None, "4.0.0")
    assert "librdkafka" in str(caught.value.hint)
    with pytest.raises(UnknownReleaseError):
        library_compatibility("librdkafka", None, "4.9.0")
