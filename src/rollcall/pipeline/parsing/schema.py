"""The columns between the steps: lines as a source gives them, requests as parsing leaves them.

The columns of the tables at rest are in `rollcall.tables`. Missing is null, never "unknown".
"""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import available_timezones

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN, Layout, compile_layout

REQUEST = "request"
"""Outcome: the line is a request that a broker completed."""
SKIPPED = "skipped"
"""Outcome: a blank line, another logger's line, or another message."""
REJECTED = "rejected"
"""Outcome: it should have been a request, or is no line of a log at all; `reason` says why."""


def columns(**types: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in types.items()])


def typed(schema: StructType) -> list[str]:
    return [cast_as(field.name, field.dataType.simpleString()) for field in schema.fields]


def cast_as(name: str, kind: str) -> str:
    """A column in its type. As SQL, since a plan asks Java four times for each that is not."""
    return f"CAST({name} AS {kind}) AS {name}"


RANGES = ArrayType(
    columns(api_key=IntegerType(), min_version=IntegerType(), max_version=IntegerType())
)
"""API ranges, by key."""

LINES = columns(
    value=StringType(),
    # the path as the source knows it
    file=StringType(),
    # where in the file the block begins that one task reads, and the order inside of it
    block=LongType(),
    position=LongType(),
    cluster=StringType(),
    # a setting of the source; null: the local address in the connection id
    broker=StringType(),
)

FACTS = columns(
    # what the line is
    outcome=StringType(),
    reason=StringType(),
    # the frame of a log line, when there is one; UTC
    time=TimestampNTZType(),
    level=StringType(),
    # the oldest form of the request log that could have written the line
    form=StringType(),
    # the request
    api_key=IntegerType(),
    api_version=IntegerType(),
    deprecated=BooleanType(),
    forwarded=BooleanType(),
    replica=BooleanType(),
    # who sent it
    connection=StringType(),
    host=StringType(),
    listener=StringType(),
    security_protocol=StringType(),
    principal=StringType(),
    client_id=StringType(),
    software_name=StringType(),
    software_version=StringType(),
    # what became of it: the code at the top of the response (JSON forms), and microseconds
    error_code=IntegerType(),
    total_us=LongType(),
    throttle_us=LongType(),
    # what an ApiVersions answer told of the broker, by key
    ranges=RANGES,
)

PARSED = StructType([*LINES.fields, *FACTS.fields])
"""What `parse_lines` gives: the lines, `broker` filled in, and the facts of each."""

SUMS = columns(
    file=StringType(),
    block=LongType(),
    cluster=StringType(),
    broker=StringType(),
    hour=TimestampNTZType(),
    **{
        field.name: field.dataType
        for field in FACTS.fields
        if field.name not in {"time", "total_us", "throttle_us", "ranges"}
    },
    # the ranges in an ApiVersions answer, as they were written
    answer=StringType(),
    # a reject: where it is, how long it was and how it began
    position=LongType(),
    length=IntegerType(),
    piece=StringType(),
    # the sums; bytes with the line ends
    lines=LongType(),
    bytes=LongType(),
    first_position=LongType(),
    first_seen=TimestampNTZType(),
    last_seen=TimestampNTZType(),
    total_us=LongType(),
    longest_us=LongType(),
    throttled=LongType(),
    throttle_us=LongType(),
)
"""What `sum_lines` gives: lines that agree in everything but time are one row, and every table
is made from these rows. A reject is a row of its own."""


@dataclass(frozen=True, kw_only=True)
class SourceSettings:
    time_zone: str = "UTC"
    """Of the brokers' clocks: a request log names none."""
    layout: str = DEFAULT_PATTERN
    """The log4j pattern that the lines were written with."""
    inter_broker: tuple[str, ...] = ()
    """Listeners and principals that only the cluster's own brokers use."""

    def __post_init__(self) -> None:
        zones = available_timezones()
        for zone in (self.time_zone, self.zone):
            if zone not in zones:
                raise ConfigError(
                    f"there is no time zone {zone!r}",
                    hint="use a name such as UTC or Europe/Berlin",
                )

    @property
    def frame(self) -> Layout:
        return compile_layout(self.layout)

    @property
    def zone(self) -> str:
        """The zone that times are in: the layout may name it."""
        return self.frame.time_zone or self.time_zone
