"""Of a made-up fleet, those that misbehave are found, and nobody else is blamed."""

import json
from pathlib import Path

from pyspark.sql import SparkSession

from rollcall.loggen import GenerateSettings, generate_logs
from rollcall.reports import trouble
from rollcall.reports.complaints import Kind
from tests.pipeline.running import make_old, read

LINES = 50_000
KINDS = {
    "errors and throttling": {Kind.ERRORS, Kind.THROTTLED},
    # who leaves after a question comes back with the next
    Kind.ASKS_ONCE: {Kind.ASKS_ONCE, Kind.RECONNECTS},
}


def test_whom_the_truth_calls_misbehaving_is_whom_the_report_blames(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs, tables = tmp_path / "logs", tmp_path / "tables"
    generate_logs(spark, GenerateSettings(lines=LINES), str(logs))
    for log in logs.glob("broker-*/*"):
        make_old(log)
    read(spark, tables, logs)
    truth = json.loads((logs / ".fleet.json").read_text(encoding="utf-8"))["clients"]
    planted = {it["client_id"]: it["behaviour"] for it in truth if it["behaviour"]}
    assert len(planted) == 5
    blamed = trouble(tables).complaints
    wanted = {
        (name.replace(name.split("-")[1], "*", 1), kind)
        for name, behaviour in planted.items()
        for kind in KINDS.get(behaviour) or {Kind(behaviour)}
    }
    assert {(it.client.application, it.kind) for it in blamed} == wanted
