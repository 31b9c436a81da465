"""The report on problems finds the misbehaving clients of a synthetic fleet and no others."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.loggen import GenerateSettings, generate_logs
from rollcall.reports import ProblemKind, problems
from tests.pipeline.running import make_old, read

pytestmark = pytest.mark.slow

LINES = 50_000
KINDS = {
    "reconnect storm": {ProblemKind.RECONNECT_STORM},
    # a client that closes after one request reconnects for the next one
    "single-request connections": {
        ProblemKind.SINGLE_REQUEST_CONNECTIONS,
        ProblemKind.RECONNECT_STORM,
    },
    "Metadata flood": {ProblemKind.METADATA_FLOOD},
    "ApiVersions flood": {ProblemKind.API_VERSIONS_FLOOD},
    "errors and throttling": {ProblemKind.ERRORS, ProblemKind.THROTTLED},
}


def test_report_finds_the_misbehaving_clients_and_no_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs, tables = tmp_path / "logs", tmp_path / "tables"
    generate_logs(spark, GenerateSettings(lines=LINES), str(logs))
    for log in logs.glob("broker-*/*"):
        make_old(log)
    read(spark, tables, logs)
    clients = json.loads((logs / ".expected.json").read_text(encoding="utf-8"))["clients"]
    behaviours = {c["client_id"]: c["behaviour"] for c in clients if c["behaviour"]}
    assert len(behaviours) == 5
    expected = {
        (client_id.replace(client_id.split("-")[1], "*", 1), kind)
        for client_id, behaviour in behaviours.items()
        for kind in KINDS[behaviour]
    }
    found = problems(tables).problems
    assert {(problem.client.application, problem.kind) for problem in found} == expected
