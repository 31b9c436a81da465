"""Compaction: fewer files, the same sums; retention of old rows; rollups."""

import shutil
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs import compaction, retention
from rollcall.pipeline.jobs.compaction import compact, compact_if_due, due_for_merge
from rollcall.reports import clients
from rollcall.tables.cleaning import clean
from rollcall.tables.errors import BusyError, TablesError
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.manifests import Kind, Manifest
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.views import select
from rollcall.tables.writers import open_writer
from tests.pipeline.jobs.test_run import CrashError, CrashingStore
from tests.pipeline.running import START, line, lines, put, read, requests, rows, sums

pytestmark = pytest.mark.slow

HOUR = 3600
DAY = 24 * HOUR
NOW = START.replace(tzinfo=UTC).timestamp() + 30 * DAY


def run_compaction(spark: SparkSession, tables: Path, *, keep: timedelta | None = None) -> None:
    with open_writer(LocalStore(tables), "test", clock=lambda: NOW) as writer:
        compact(spark, writer, keep)


def query(tables: Path, statement: str) -> list[tuple[object, ...]]:
    """The result of a statement on the merged tables."""
    snapshot = read_tables(LocalStore(tables))
    with duckdb.connect() as connection:
        for table in ("usage", "connections", "connection_hours", "files", "rejects"):
            connection.execute(f"CREATE VIEW {table} AS {select(snapshot, table)}")
        return connection.execute(statement).fetchall()


