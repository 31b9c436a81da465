"""What the plain reader counts in generated logs is what the generator says is true."""

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

LINES = 12_000


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "logs"
    generate_logs(spark, GenerateSettings(lines=LINES, brokers=13, seed=11), str(folder))
    return folder


@pytest.fixture(scope="module")
def truth(made: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / ".fleet.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def counted(made: Path, truth: dict[str, Any]) -> Tables:
    logs = {made / name: name.split("/")[0] for name in truth["files"]}
    return read_files(logs, brokers=logs)


def test_files_are_named_as_kafka_rolls_them(made: Path, truth: dict[str, Any]) -> None:
    names = {str(path.relative_to(made)) for path in made.glob("broker-*/*")}
    assert names == truth["files"].keys()
    assert "broker-3/kafka-request.log.2026-11-01-10" in names
    assert len(names) == 26


def test_every_line_is_a_request_of_its_brokers_form(
    made: Path, truth: dict[str, Any], counted: Tables
) -> None:
    assert {file: counts["requests"] for file, counts in counted.files.items()} == {
        str(made / name): lines for name, lines in truth["files"].items()
    }
    assert sum(truth["files"].values()) == LINES
    forms: dict[str, int] = defaultdict(int)
    for (_, _, broker, *_), row in counted.usage.items():
        forms[broker] |= row["forms"]
    for broker in truth["brokers"]:
        # what tells I and J from H is a deprecated version
        allowed = {"I": "HI", "J": "HJ"}.get(broker["form"], broker["form"])
        mask = sum(1 << "ABCDEFGHIJ".index(form) for form in allowed)
        assert forms[broker["folder"]] & ~mask == 0, broker


def test_each_client_sent_what_the_truth_says(truth: dict[str, Any], counted: Tables) -> None:
    usage = list(counted.usage.items())
    apis: dict[tuple[Any, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    named: Counter[tuple[Any, ...]] = Counter()
    for key, row in usage:
        who = (key[2], key[5], key[6])
        apis[who][key[9], key[10]] += row["requests"]
        named[who] += row["requests"] if key[7] else 0
    compared = 0
    for client in truth["clients"]:
        for sent in client["brokers"] if client["host"] else ():
            who = (f"broker-{sent['broker']}", cut(sent["client_id"]) or None, client["host"])
            told = {
                (int(api), int(version)): count
                for api, versions in sent["apis"].items()
                for version, count in versions.items()
            }
            assert apis[who] == told, (who, client)
            assert named[who] == sent["named"], (who, client)
            compared += sent["requests"]
    cluster = sum(client["requests"] for client in truth["clients"] if not client["host"])
    assert compared + cluster == LINES


def test_connections_and_replica_traffic_are_as_told(
    truth: dict[str, Any], counted: Tables
) -> None:
    connections: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    replica = Counter[bool]()
    for key, row in counted.connections.items():
        connections[key[1], key[5], key[6]].add(key[2])
        replica[key[-1]] += row["requests"]
    for client in truth["clients"]:
        for sent in client["brokers"] if client["host"] else ():
            who = (f"broker-{sent['broker']}", cut(sent["client_id"]) or None, client["host"])
            assert len(connections[who]) == sent["connections"], (who, client)
    own = [client for client in truth["clients"] if client["role"] in ("replica", "controller")]
    assert replica[True] > 0
    assert replica[True] >= sum(client["requests"] for client in own)


def test_the_fleet_has_all_that_was_asked_for(truth: dict[str, Any]) -> None:
    behaviours = {client["behaviour"] for client in truth["clients"]} - {None}
    assert len(behaviours) == 5
    assert any(client["pinned"] for client in truth["clients"])
    assert {client["role"] for client in truth["clients"]} >= {"replica", "forwarded", "admin"}
    assert len({client["principal"] for client in truth["clients"]}) > 60


def test_the_same_seed_gives_the_same_bytes_however_the_work_is_cut(
    spark: SparkSession, made: Path, tmp_path: Path
) -> None:
    otherwise = {"spark.sql.shuffle.partitions": "5", "spark.sql.autoBroadcastJoinThreshold": "-1"}
    with spark_settings(spark, otherwise):
        settings = GenerateSettings(lines=LINES, brokers=13, seed=11)
        generate_logs(spark, settings, str(tmp_path / "again"))
    for path in made.glob("broker-*/*"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(made)).read_bytes()


def test_a_folder_that_holds_something_is_refused(spark: SparkSession, made: Path) -> None:
    with pytest.raises(RollcallError, match="not empty"):
        generate_logs(spark, GenerateSettings(lines=10), str(made))


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid:8020"])
def test_a_file_system_that_is_not_up_is_told(spark: SparkSession, host: str) -> None:
    with pytest.raises(RollcallError, match="a file system does not respond"):
        generate_logs(spark, GenerateSettings(lines=10), f"hdfs://{host}/logs")


@pytest.mark.parametrize("wrong", [{"lines": 0}, {"brokers": 0}, {"hours": 0}])
def test_settings_are_checked_when_made(wrong: dict[str, int]) -> None:
    with pytest.raises(RollcallError):
        GenerateSettings(**{"lines": 10, **wrong})
