"""A Kafka topic as a source: its address, its records as lines, and the check of its offsets.

Before Spark runs a batch, it writes the end offset of each partition to its checkpoint; the batch
begins where the one before ended. Some offsets hold no record: compaction or retention removed it,
or it is a transaction marker. Only then are the records counted by reading them again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rollcall.errors import ConfigError
from rollcall.pipeline.errors import PipelineError
from rollcall.pipeline.parsing import LINES
from rollcall.tables.stores import Store

ADDRESS = r"(\[[0-9a-fA-F:.]+\]|[^@:,/\s\[\]]+):\d{1,5}"
BOOTSTRAP = re.compile(f"{ADDRESS}(,{ADDRESS})*")
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

PartitionCounts = Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class Topic:
    bootstrap: str
    name: str
    line_field: str | None = None
    """Field of a JSON envelope that holds the line; None if the record value is the line."""
    broker_field: str | None = None
    """Field of a JSON envelope that names the broker."""
    options: tuple[tuple[str, str], ...] = ()
    """Options of Spark's Kafka source, for example kafka.security.protocol."""

    @classmethod
    def parse(cls, address: str, **fields: Any) -> Topic:
        parts = urlsplit(address)
        topic = parts.path.strip("/")
        valid = parts.scheme == "kafka" and BOOTSTRAP.fullmatch(parts.netloc)
        if not valid or not TOPIC.fullmatch(topic):
            raise ConfigError(
                f"{address!r} is not a valid topic address", hint="use kafka://HOST:PORT/TOPIC"
            )
        return cls(bootstrap=parts.netloc, name=topic, **fields)

    @property
    def address(self) -> str:
        return f"kafka://{self.bootstrap}/{self.name}"

    def stream_id(self, cluster_id: str | None) -> str:
        """The topic name with a hash of the cluster id, independent of the bootstrap brokers.

        Brokers before 0.10.1 report no cluster id: then the bootstrap brokers are hashed."""
        digest = hashlib.sha256((cluster_id or self.bootstrap).encode()).hexdigest()[:8]
        return f"{self.name}-{digest}"


def topic_lines(
    rows: DataFrame, topic: Topic, *, cluster: str | None, broker: str | None
) -> DataFrame:
    """Record values to lines (LINES), without a trailing newline.

    A value that is not an envelope, or lacks the field, is used as the line and then rejected."""
    value = F.col("value").cast("string")
    field = json_field(value, topic.line_field) if topic.line_field else F.lit(None)
    line = F.rtrim(F.coalesce(field, value, F.lit("")), F.lit("\r\n"))
    named = json_field(value, topic.broker_field) if topic.broker_field else F.lit(None)
    file = F.concat(F.lit(f"{topic.address}/"), F.col("partition").cast("string"))
    columns = {
        "value": line,
        "file": file,
        "position": F.col("offset"),
        "cluster": F.lit(cluster).cast("string"),
        "broker": F.coalesce(F.lit(broker), named).cast("string"),
        "block": F.lit(0).cast("bigint"),
    }
    return rows.select(*(columns[name].alias(name) for name in LINES.names))


def json_field(value: Any, path: str) -> Any:
    """A JSON field whose name may contain dots (`host.name`), or a path into nested objects."""
    flat = F.get_json_object(value, f"$['{path}']")
    if "." not in path:
        return flat
    nested = "".join(f"['{part}']" for part in path.split("."))
    return F.coalesce(flat, F.get_json_object(value, f"${nested}"))


def check_records(
    lines: PartitionCounts, offsets: PartitionCounts | None, recount: Callable[[], PartitionCounts]
) -> PartitionCounts:
    """Check that every record became a line; return the offsets without a record by partition."""
    if offsets is not None and _equal(lines, offsets):
        return {}
    records = recount()
    for partition in sorted({*lines, *records}):
        if lines.get(partition, 0) != records.get(partition, 0):
            raise PipelineError(
                f"partition {partition}: {records.get(partition, 0)} records, but "
                f"{lines.get(partition, 0)} lines were counted",
                hint="run the command again, nothing was written; report a bug if it happens twice",
            )
    empty = {key: count - records.get(key, 0) for key, count in (offsets or {}).items()}
    return {partition: count for partition, count in empty.items() if count > 0}


def _equal(one: PartitionCounts, other: PartitionCounts) -> bool:
    return all(one.get(key, 0) == other.get(key, 0) for key in {*one, *other})


def batch_offsets(store: Store, checkpoint: str, topic: str, batch: int) -> PartitionCounts | None:
    """The number of offsets of a batch by partition; None if Spark's checkpoint does not say."""
    before = f"offsets/{batch - 1}" if batch else "sources/0/0"
    try:
        last = _end_offsets(store.read(f"{checkpoint}/offsets/{batch}"), topic)
        first = _end_offsets(store.read(f"{checkpoint}/{before}"), topic)
        return {partition: end - first[partition] for partition, end in last.items()}
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return None  # another checkpoint format, or a new partition


def _end_offsets(content: bytes, topic: str) -> dict[int, int]:
    """The last line of a checkpoint file is JSON: {"topic": {"0": 17}}."""
    ends = json.loads(content.decode().splitlines()[-1])[topic]
    return {int(partition): int(end) for partition, end in ends.items()}
