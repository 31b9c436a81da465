"""A compaction leaves totals, and they are what DuckDB makes of the tables beside them."""

from pathlib import Path

import duckdb
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs.compaction import compact
from rollcall.reports import clients
from rollcall.tables.folder import read_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.writers import open_writer
from tests.pipeline.running import line, lines, put, read

ASKED = {
    "METADATA": "API_VERSIONS",
    '"topics":[]': '"clientSoftwareName":"librdkafka","clientSoftwareVersion":"2.3.0"',
    '"response":{"throttleTimeMs":0,"errorCode":0}': '"response":{"errorCode":0,"apiKeys":['
    '{"apiKey":0,"minVersion":0,"maxVersion":9},{"apiKey":1,"minVersion":4,"maxVersion":18}'
    '],"throttleTimeMs":0}',
}


def test_a_compaction_leaves_the_totals_of_its_tables(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    for number in range(2):
        second = number * 12 * 86400
        asked = line(99, second=second, api=18, version=3)
        for old, new in ASKED.items():
            asked = asked.replace(old, new)
        text = lines(30, first=number * 30, second=second) + asked + "\n"
        read(spark, folder, put(tmp_path / f"{number}.log", text))
    before = clients(folder)
    with open_writer(LocalStore(folder), "test") as writer:
        compact(spark, writer)
    (live,) = read_tables(LocalStore(folder)).live
    for name, table in TOTALS.items():
        source = [f"{folder}/{part.name}" for part in live.parts[SOURCES[name].name]]
        files = [f"{folder}/{part.name}" for part in live.parts[name]]
        written = duckdb.sql(f"FROM read_parquet({files}) ORDER BY ALL")
        made = duckdb.sql(f"FROM ({total(table, f'read_parquet({source})')}) ORDER BY ALL")
        assert written.columns == made.columns
        assert written.fetchall() == made.fetchall() != []
    assert clients(folder) == before
