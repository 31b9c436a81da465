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
def test_an_answer_is_understood_in_every_form(document: object) -> None:
    result = rollcall("identify", stdin=json.dumps(document))
    assert result.out.splitlines()[0] == "Apache Kafka 3.0 (inferred)"
    assert "3.0.0 to 3.0.2" in result.out
    assert "next best: 3.1" in result.out
    assert result.code == 0


def test_a_file_is_read_and_json_printed(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(CAMEL))
    document = json.loads(rollcall("identify", path, "--json").out)
    assert document["form"] == "rollcall-identify/1"
    assert (document["kind"], document["provenance"]) == ("apache", "inferred")
    assert [one["line"] for one in document["candidates"]] == ["3.0"]
    assert document["closest"]["line"] == "3.1"


def test_features_tell_lines_with_the_same_list_apart() -> None:
    answer = {
        "apiKeys": [
            {"apiKey": k, "minVersion": low, "maxVersion": high}
            for k, (low, high) in listed_ranges("3.4", "kraft").items()  # type: ignore[arg-type]
        ],
        "supportedFeatures": [{"name": "metadata.version", "minVersion": 1, "maxVersion": 8}],
        "finalizedFeatures": [
            {"name": "metadata.version", "maxVersionLevel": 7, "minVersionLevel": 7}
        ],
    }
    out = rollcall("identify", stdin=json.dumps(answer)).out
    assert out.startswith("Apache Kafka 3.4 (inferred)")


def test_an_error_answer_tells_what_it_can() -> None:
    answer = {
        "errorCode": 35,
        "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}],
    }
    out = rollcall("identify", stdin=json.dumps(answer)).out
    assert "3.9" in out
    assert "4.0" in out


def test_another_product_is_not_called_apache_kafka() -> None:
    result = rollcall("identify", stdin='{"0": [5, 5], "18": [0, 0], "77": [9, 9]}')
    assert result.out.splitlines()[0] == "not Apache Kafka: unknown software (inferred)"
    assert result.code == 3, "nothing that is known fits"


def test_a_dash_is_standard_input() -> None:
    text = '{"errorCode": 7, "apiKeys": []}'
    assert rollcall("identify", "-", stdin=text) == rollcall("identify", stdin=text)


def test_an_answer_that_tells_nothing_is_exit_code_3() -> None:
    result = rollcall("identify", stdin='{"errorCode": 7, "apiKeys": []}')
    assert result.code == 3
    assert result.out.startswith("cannot tell")


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
def test_what_is_no_answer_is_an_error(text: str) -> None:
    result = rollcall("identify", stdin=text)
    assert result.code == 1
    assert "not an ApiVersions answer" in str(result.error)
