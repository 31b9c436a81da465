"""Streams of a directory write the same tables as runs, each line once."""

import gzip
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.errors import ChangedError
from rollcall.pipeline.jobs.folder_stream import MAX_FAILED_TRIGGERS, FolderStream
from rollcall.pipeline.jobs.run import RunResult
from rollcall.tables.columns import TABLES
from tests.pipeline.running import (
    line,
    lines,
    make_old,
    open_test_job,
    put,
    read,
    requests,
    rows,
    sums,
)

pytestmark = pytest.mark.slow


def test_stream_of_a_growing_directory_writes_the_tables_of_one_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs, streamed, batch = tmp_path / "logs", tmp_path / "streamed", tmp_path / "batch"
    logs.mkdir()
    with open_test_job(spark, streamed) as a_job:
        stream = FolderStream(a_job, [str(logs)], lambda _: None, lambda _: None)
        assert stream.once() == RunResult()
        put(logs / "kafka-request.log", lines(10), age=0)
        assert [file.reason[:19] for file in stream.once().not_read] == ["still being written"]
        put(logs / "kafka-request.log", lines(25) + "odd\n")
        (logs / "kafka-request.log").rename(logs / "kafka-request.log.2026-03-01-10")
        assert stream.once().counts.lines == 26
        assert stream.once() == RunResult()
        put(logs / "kafka-request.log.2026-03-01-10.gz", lines(25) + "odd\n")
        (logs / "kafka-request.log.2026-03-01-10").unlink()
        put(logs / "kafka-request.log.2026-03-01-11", lines(5, first=50))
        assert stream.once().counts.lines == 5
    read(spark, batch, logs)
    assert sums(streamed) == sums(batch)


def test_stream_stops_when_the_event_is_set(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "logs" / "a.log", lines(3))
    stop = threading.Event()
    with open_test_job(spark, tmp_path / "tables") as a_job:
        stream = FolderStream(a_job, [str(tmp_path / "logs")], lambda _: None, lambda _: stop.set())
        stream.until(stop, 0.1)
    assert requests(tmp_path / "tables") == 3


def log_and_roll(directory: Path, ended: threading.Event, rolls: int) -> None:
    """Write, roll and compress logs like a broker and logrotate; each line has its own client."""
    rng, number = random.Random(7), 0
    active, rolled = directory / "kafka-request.log", []
    for turn in range(rolls):
        with active.open("a") as log:
            for _ in range(rng.randint(1, 40)):
                log.write(line(number, client=f"app-{number}") + "\n")
                number += 1
        rolled.append(active.rename(directory / f"kafka-request.log.2026-03-01-{turn:02}"))
        make_old(rolled[-1])
        if rng.random() < 0.5:
            plain = rolled.pop(rng.randrange(len(rolled)))
            packed = put(plain.with_name("compressing"), gzip.compress(plain.read_bytes()))
            packed.rename(f"{plain}.gz")
            plain.unlink()
        time.sleep(rng.random() / 4)
    (directory / "lines").write_text(str(number))
    ended.set()


def test_stream_reads_every_line_once_while_logs_are_rolled_and_compressed(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs, tables, ended = tmp_path / "logs", tmp_path / "tables", threading.Event()
    logs.mkdir()
    broker = threading.Thread(target=log_and_roll, args=(logs, ended, 60))
    with open_test_job(spark, tables) as a_job:
        stream = FolderStream(a_job, [str(logs)], lambda _: None, lambda _: None)
        broker.start()
        stream.until(ended, 0.1)
        broker.join(60)
        written = int((logs / "lines").read_text())
        (logs / "lines").unlink()
        stream.once()
    assert requests(tables) == written
    clients = [column.name for column in TABLES["usage"].columns].index("client_id")
    assert len({row[clients] for row in rows(tables, "usage")}) == written


def test_stream_stops_after_the_maximum_of_failed_triggers_in_a_row(
    spark: SparkSession, tmp_path: Path
) -> None:
    triggers: list[str] = []

    class AlwaysChanged(FolderStream):
        def once(self) -> RunResult:
            triggers.append("changed" if len(triggers) != 5 else "read")
            if triggers[-1] == "read":
                return RunResult()
            raise ChangedError("a.log changed while it was read")

    with (
        open_test_job(spark, tmp_path / "tables") as a_job,
        pytest.raises(ChangedError, match=r"a\.log"),
    ):
        AlwaysChanged(a_job, ["logs"], lambda _: None, lambda _: None).until(threading.Event(), 0.0)
    assert len(triggers) == 6 + MAX_FAILED_TRIGGERS


def test_stream_once_lists_unreadable_and_not_read_files(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    put(logs / "a.log", lines(4) + "half")
    put(logs / "kafka-request.log", lines(4, first=10))
    broken = logs / "b.log.gz"
    broken.write_bytes(gzip.compress(lines(40, first=20).encode())[:-4])
    make_old(broken)
    options = ["--tables", str(tmp_path / "tables"), "--trigger", "once", "--master", "local[1]"]
    command = [sys.executable, "-m", "rollcall", "pipeline", "stream", str(logs), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^unreadable: {broken}: gzip ends too early", done.stdout, re.MULTILINE)
    unread = re.findall(r"^not read: \S+/(\S+): ", done.stdout, re.MULTILINE)
    assert sorted(unread) == ["a.log", "kafka-request.log"]