@pytest.fixture(scope="module")
def three_batches(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three batches within an hour."""
    directory = tmp_path_factory.mktemp("batches")
    for number in range(3):
        text = lines(30, first=number * 30) + "odd\n"
        read(spark, directory / "tables", put(directory / f"{number}.log", text))
    return directory / "tables"


@pytest.fixture
def tables(three_batches: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_batches, tmp_path / "tables"))


def test_compaction_keeps_all_sums(spark: SparkSession, tables: Path) -> None:
    before = sums(tables), rows(tables, "rejects"), rows(tables, "files")
    run_compaction(spark, tables)
    assert (sums(tables), rows(tables, "rejects"), rows(tables, "files")) == before
    (live,) = read_tables(LocalStore(tables)).live
    assert (live.kind, live.covers, live.counts.lines) == (Kind.COMPACTION, (1, 3), 93)
    stored = duckdb.read_parquet([*read_tables(LocalStore(tables)).addresses("usage")])
    clients = stored.project("client_id").fetchall()
    assert clients == sorted(clients) == [("app-0",), ("app-1",), ("app-2",)]


def test_files_are_known_after_compaction_with_keep(spark: SparkSession, tables: Path) -> None:
    run_compaction(spark, tables, keep=timedelta(days=1))
    assert requests(tables) == 0
    result = read(spark, tables, put(tables.parent / "again.log.gz", lines(30) + "odd\n"))
    assert (result.already_read, result.counts.lines) == (1, 0)


@pytest.mark.parametrize("table", ["usage", "files"])
def test_missing_file_of_the_tables_is_an_error(
    spark: SparkSession, tables: Path, tmp_path: Path, table: str
) -> None:
    (part, *_) = read_tables(LocalStore(tables)).addresses(table)
    Path(part).unlink()
    with (
        open_writer(LocalStore(tables), "compact") as writer,
        pytest.raises(TablesError, match=f"missing or damaged: {part}"),
    ):
        compact(spark, writer)
    if table == "files":
        with pytest.raises(TablesError, match=f"missing or damaged: {part}"):
            read(spark, tables, put(tmp_path / "another.log", lines(3)))


def test_readers_see_the_same_sums_during_compaction(spark: SparkSession, tables: Path) -> None:
    seen: set[int] = set()
    done = threading.Event()
    reading = threading.Lock()
    failures: list[Exception] = []

    def keep_reading() -> None:
        while not done.is_set():
            try:
                with reading:
                    seen.add(requests(tables))
            except Exception as error:  # noqa: BLE001 - shown below
                failures.append(error)

    reader = threading.Thread(target=keep_reading)
    reader.start()
    try:
        for _ in range(2):
            run_compaction(spark, tables)
            later = open_writer(LocalStore(tables), "test", clock=lambda: NOW + 2 * HOUR)
            with reading, later as writer:  # two hours later no reader of the old files is left
                clean(writer)
    finally:
        done.set()
        reader.join(timeout=60)
    assert failures == []
    assert seen == {90}


def test_compaction_that_crashes_at_any_change_keeps_the_sums(
    spark: SparkSession, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sums(tables)
    monkeypatch.setattr("rollcall.tables.writers.is_running", lambda *_: False)
    for number in range(10):
        store = CrashingStore(tables)
        object.__setattr__(store, "changes_left", [number])
        try:
            with open_writer(store, "test", clock=lambda: NOW) as writer:
                compact(spark, writer)
        except CrashError:
            assert sums(tables) == before, f"crashed at change {number}"
        else:
            break
    assert sums(tables) == before
    assert number > 2


def test_compaction_during_a_stream_is_refused(spark: SparkSession, tables: Path) -> None:
    with (
        open_writer(LocalStore(tables), "rollcall pipeline stream /logs"),
        pytest.raises(BusyError, match="pipeline stream /logs") as error,
    ):
        run_compaction(spark, tables)
    assert error.value.hint is not None
    assert "compacts by itself" in error.value.hint


def test_hours_older_than_7_days_become_days_and_connections_become_counts(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    text = "".join(
        lines(4, first=first, second=second)
        for first, second in [(0, 0), (10, HOUR), (20, 2 * DAY), (30, 12 * DAY)]
    )
    read(spark, tables, put(tmp_path / "a.log", text))
    usage = "SELECT hour, sum(requests), bit_or(hours) FROM usage GROUP BY 1 ORDER BY 1"
    totals = "SELECT sum(requests), min(first_seen), max(last_seen) FROM usage"
    before = query(tables, totals)
    run_compaction(spark, tables)
    midnight = datetime(2026, 3, 1)  # noqa: DTZ001 - UTC
    at_ten, at_eleven = 1 << 10, 1 << 11
    assert query(tables, usage) == [
        (midnight, 8, at_ten | at_eleven),
        (midnight + timedelta(days=2), 4, at_ten),
        (START + timedelta(days=12), 4, at_ten),
    ]
    assert query(tables, totals) == before
    assert query(tables, "SELECT sum(requests) FROM connections") == [(4,)]
    hours = "SELECT hour, sum(opened), sum(requests) FROM connection_hours GROUP BY 1 ORDER BY 1"
    assert [row[2] for row in query(tables, hours)] == [8, 4]
    opened = "SELECT sum(opened), sum(seen_once) FROM connection_hours"
    counted = query(tables, opened)
    most = "SELECT max(opened), max(most_opened), max(seen_once), max(most_seen_once)"
    assert query(tables, f"{most} FROM connection_hours") == [(3, 2, 2, 2)]
    run_compaction(spark, tables)
    assert query(tables, opened) == counted
    assert query(tables, totals) == before


def test_connection_of_a_broker_that_is_read_later_than_others_counts_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    late, other = "10.1.0.1:9092-10.1.2.3:40000-1", "10.1.0.2:9092-10.1.2.3:40000-1"
    read(spark, tables, put(tmp_path / "other.log", lines(2, second=6 * DAY, connection=other)))
    read(spark, tables, put(tmp_path / "late.1.log", lines(2, second=DAY, connection=late)))
    run_compaction(spark, tables)
    assert query(tables, "SELECT count(*) FROM connection_hours") == [(0,)]
    night = lines(2, 9, second=DAY + HOUR, connection=late)
    read(spark, tables, put(tmp_path / "late.2.log", night))
    after = lines(2, 20, second=5 * DAY, connection=late.replace("40000", "40001"))
    read(spark, tables, put(tmp_path / "late.3.log", after))
    run_compaction(spark, tables)
    counted = "SELECT sum(opened), sum(requests) FROM connection_hours"
    assert query(tables, counted) == [(1, 4)]
    silent = lines(2, 30, second=20 * DAY, connection=other)
    read(spark, tables, put(tmp_path / "other.2.log", silent))
    run_compaction(spark, tables)
    assert query(tables, counted) == [(3, 8)]


def test_rows_older_than_keep_are_dropped(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    old = put(tmp_path / "old.log", lines(6) + "odd\n")
    recent = put(tmp_path / "recent.log", lines(6, first=50, second=25 * DAY) + "odd\n")
    read(spark, tables, old, recent)
    run_compaction(spark, tables, keep=timedelta(days=10))
    assert requests(tables) == 6
    assert query(tables, "SELECT file FROM rejects") == [(str(recent),)]
    assert query(tables, "SELECT count(*) FROM files") == [(2,)]


def test_client_ids_above_the_limit_per_day_become_other_and_totals_stay(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_CLIENT_IDS", 2)
    tables = tmp_path / "tables"
    text = "".join(
        lines(count, first=count * 10, client=f"app-{count}", second=0) for count in range(1, 6)
    )
    read(spark, tables, put(tmp_path / "a.log", text + lines(9, first=100, client=None, second=0)))
    run_compaction(spark, tables)
    by_client = "SELECT client_id, sum(requests) FROM usage GROUP BY 1 ORDER BY 1 NULLS LAST"
    expected = [("app-4", 4), ("app-5", 5), ("other", 6), (None, 9)]
    assert query(tables, by_client) == expected
    run_compaction(spark, tables)
    assert query(tables, by_client) == expected


def manifest(number: int, covers: tuple[int, int] | None = None) -> Manifest:
    return Manifest(number, Kind.COMPACTION if covers else Kind.BATCH, 0, covers)


def test_sixteen_manifests_of_one_size_are_due_for_merging() -> None:
    batches = [manifest(number) for number in range(1, 17)]
    assert due_for_merge(batches[:15]) == ()
    assert due_for_merge(batches) == batches
    merged = manifest(17, (1, 16))
    later = [manifest(number) for number in range(18, 34)]
    assert due_for_merge([merged, *later[:15]]) == ()
    assert due_for_merge([merged, *later]) == later
    large = [manifest(17 * n, (17 * n - 16, 17 * n - 1)) for n in range(1, 17)]
    assert due_for_merge(large) == large
    assert due_for_merge([]) == ()


def test_stream_applies_retention_once_a_day_and_merges_in_between(
    spark: SparkSession, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_IN", 2)
    before = sums(tables)
    store = LocalStore(tables)
    with open_writer(store, "test", clock=lambda: NOW) as writer:
        assert compact_if_due(spark, writer) is not None
        assert compact_if_due(spark, writer) is None
    assert [commit.covers for commit in read_tables(store).live] == [(1, 3)]
    for number in range(2):
        read(spark, tables, put(tables.parent / f"more-{number}.log", lines(5, 500 + number * 5)))
    with open_writer(store, "test", clock=lambda: NOW + HOUR) as writer:
        assert compact_if_due(spark, writer) is not None
        live = read_tables(store).live
        assert [commit.covers for commit in live] == [(1, 3), (5, 6)]
        assert [commit.folded_ms for commit in live] == [int(NOW * 1000)] * 2
    assert sums(tables) != before
    assert requests(tables) == 100


def test_tables_without_rows_are_not_compacted(spark: SparkSession, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    with open_writer(store, "test") as writer:
        writer.commit(Manifest(1, Kind.FENCE, 0))
        assert compact_if_due(spark, writer) is None
        assert compact(spark, writer).manifests == 0


API_VERSIONS_LINE = {
    "METADATA": "API_VERSIONS",
    '"topics":[]': '"clientSoftwareName":"librdkafka","clientSoftwareVersion":"2.3.0"',
    '"response":{"throttleTimeMs":0,"errorCode":0}': '"response":{"errorCode":0,"apiKeys":['
    '{"apiKey":0,"minVersion":0,"maxVersion":9},{"apiKey":1,"minVersion":4,"maxVersion":18}'
    '],"throttleTimeMs":0}',
}


def test_compaction_writes_the_rollups_of_its_tables(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    for number in range(2):
        second = number * 12 * 86400
        request = line(99, second=second, api=18, version=3)
        for old, new in API_VERSIONS_LINE.items():
            request = request.replace(old, new)
        text = lines(30, first=number * 30, second=second) + request + "\n"
        read(spark, tables, put(tmp_path / f"{number}.log", text))
    report = clients(tables)
    with open_writer(LocalStore(tables), "test") as writer:
        compact(spark, writer)
    (live,) = read_tables(LocalStore(tables)).live
    for name, rollup in TOTALS.items():
        source = [f"{tables}/{part.name}" for part in live.parts[SOURCES[name].name]]
        files = [f"{tables}/{part.name}" for part in live.parts[name]]
        written = duckdb.sql(f"FROM read_parquet({files}) ORDER BY ALL")
        expected = duckdb.sql(f"FROM ({total(rollup, f'read_parquet({source})')}) ORDER BY ALL")
        assert written.columns == expected.columns
        assert written.fetchall() == expected.fetchall() != []
    assert clients(tables) == report
