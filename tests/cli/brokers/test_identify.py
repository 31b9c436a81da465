import json
from pathlib import Path

import pytest

from rollcall.catalog import listed_ranges
from tests.cli.scripted_cluster import rollcall

LIST = listed_ranges("3.0")
CAMEL = [{"apiKey": k, "minVersion": low, "maxVersion": high} for k, (low, high) in LIST.items()]
SNAKE = [{"api_key": k, "min_version": low, "max_version": high} for k, (low, high) in LIST.items()]


@pytest.mark.parametrize(
    "document",
    [
        {"errorCode": 0, "apiKeys": CAMEL, "throttleTimeMs": 0, "supportedFeatures": []},
        {"error_code": 0, "api_keys": SNAKE},
        CAMEL,
        {str(key): list(pair) for key, pair in LIST.items()},
        {"requestHeader": {}, "response": {"errorCode": 0, "apiKeys": CAMEL}},
        {"id": 1, "api_versions": {"ranges": {str(k): list(r) for k, r in LIST.items()}}},
    ],
)
def test_response_is_accepted_in_every_format(document: object) -> None:
    result = rollcall("identify", stdin=json.dumps(document))
    assert result.out.splitlines()[0] == "Apache Kafka 3.0 (inferred)"
    assert "3.0.0 to 3.0.2" in result.out
    assert "closest other release: 3.1" in result.out
    assert result.code == 0


def test_identify_reads_a_file_and_prints_json(tmp_path: Path) -> None:
    path = tmp_path / "response.json"
    path.write_text(json.dumps(CAMEL))
    document = json.loads(rollcall("identify", path, "--json").out)
    assert document["format"] == "rollcall-identify/2"
    assert (document["kind"], document["provenance"]) == ("apache", "inferred")
    assert [candidate["line"] for candidate in document["candidates"]] == ["3.0"]
    assert document["closest"]["line"] == "3.1"


def test_features_distinguish_releases_with_the_same_versions() -> None:
    response = {
        "apiKeys": [
            {"apiKey": k, "minVersion": low, "maxVersion": high}
            for k, (low, high) in listed_ranges("3.4", "kraft").items()  # type: ignore[arg-type]
        ],
        "supportedFeatures": [{"name": "metadata.version", "minVersion": 1, "maxVersion": 8}],
        "finalizedFeatures": [
            {"name": "metadata.version", "maxVersionLevel": 7, "minVersionLevel": 7}
        ],
    }
    out = rollcall("identify", stdin=json.dumps(response)).out
    assert out.startswith("Apache Kafka 3.4 (inferred)")


def test_error_response_yields_candidates() -> None:
    response = {
        "errorCode": 35,
        "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}],
    }
    out = rollcall("identify", stdin=json.dumps(response)).out
    assert "3.9" in out
    assert "4.0" in out


def test_other_product_is_not_shown_as_apache_kafka() -> None:
    result = rollcall("identify", stdin='{"0": [5, 5], "18": [0, 0], "77": [9, 9]}')
    assert result.out.splitlines()[0] == "not Apache Kafka: unknown software (inferred)"
    assert result.code == 3, "no known product matches"


def test_dash_means_standard_input() -> None:
    text = '{"errorCode": 7, "apiKeys": []}'
    assert rollcall("identify", "-", stdin=text) == rollcall("identify", stdin=text)


def test_response_without_information_is_exit_code_3() -> None:
    result = rollcall("identify", stdin='{"errorCode": 7, "apiKeys": []}')
    assert result.code == 3
    assert result.out.startswith("unknown: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "3",
        "null",
        "{}",
        '{"apiKeys": [1]}',
        '{"a": "b"}',
        '{"3": [0, 1e999]}',
        "[" * 100_000,
    ],
)
def test_input_that_is_not_a_response_is_an_error(text: str) -> None:
    result = rollcall("identify", stdin=text)
    assert result.code == 1
    assert "not an ApiVersions response" in str(result.error)
