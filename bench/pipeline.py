"""Pipeline: request logs to aggregates on Spark, compared with DuckDB on two threads.

The logs are generated and in the page cache. "Parse and sum" computes all aggregates of the
pipeline (usage, connections, brokers, rejects, files) and writes nothing. DuckDB runs the queries
of `pipeline_sql`; both must produce the same tables before the measurement.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from bench.pipeline_sql import statements
from bench.rows import Growth, Row, Timing, below, faster, timing, within
from rollcall.cli.options.spark import session_config
from rollcall.loggen import GenerateSettings, generate_logs
from rollcall.pipeline.aggregates import request_logs
from rollcall.pipeline.jobs.batch import fixed_partitions
from rollcall.pipeline.jobs.folder_stream import FolderStream
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.write import WRITE_THREADS
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.pipeline.sources.lines import read_lines
from rollcall.pipeline.spark.jvm import stop_jvm
from rollcall.pipeline.spark.session import open_session
from rollcall.tables.folder import make_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import open_writer

MEMORY = "1g"
BROKERS = 12
WARM_UP = 6
"""Warm-up rounds on one log per measured round; the JIT compiler settles after about 30."""
WARM = 2
"""Warm-up rounds on all logs."""
TRIGGER_LINES = 1_000
COPY = ".copy"
GROWN = 3
"""Rounds at each size."""
ALONE = 3
"""Rounds of measurements that start a new JVM each time."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    seconds: Timing
    cpu: Timing


def measure(*, lines: int, rounds: int, growth: Sequence[float] = (0.25, 1, 4)) -> Iterator[Row]:
    """Measure everything; `growth` are the input sizes to compare, as multiples of `lines`."""
    with TemporaryDirectory(prefix="rollcall-bench-") as directory:
        logs = Logs(Path(directory), lines)
        with session("local[2]") as spark:
            json = logs.make(spark, "J")
            text = logs.make(spark, "G")
            same_tables(spark, json)
            ours, theirs = against_duckdb(spark, json, rounds)
            what = f"parse and sum {lines:,} JSON lines"
            yield within(f"{what}, CPU", "DuckDB, 2 threads", ours.cpu, theirs.cpu, 1.75, "s")
            yield within(
                f"{what}, time", "DuckDB, 2 threads", ours.seconds, theirs.seconds, 1.5, "s"
            )
            yield rate(spark, text, ours.seconds, rounds, lines)
            two = yield from grown(spark, logs, growth, rounds, cores=2)
            yield trigger(spark, logs, Path(directory), rounds)
        with session("local[1]") as spark:
            one = yield from grown(spark, logs, growth, rounds, cores=1)
        yield faster(f"per line of {lines:,}, 2 cores", "1 core", two[lines], one[lines], 1.6)
        yield from command(json, Path(directory), ours.seconds)
        yield small_job(logs, Path(directory))


class Logs:
    """Generated logs; larger inputs are hard links to the same files."""

    def __init__(self, directory: Path, lines: int) -> None:
        self.directory, self.lines = directory, lines

    def make(self, spark: SparkSession, form: str, lines: int | None = None) -> list[str]:
        name = self.directory / f"{form}-{lines or self.lines}"
        if not name.exists():
            settings = GenerateSettings(lines=lines or self.lines, form=form, brokers=BROKERS)
            generate_logs(spark, settings, str(name))
        found = sorted(name.glob("broker-*/*"))
        return [str(path) for path in found if not path.suffix.startswith(COPY)]

    def times(self, spark: SparkSession, form: str, multiple: float) -> list[str]:
        paths = self.make(spark, form)
        if multiple < 1:
            return paths[: max(1, round(len(paths) * multiple))]
        found = list(paths)
        for copy in range(1, round(multiple)):
            for path in paths:
                other = Path(f"{path}{COPY}{copy}")
                if not other.exists():
                    os.link(path, other)
                found.append(str(other))
        return found


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """A session as the command starts it, in a new JVM, so that compiled code is not shared."""
    config = session_config(master, [f"spark.driver.memory={MEMORY}"])
    with open_session(config, "rollcall-bench") as spark:
        yield spark
    stop_jvm()


def parse_and_sum(spark: SparkSession, paths: Sequence[str]) -> None:
    with fixed_partitions(spark, sum(Path(path).stat().st_size for path in paths)):
        sum_lines(spark, paths)


