"""The reference reader counts in generated logs what the generator expects."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rollcall.errors import RollcallError
from rollcall.loggen import GenerateSettings, generate_logs
from tests.pipeline.parsing.reference_reader import Tables, cut, read_files
from tests.pipeline.running import spark_settings

pytestmark = pytest.mark.slow

LINES = 12_000


@pytest.fixture(scope="module")
def logs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("generated") / "logs"
    generate_logs(spark, GenerateSettings(lines=LINES, brokers=13, seed=11), str(directory))
    return directory


@pytest.fixture(scope="module")
def expected(logs: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((logs / ".expected.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def counted(logs: Path, expected: dict[str, Any]) -> Tables:
    brokers = {logs / name: name.split("/")[0] for name in expected["files"]}
    return read_files(brokers, brokers=brokers)


def test_files_are_named_like_rolled_logs(logs: Path, expected: dict[str, Any]) -> None:
    names = {str(path.relative_to(logs)) for path in logs.glob("broker-*/*")}
    assert names == expected["files"].keys()
    assert "broker-3/kafka-request.log.2026-11-01-10" in names
    assert len(names) == 26


def test_every_line_is_a_request_in_the_form_of_its_broker(
    logs: Path, expected: dict[str, Any], counted: Tables
) -> None:
    assert {file: counts["requests"] for file, counts in counted.files.items()} == {
        str(logs / name): lines for name, lines in expected["files"].items()
    }
    assert sum(expected["files"].values()) == LINES
    forms: dict[str, int] = defaultdict(int)
    for (_, _, broker, *_), row in counted.usage.items():
        forms[broker] |= row["forms"]
    for broker in expected["brokers"]:
        # I and J differ from H only in requests with deprecated versions
        allowed = {"I": "HI", "J": "HJ"}.get(broker["form"], broker["form"])
        mask = sum(1 << "ABCDEFGHIJ".index(form) for form in allowed)
        assert forms[broker["directory"]] & ~mask == 0, broker


def test_requests_of_each_client_match_the_expected_counts(
    expected: dict[str, Any], counted: Tables
) -> None:
    usage = list(counted.usage.items())
    apis: dict[tuple[Any, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    named: Counter[tuple[Any, ...]] = Counter()
    for key, row in usage:
        client_key = (key[2], key[5], key[6])
        apis[client_key][key[9], key[10]] += row["requests"]
        named[client_key] += row["requests"] if key[7] else 0
    compared = 0
    for client in expected["clients"]:
        for sent in client["brokers"] if client["host"] else ():
            client_key = (
                f"broker-{sent['broker']}",
                cut(sent["client_id"]) or None,
                client["host"],
            )
            requests = {
                (int(api), int(version)): count
                for api, versions in sent["apis"].items()
                for version, count in versions.items()
            }
            assert apis[client_key] == requests, (client_key, client)
            assert named[client_key] == sent["named"], (client_key, client)
            compared += sent["requests"]
    cluster = sum(client["requests"] for client in expected["clients"] if not client["host"])
    assert compared + cluster == LINES


def test_connections_and_replica_requests_match_the_expected_counts(
    expected: dict[str, Any], counted: Tables
) -> None:
    connections: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    replica = Counter[bool]()
    for key, row in counted.connections.items():
        connections[key[1], key[5], key[6]].add(key[2])
        replica[key[-1]] += row["requests"]
    for client in expected["clients"]:
        for sent in client["brokers"] if client["host"] else ():
            client_key = (
                f"broker-{sent['broker']}",
                cut(sent["client_id"]) or None,
                client["host"],
            )
            assert len(connections[client_key]) == sent["connections"], (client_key, client)
    own = [client for client in expected["clients"] if client["role"] in ("replica", "controller")]
    assert replica[True] > 0
    assert replica[True] >= sum(client["requests"] for client in own)


def test_fleet_has_misbehaving_pinned_and_internal_clients(expected: dict[str, Any]) -> None:
    behaviours = {client["behaviour"] for client in expected["clients"]} - {None}
    assert len(behaviours) == 5
    assert any(client["pinned"] for client in expected["clients"])
    assert {client["role"] for client in expected["clients"]} >= {"replica", "forwarded", "admin"}
    assert len({client["principal"] for client in expected["clients"]}) > 60


def test_same_seed_gives_the_same_bytes_with_other_partitions(
    spark: SparkSession, logs: Path, tmp_path: Path
) -> None:
    settings = {"spark.sql.shuffle.partitions": "5", "spark.sql.autoBroadcastJoinThreshold": "-1"}
    with spark_settings(spark, settings):
        again = GenerateSettings(lines=LINES, brokers=13, seed=11)
        generate_logs(spark, again, str(tmp_path / "again"))
    for path in logs.glob("broker-*/*"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(logs)).read_bytes()


def test_directory_that_is_not_empty_is_rejected(spark: SparkSession, logs: Path) -> None:
    with pytest.raises(RollcallError, match="not empty"):
        generate_logs(spark, GenerateSettings(lines=10), str(logs))


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid:8020"])
def test_file_system_that_is_down_is_an_error(spark: SparkSession, host: str) -> None:
    with pytest.raises(RollcallError, match="a file system does not respond"):
        generate_logs(spark, GenerateSettings(lines=10), f"hdfs://{host}/logs")


@pytest.mark.parametrize("invalid", [{"lines": 0}, {"brokers": 0}, {"hours": 0}])
def test_invalid_settings_are_rejected(invalid: dict[str, int]) -> None:
    with pytest.raises(RollcallError):
        GenerateSettings(**{"lines": 10, **invalid})
