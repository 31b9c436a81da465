"""A topic as a source: its address, and its records as lines."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing import LINES

ADDRESS = r"(\[[0-9a-fA-F:.]+\]|[^@:,/\s\[\]]+):\d{1,5}"
BOOTSTRAP = re.compile(f"{ADDRESS}(,{ADDRESS})*")
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, kw_only=True)
class Topic:
    bootstrap: str
    name: str
    line_field: str | None = None
    """The field of a JSON envelope that holds the line; None: the value is the line."""
    broker_field: str | None = None
    """The field that names the broker."""
    options: tuple[tuple[str, str], ...] = ()
    """For Spark's Kafka source, as in kafka.security.protocol."""

    @classmethod
    def parse(cls, address: str, **fields: Any) -> Topic:
        parts = urlsplit(address)
        topic = parts.path.strip("/")
        known = parts.scheme == "kafka" and BOOTSTRAP.fullmatch(parts.netloc)
        if not known or not TOPIC.fullmatch(topic):
            raise ConfigError(
                f"{address!r} is no address of a topic", hint="use kafka://HOST:PORT/TOPIC"
            )
        return cls(bootstrap=parts.netloc, name=topic, **fields)

    @property
    def address(self) -> str:
        return f"kafka://{self.bootstrap}/{self.name}"

    def id_in(self, cluster: str | None) -> str:
        """What it is known by: its name and its Kafka cluster's id, whichever broker is asked. A
        cluster that tells none (before 0.10.1) is known by the brokers that were named."""
        digest = hashlib.sha256((cluster or self.bootstrap).encode()).hexdigest()[:8]
        return f"{self.name}-{digest}"


def topic_lines(
    rows: DataFrame, topic: Topic, *, cluster: str | None, broker: str | None
) -> DataFrame:
    """Values to lines, perhaps with the newline of the log4j pattern. One that is no envelope, or
    has no such field, is its own line, which will be rejected."""
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
    """A field by its name, which may hold dots itself (`host.name`), or lie in objects."""
    flat = F.get_json_object(value, f"$['{path}']")
    if "." not in path:
        return flat
    nested = "".join(f"['{part}']" for part in path.split("."))
    return F.coalesce(flat, F.get_json_object(value, f"${nested}"))