def sum_lines(spark: SparkSession, paths: Sequence[str]) -> None:
    record_type = request_logs(SourceSettings())
    sums = record_type.sum_lines(read_lines(spark, paths, cluster=None, broker=None))
    sums = sums.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        record_type.count_files(sums).collect()
        frames = (*record_type.table_rows(sums).values(), record_type.select_rejects(sums))
        with ThreadPoolExecutor(WRITE_THREADS) as pool:  # as in the write of tables
            list(pool.map(sum_only, frames))
    finally:
        sums.unpersist()


def sum_only(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def warm_up(spark: SparkSession, paths: Sequence[str], rounds: int) -> None:
    for _ in range(WARM_UP * rounds):
        parse_and_sum(spark, paths[:1])
    for _ in range(WARM):
        parse_and_sum(spark, paths)


def with_duckdb(database: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    for statement in statements(paths):
        database.execute(statement)


def open_duckdb() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 2, "preserve_insertion_order": False})


def same_tables(spark: SparkSession, paths: Sequence[str]) -> None:
    record_type = request_logs(SourceSettings())
    sums = record_type.sum_lines(read_lines(spark, paths, cluster=None, broker=None))
    frames = record_type.table_rows(sums)
    with open_duckdb() as database:
        with_duckdb(database, paths)
        for table in ("usage", "connections", "brokers"):
            described = database.execute(f"SELECT * FROM {table} LIMIT 0").description
            names = [column[0] for column in described if column[0] != "ranges"]
            query = f"SELECT {', '.join(names)} FROM {table}"
            theirs = sorted(map(repr, database.execute(query).fetchall()))
            ours = sorted(repr(tuple(row)) for row in frames[table].select(*names).collect())
            if ours != theirs:
                differ = next((a, b) for a, b in zip(ours, theirs, strict=False) if a != b)
                raise AssertionError(f"{table}: rows differ, first: {differ}")
        counts = ("requests", "skipped", "rejected", "bytes_read")
        theirs = sorted(database.execute(f"SELECT {', '.join(counts)} FROM files").fetchall())
        ours = sorted(tuple(row) for row in record_type.count_files(sums).select(*counts).collect())
        if ours != theirs:
            raise AssertionError(f"files: {ours}, DuckDB {theirs}")


def against_duckdb(spark: SparkSession, paths: Sequence[str], rounds: int) -> tuple[Cost, Cost]:
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    with open_duckdb() as database:
        warm_up(spark, paths, rounds)
        for _ in range(WARM):
            with_duckdb(database, paths)
        for _ in range(rounds):
            ours.append(timed(lambda: parse_and_sum(spark, paths), spark_cpu(spark)))
            theirs.append(timed(lambda: with_duckdb(database, paths), own_cpu))
    return _cost(ours), _cost(theirs)


def rate(spark: SparkSession, paths: Sequence[str], json: Timing, rounds: int, lines: int) -> Row:
    warm_up(spark, paths, rounds)
    text = _cost(
        [timed(lambda: parse_and_sum(spark, paths), spark_cpu(spark)) for _ in range(rounds)]
    ).seconds
    ours, theirs = lines / text.median, lines / json.median
    what = "lines per second, text form G"
    ratio = ours / theirs
    bar = "0.7x its JSON rate"
    return Row(what, ours, "form J", theirs, "/s", ratio, bar, ratio >= 0.7, text.spread)


def grown(
    spark: SparkSession, logs: Logs, growth: Sequence[float], rounds: int, cores: int
) -> Generator[Row, None, dict[int, Timing]]:
    """Microseconds per line at each size, compared with the smallest, and the peak memory."""
    each: dict[int, Timing] = {}
    for multiple in growth:
        paths = logs.times(spark, "J", multiple)
        lines = round(logs.lines * multiple)
        if each:
            parse_and_sum(spark, paths)
        else:  # the JIT compiler has not seen these lines yet
            warm_up(spark, paths, rounds)
        taken = [timed(lambda: parse_and_sum(spark, paths), own_cpu)[0] for _ in range(GROWN)]  # noqa: B023
        each[lines] = timing([seconds * 1e6 / lines for seconds in taken])
        peak = f"{peak_mb(spark):,.0f} MB peak resident"
        what = f"per line of {lines:,}, {cores} {'core' if cores == 1 else 'cores'}, {peak}"
        row = within(what, "the fewest", each[lines], next(iter(each.values())), 1.15)
        yield replace(row, growth=Growth(lines, cores))
    return each


