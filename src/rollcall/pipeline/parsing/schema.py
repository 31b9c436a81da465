"""Columns between the stages of the parser, outcomes of a line, and the settings of a source.

The columns of the stored tables are in `rollcall.tables`. A missing value is null, never "unknown".
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
from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN, LogLayout, compile_layout

REQUEST = "request"
"""Outcome: a request that the broker completed."""
SKIPPED = "skipped"
"""Outcome: a blank line, a line of another logger, or another message."""
REJECTED = "rejected"
"""Outcome: a damaged request line, or not a log line; `reason` says which."""

JSON = "json"
TEXT = "text"
"""Formats of a request line: forms H to J, and forms A to G."""


@dataclass(frozen=True, kw_only=True)
class SourceSettings:
    """How the lines of a source were written."""

    time_zone: str = "UTC"
    """Time zone of the brokers' clocks: a request log does not name it."""
    layout: str = DEFAULT_PATTERN
    """log4j pattern of the lines."""
    inter_broker: tuple[str, ...] = ()
    """Listeners and principals that only the brokers of the cluster use."""

    def __post_init__(self) -> None:
        zones = available_timezones()
        for zone in (self.time_zone, self.zone):
            if zone not in zones:
                raise ConfigError(
                    f"unknown time zone {zone!r}", hint="use a name such as UTC or Europe/Berlin"
                )

    @property
    def compiled_layout(self) -> LogLayout:
        return compile_layout(self.layout)

    @property
    def zone(self) -> str:
        """Time zone of the timestamps: the one in the layout, else the one of the clocks."""
        return self.compiled_layout.time_zone or self.time_zone


def columns(*schemas: StructType, **types: DataType) -> StructType:
    """The columns of some schemas, then columns by name and type."""
    given = [field for schema in schemas for field in schema.fields]
    return StructType([*given, *(StructField(name, kind) for name, kind in types.items())])


def without(schema: StructType, *names: str) -> StructType:
    return StructType([field for field in schema.fields if field.name not in names])


def typed(schema: StructType) -> list[str]:
    return [cast_as(field.name, field.dataType.simpleString()) for field in schema.fields]


def cast_as(name: str, kind: str) -> str:
    """A cast as SQL text: a `Column` would take four calls to Java."""
    return f"CAST({name} AS {kind}) AS {name}"


RANGES = ArrayType(
    columns(api_key=IntegerType(), min_version=IntegerType(), max_version=IntegerType())
)
"""API version ranges, sorted by key."""

LINES = columns(
    value=StringType(),
    # path as the source knows it
    file=StringType(),
    # offset of the block of the file that one task reads, and the order of lines inside it
    block=LongType(),
    position=LongType(),
    cluster=StringType(),
    # a setting of the source; null: the local address in the connection id
    broker=StringType(),
)

PREFIXED = columns(
    LINES,
    # the line in Kafka's own layout
    text=StringType(),
    # bytes as read, without the line end
    length=IntegerType(),
    # null unless the line starts with a timestamp and a level; microseconds since 1970, UTC
    instant=LongType(),
    level=StringType(),
    # JSON or TEXT for a complete request line, and what follows "Completed request:"
    format=StringType(),
    payload=StringType(),
    # why the line is rejected
    reason=StringType(),
)
"""Lines after `prefix.read_prefix`."""

PARTS = columns(
    # A, B or E (text, by its times) or H (JSON); null unless a request line
    form=StringType(),
    # API, version and client id, as written, without the correlation id
    head=StringType(),
    connection=StringType(),
    # security protocol, principal, listener and software, as written
    client=StringType(),
    # the whole payload of an ApiVersions request, which a client sends once per connection
    api_versions=StringType(),
    # from the bodies
    replica_id=StringType(),
    error_code=StringType(),
)
"""Texts that identify a request. Lines that agree in them are counted together."""

TIMES = columns(total_us=LongType(), throttle_us=LongType())

SPLIT = columns(without(PREFIXED, "format", "payload"), PARTS, TIMES)
"""Lines after `split.split_lines`."""

FACTS = columns(
    outcome=StringType(),
    reason=StringType(),
    # from the prefix; UTC
    time=TimestampNTZType(),
    level=StringType(),
    # oldest form of the request log that could have written the line
    form=StringType(),
    # the request
    api_key=IntegerType(),
    api_version=IntegerType(),
    deprecated=BooleanType(),
    forwarded=BooleanType(),
    replica=BooleanType(),
    # the client
    connection=StringType(),
    host=StringType(),
    listener=StringType(),
    security_protocol=StringType(),
    principal=StringType(),
    client_id=StringType(),
    software_name=StringType(),
    software_version=StringType(),
    # the response: top-level error code (JSON forms only), times in microseconds
    error_code=IntegerType(),
    total_us=LongType(),
    throttle_us=LongType(),
    # API version ranges in an ApiVersions response
    ranges=RANGES,
)

PARSED = columns(LINES, FACTS)
"""Rows of `parse_lines`: one per line, with `broker` filled in."""

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
    # the ranges of an ApiVersions response, as written
    ranges_text=StringType(),
    # of a reject: where it is, its bytes and its first characters
    position=LongType(),
    length=IntegerType(),
    piece=StringType(),
    # the sums; bytes include the line ends
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
"""Rows of `aggregates.requests.sum_lines`: lines that agree in everything but time are one row.
A reject is a row of its own. Every table is made from these rows."""
