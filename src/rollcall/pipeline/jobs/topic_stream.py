"""`rollcall pipeline stream kafka://HOST:PORT/TOPIC`: read a Kafka topic, each record once.

Spark writes the offsets of a batch to a checkpoint and repeats a batch that it does not know to be
complete. The manifest holds the number of the batch, so a batch that was committed before Spark
updated the checkpoint is skipped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import __version__ as spark_version
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.storagelevel import StorageLevel

from rollcall.errors import RollcallError
from rollcall.pipeline.errors import SourceError
from rollcall.pipeline.jobs.batch import (
    OUTCOMES,
    BatchResult,
    RejectExample,
    check_lines,
    summarise,
    utc_now,
)
from rollcall.pipeline.jobs.compaction import compact_if_due
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.write import Attempt, small_frame, write_parts
from rollcall.pipeline.sources.paths import spark_path
from rollcall.pipeline.sources.planning import UnreadFile
from rollcall.pipeline.sources.topic import Topic, batch_offsets, check_records, topic_lines
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.cleaning import Cleaner
from rollcall.tables.columns import FILES, REJECTS
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import STREAMS
from rollcall.tables.manifests import Counts, Kind, Manifest

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
POLL_SECONDS = 0.5
MAX_BATCH_RECORDS = 5_000_000


@dataclass
class TopicStream:
    job: Job
    topic: Topic
    on_result: Callable[[BatchResult], None]
    id: str
    """Identifies the stream in manifests and names its checkpoint."""
    _failure: RollcallError | None = None
    """Why a batch failed; Spark raises it as an exception of its own."""
    _cleaner: Cleaner = field(init=False)

    def __post_init__(self) -> None:
        self._cleaner = Cleaner(self.job.writer)

    @property
    def _checkpoint(self) -> str:
        return f"{STREAMS}/{self.id}"

    def start(self, seconds: float | None) -> StreamingQuery:
        """Start the query with this trigger interval; None reads what exists now and stops."""
        self._check_checkpoint()
        checkpoint = f"{self.job.writer.store.address}/{self._checkpoint}"
        source = self.job.spark.readStream.format("kafka").options(
            **{
                "kafka.bootstrap.servers": self.topic.bootstrap,
                "subscribe": self.topic.name,
                "startingOffsets": "earliest",
                "failOnDataLoss": "false",
                "maxOffsetsPerTrigger": str(MAX_BATCH_RECORDS),
                **dict(self.topic.options),
            }
        )
        try:
            writer = (
                source.load()
                .writeStream.foreachBatch(self._try_batch)
                .option("checkpointLocation", spark_path(checkpoint))
            )
        except PySparkException as error:
            raise no_connector(self.topic, error) from error
        if seconds is None:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{int(seconds * 1000)} milliseconds").start()

    def until(self, stop: threading.Event, seconds: float | None) -> None:
        query = self.start(seconds)
        try:
            while query.isActive and not stop.wait(POLL_SECONDS):
                pass
            if (error := query.exception()) is not None:
                raise self._failure or failed(self.topic, str(error))
        finally:
            query.stop()

    def _check_checkpoint(self) -> None:
        """Without its checkpoint, Spark would read the topic from the beginning again."""
        known = self.job.writer.snapshot().streams
        if self.id in known and not self.job.writer.store.list(self._checkpoint):
            raise TablesError(
                f"records of {self.topic.address} are in the tables, but the checkpoint of the "
                f"stream ({self._checkpoint}) is missing",
                hint="restore that directory, or use new tables: all records would be read again",
            )

    def _try_batch(self, rows: DataFrame, batch: int) -> None:
        try:
            self._read_batch(rows, batch)
        except RollcallError as error:
            self._failure = error
            raise

    def _read_batch(self, rows: DataFrame, batch: int) -> None:
        self._cleaner.clean_if_due()
        snapshot = self.job.writer.snapshot()
        if batch <= snapshot.streams.get(self.id, -1):
            return
        lines = topic_lines(rows, self.topic, cluster=self.job.cluster, broker=self.job.broker)
        attempt = Attempt.begin(snapshot.next_number)
        summed = self.job.record_type.sum_lines(lines).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            with translate_errors(self.job.writer.store.address):
                counted = self.job.record_type.count_files(summed).collect()
                check_lines(row.asDict() for row in counted)
                empty = self._check_records(rows, batch, counted)
                self.on_result(self._commit(attempt, lines, summed, batch, counted, empty))
        finally:
            summed.unpersist()
        while compact_if_due(self.job.spark, self.job.writer):
            pass

    def _check_records(
        self, rows: DataFrame, batch: int, counted: Sequence[Row]
    ) -> list[UnreadFile]:
        """Check that all records of the batch became lines; report offsets without a record."""

        def recount() -> dict[int, int]:
            return {row[0]: row[1] for row in rows.groupBy("partition").count().collect()}

        lines = {int(row["file"].rpartition("/")[2]): row["lines"] for row in counted}
        store = self.job.writer.store
        offsets = batch_offsets(store, self._checkpoint, self.topic.name, batch)
        empty = check_records(lines, offsets, recount)
        return [
            UnreadFile(f"{self.topic.address}/{partition}", f"{count} offsets hold no record")
            for partition, count in empty.items()
        ]

    def _commit(
        self,
        attempt: Attempt,
        lines: DataFrame,
        summed: DataFrame,
        batch: int,
        counted: list[Row],
        empty: Sequence[UnreadFile],
    ) -> BatchResult:
        totals = {name: sum(row[name] for row in counted) for name in OUTCOMES}
        frames = self.job.record_type.table_rows(summed)
        frames[FILES.name] = self._file_rows(counted)
        examples: tuple[RejectExample, ...] = ()
        reasons: dict[str, int] = {}
        if totals["rejected"]:
            found = self.job.record_type.find_rejects(lines, summed)
            rejects = found.withColumn("line", F.col("position"))
            examples, reasons = summarise(rejects)
            frames[REJECTS.name] = rejects
        counts = Counts(files=len(counted), **totals, reasons=reasons)
        parts = write_parts(self.job.writer, attempt, frames) if counted else {}
        self.job.writer.commit(
            Manifest(
                attempt.number,
                Kind.BATCH,
                self.job.writer.now_ms(),
                parts=parts,
                counts=counts,
                sources=(self.topic.address,),
                streams={self.id: batch},
            )
        )
        return BatchResult(counts, examples, tuple(empty))

    def _file_rows(self, counted: list[Row]) -> DataFrame:
        """A row for each partition of the topic, without a fingerprint."""
        now = utc_now(self.job.writer)
        columns = {column.name: column.type for column in FILES.columns}
        rows = [
            {name: value for name, value in row.asDict().items() if name in columns}
            | {"cluster": self.job.cluster, "broker": self.job.broker, "read_at": now}
            for row in counted
        ]
        return small_frame(self.job.spark, columns, rows)


def failed(topic: Topic, reason: str) -> SourceError:
    first = next(iter(reason.splitlines()), "")
    return SourceError(
        f"the stream of {topic.address} failed: {first[:300]}",
        hint="check that the broker is up and the topic exists, and run the command again: it "
        "continues where it stopped",
    )


def cluster_id(spark: SparkSession, topic: Topic) -> str | None:
    """The id of the Kafka cluster, as its brokers report it."""
    jvm: Any = spark._jvm
    settings = jvm.java.util.Properties()
    settings.put("bootstrap.servers", topic.bootstrap)
    for name, value in topic.options:
        settings.put(name.removeprefix("kafka."), value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
        try:
            found: str | None = admin.describeCluster().clusterId().get()
        finally:
            admin.close()
    except TypeError as error:  # py4j calls a missing class as if it was a package
        raise no_connector(topic, error) from error
    except Py4JJavaError as error:
        raise failed(topic, error.java_exception.toString()) from error
    return found


def connector() -> str:
    """Maven coordinates of the Kafka connector for this version of Spark."""
    return f"{CONNECTOR}:{spark_version}"


def no_connector(topic: Topic, error: Exception) -> SourceError:
    return SourceError(
        f"Spark cannot read {topic.address}: {next(iter(str(error).splitlines()), '')[:200]}",
        hint=f"give the Kafka connector {CONNECTOR} in the version of Spark, as Maven coordinates "
        "(--packages) or as files (--conf spark.jars=...)",
    )