def trigger(spark: SparkSession, logs: Logs, directory: Path, rounds: int) -> Row:
    """One trigger of a stream on a directory with one new log file."""
    lines = lines_of(logs.make(spark, "J"))
    inbox, store = directory / "inbox", LocalStore(directory / "stream")
    inbox.mkdir()
    make_tables(store, "bench")
    with open_writer(store, "bench") as writer:
        record_type = request_logs(SourceSettings())
        job = Job(
            spark=spark,
            writer=writer,
            file_system_of=lambda _: LocalFileSystem(),
            record_type=record_type,
        )
        stream = FolderStream(job, [str(inbox)], lambda _: None, lambda _: None)
        taken = []
        for turn in range((WARM_UP + 1) * rounds):
            new = inbox / f"kafka-request.log.2026-11-01-{turn:02}"
            new.write_bytes(b"".join(islice(lines, TRIGGER_LINES)))
            os.utime(new, (0, 0))
            start = time.monotonic()
            if stream.once().counts.lines != TRIGGER_LINES:
                raise AssertionError(f"not all lines of {new} were read")
            taken.append(time.monotonic() - start)
    what = f"a warm trigger of a stream, {TRIGGER_LINES:,} lines"
    return below(what, "the bar", timing(taken[-rounds:]), Timing(2.0, 0.0), 2.0, "s")


def lines_of(paths: Sequence[str]) -> Iterator[bytes]:
    for path in paths:
        with Path(path).open("rb") as log:
            yield from log


def command(paths: Sequence[str], directory: Path, warm: Timing) -> Iterator[Row]:
    """The whole command, compared with "parse and sum" in a warm and in a new JVM."""
    commands, fresh = [], []
    for turn in range(ALONE):
        commands.append(run_command(paths, directory / f"tables-{turn}"))
        with session("local[2]") as spark:
            fresh.append(timed(lambda: parse_and_sum(spark, paths), own_cpu)[0])
    what = "rollcall pipeline run, start to all tables written"
    yield within(what, "parse and sum, warm", timing(commands), warm, 2.0, "s")
    yield within(what, "parse and sum, new JVM", timing(commands), timing(fresh), 2.0, "s")


def small_job(logs: Logs, directory: Path) -> Row:
    with session("local[1]") as spark:
        paths = logs.make(spark, "J", 1_000)
    taken = timing([run_command(paths, directory / f"small-{turn}") for turn in range(ALONE)])
    what = "rollcall pipeline run on 1,000 lines"
    return below(what, "the bar", taken, Timing(12.0, 0.0), 12.0, "s")


def run_command(paths: Sequence[str], tables: Path) -> float:
    rollcall = str(Path(sys.executable).with_name("rollcall"))
    arguments = ["--tables", str(tables), "--master", "local[2]", "--json"]
    start = time.monotonic()
    subprocess.run(
        [rollcall, "pipeline", "run", *paths, *arguments], check=True, stdout=subprocess.DEVNULL
    )
    return time.monotonic() - start


def timed(run: Callable[[], object], cpu: Callable[[], float]) -> tuple[float, float]:
    start, used = time.monotonic(), cpu()
    run()
    return time.monotonic() - start, cpu() - used


def spark_cpu(spark: SparkSession) -> Callable[[], float]:
    """CPU seconds of the JVM and of this process, which plans the queries."""
    stat = Path(f"/proc/{java_pid(spark)}/stat")

    def used() -> float:
        fields = stat.read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS + own_cpu()

    return used


def own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb(spark: SparkSession) -> float:
    status = Path(f"/proc/{java_pid(spark)}/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def java_pid(spark: SparkSession) -> int:
    java: Any = spark.sparkContext._jvm
    return int(java.java.lang.ProcessHandle.current().pid())


def _cost(taken: Sequence[tuple[float, float]]) -> Cost:
    return Cost(timing([seconds for seconds, _ in taken]), timing([cpu for _, cpu in taken]))
