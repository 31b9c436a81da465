"""Compaction: fewer files, the same sums; old detail becomes totals."""

import shutil
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs import compaction
from rollcall.pipeline.jobs import retention as folding
from rollcall.pipeline.jobs.compaction import compact, compact_if_due, due_for_merge
from rollcall.tables.cleaning import clean
from rollcall.tables.errors import BusyError, TablesError
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.manifests import Kind, Manifest
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import select
from rollcall.tables.writers import open_writer
from tests.pipeline.jobs.test_run import DeathError, DyingStore
from tests.pipeline.running import START, lines, put, read, requests, rows, sums

HOUR = 3600
DAY = 24 * HOUR
NOW = START.replace(tzinfo=UTC).timestamp() + 30 * DAY


def squeeze(spark: SparkSession, tables: Path, *, keep: timedelta | None = None) -> None:
    with open_writer(LocalStore(tables), "test", clock=lambda: NOW) as writer:
        compact(spark, writer, keep)


def ask(tables: Path, query: str) -> list[tuple[object, ...]]:
    """A query on the merged tables."""
    snapshot = read_tables(LocalStore(tables))
    with duckdb.connect() as connection:
        for table in ("usage", "connections", "connection_hours", "files", "rejects"):
            connection.execute(f"CREATE VIEW {table} AS {select(snapshot, table)}")
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def three_batches(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three batches within an hour."""
    folder = tmp_path_factory.mktemp("batches")
    for number in range(3):
        text = lines(30, first=number * 30) + "odd\n"
        read(spark, folder / "tables", put(folder / f"{number}.log", text))
    return folder / "tables"


@pytest.fixture
def tables(three_batches: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_batches, tmp_path / "tables"))


def test_compaction_changes_no_sum(spark: SparkSession, tables: Path) -> None:
    before = sums(tables), rows(tables, "rejects"), rows(tables, "files")
    squeeze(spark, tables)
    assert (sums(tables), rows(tables, "rejects"), rows(tables, "files")) == before
    (live,) = read_tables(LocalStore(tables)).live
    assert (live.kind, live.covers, live.counts.lines) == (Kind.COMPACTION, (1, 3), 93)
    lying = duckdb.read_parquet([*read_tables(LocalStore(tables)).addresses("usage")])
    clients = lying.project("client_id").fetchall()
    assert clients == sorted(clients) == [("app-0",), ("app-1",), ("app-2",)]


def test_after_compaction_files_are_still_known(spark: SparkSession, tables: Path) -> None:
    squeeze(spark, tables, keep=timedelta(days=1))
    assert requests(tables) == 0
    result = read(spark, tables, put(tables.parent / "again.log.gz", lines(30) + "odd\n"))
    assert (result.already_read, result.counts.lines) == (1, 0)


@pytest.mark.parametrize("table", ["usage", "files"])
def test_a_file_of_the_tables_that_went_away_is_told(
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


def test_readers_see_each_sum_once_at_every_moment(spark: SparkSession, tables: Path) -> None:
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
            squeeze(spark, tables)
            later = open_writer(LocalStore(tables), "test", clock=lambda: NOW + 2 * HOUR)
            with reading, later as writer:  # no reader of then is left two hours later
                clean(writer)
    finally:
        done.set()
        reader.join(timeout=60)
    assert failures == []
    assert seen == {90}


def test_a_compaction_that_dies_at_any_change_leaves_the_sums(
    spark: SparkSession, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sums(tables)
    monkeypatch.setattr("rollcall.tables.writers.is_running", lambda *_: False)
    for number in range(10):
        store = DyingStore(tables)
        object.__setattr__(store, "left", [number])
        try:
            with open_writer(store, "test", clock=lambda: NOW) as writer:
                compact(spark, writer)
        except DeathError:
            assert sums(tables) == before, f"died at change {number}"
        else:
            break
    assert sums(tables) == before
    assert number > 2


def test_beside_a_running_stream_it_is_refused(spark: SparkSession, tables: Path) -> None:
    with (
        open_writer(LocalStore(tables), "rollcall pipeline stream /logs"),
        pytest.raises(BusyError, match="pipeline stream /logs") as error,
    ):
        squeeze(spark, tables)
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
    before = ask(tables, totals)
    squeeze(spark, tables)
    midnight = datetime(2026, 3, 1)  # noqa: DTZ001 - UTC
    at_ten, at_eleven = 1 << 10, 1 << 11
    assert ask(tables, usage) == [
        (midnight, 8, at_ten | at_eleven),
        (midnight + timedelta(days=2), 4, at_ten),
        (START + timedelta(days=12), 4, at_ten),
    ]
    assert ask(tables, totals) == before
    assert ask(tables, "SELECT sum(requests) FROM connections") == [(4,)]
    hours = "SELECT hour, sum(opened), sum(requests) FROM connection_hours GROUP BY 1 ORDER BY 1"
    assert [row[2] for row in ask(tables, hours)] == [8, 4]
    opened = "SELECT sum(opened), sum(seen_once) FROM connection_hours"
    counted = ask(tables, opened)
    most = "SELECT max(opened), max(most_opened), max(seen_once), max(most_seen_once)"
    assert ask(tables, f"{most} FROM connection_hours") == [(3, 2, 2, 2)]
    squeeze(spark, tables)
    assert ask(tables, opened) == counted
    assert ask(tables, totals) == before


def test_a_connection_whose_broker_is_read_later_than_others_counts_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    late, other = "10.1.0.1:9092-10.1.2.3:40000-1", "10.1.0.2:9092-10.1.2.3:40000-1"
    read(spark, tables, put(tmp_path / "other.log", lines(2, second=6 * DAY, connection=other)))
    read(spark, tables, put(tmp_path / "late.1.log", lines(2, second=DAY, connection=late)))
    squeeze(spark, tables)
    assert ask(tables, "SELECT count(*) FROM connection_hours") == [(0,)]
    night = lines(2, 9, second=DAY + HOUR, connection=late)
    read(spark, tables, put(tmp_path / "late.2.log", night))
    after = lines(2, 20, second=5 * DAY, connection=late.replace("40000", "40001"))
    read(spark, tables, put(tmp_path / "late.3.log", after))
    squeeze(spark, tables)
    counted = "SELECT sum(opened), sum(requests) FROM connection_hours"
    assert ask(tables, counted) == [(1, 4)]
    silent = lines(2, 30, second=20 * DAY, connection=other)
    read(spark, tables, put(tmp_path / "other.2.log", silent))
    squeeze(spark, tables)
    assert ask(tables, counted) == [(3, 8)]


def test_what_is_older_than_keep_goes(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    old = put(tmp_path / "old.log", lines(6) + "odd\n")
    young = put(tmp_path / "young.log", lines(6, first=50, second=25 * DAY) + "odd\n")
    read(spark, tables, old, young)
    squeeze(spark, tables, keep=timedelta(days=10))
    assert requests(tables) == 6
    assert ask(tables, "SELECT file FROM rejects") == [(str(young),)]
    assert ask(tables, "SELECT count(*) FROM files") == [(2,)]


def test_beyond_so_many_client_ids_a_day_the_rest_is_other_and_totals_stay(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "CLIENT_IDS", 2)
    tables = tmp_path / "tables"
    text = "".join(
        lines(count, first=count * 10, client=f"app-{count}", second=0) for count in range(1, 6)
    )
    read(spark, tables, put(tmp_path / "a.log", text + lines(9, first=100, client=None, second=0)))
    squeeze(spark, tables)
    by_client = "SELECT client_id, sum(requests) FROM usage GROUP BY 1 ORDER BY 1 NULLS LAST"
    wanted = [("app-4", 4), ("app-5", 5), ("other", 6), (None, 9)]
    assert ask(tables, by_client) == wanted
    squeeze(spark, tables)
    assert ask(tables, by_client) == wanted


def made(number: int, covers: tuple[int, int] | None = None) -> Manifest:
    return Manifest(number, Kind.COMPACTION if covers else Kind.BATCH, 0, covers)


def test_sixteen_of_a_size_are_due_to_be_merged() -> None:
    batches = [made(number) for number in range(1, 17)]
    assert due_for_merge(batches[:15]) == ()
    assert due_for_merge(batches) == batches
    merged = made(17, (1, 16))
    later = [made(number) for number in range(18, 34)]
    assert due_for_merge([merged, *later[:15]]) == ()
    assert due_for_merge([merged, *later]) == later
    large = [made(17 * n, (17 * n - 16, 17 * n - 1)) for n in range(1, 17)]
    assert due_for_merge(large) == large
    assert due_for_merge([]) == ()


def test_a_stream_folds_once_a_day_and_merges_as_it_goes(
    spark: SparkSession, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_IN", 2)
    before = sums(tables)
    store = LocalStore(tables)
    with open_writer(store, "test", clock=lambda: NOW) as writer:
        assert compact_if_due(spark, writer) is not None
        assert compact_if_due(spark, writer) is None
    assert [manifest.covers for manifest in read_tables(store).live] == [(1, 3)]
    for number in range(2):
        read(spark, tables, put(tables.parent / f"more-{number}.log", lines(5, 500 + number * 5)))
    with open_writer(store, "test", clock=lambda: NOW + HOUR) as writer:
        assert compact_if_due(spark, writer) is not None
        live = read_tables(store).live
        assert [manifest.covers for manifest in live] == [(1, 3), (5, 6)]
        assert [manifest.folded_ms for manifest in live] == [int(NOW * 1000)] * 2
    assert sums(tables) != before
    assert requests(tables) == 100


def test_tables_without_rows_are_never_due(spark: SparkSession, tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    with open_writer(store, "test") as writer:
        writer.commit(Manifest(1, Kind.FENCE, 0))
        assert compact_if_due(spark, writer) is None
        assert compact(spark, writer).manifests == 0
