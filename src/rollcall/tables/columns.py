"""The columns of every table: name, type, description, and how rows with equal keys are merged.

A part of a table holds partial sums. Readers merge rows with the same keys: counts are added,
minima and maxima taken, masks joined. So the result does not depend on how lines were split into
batches. Times are UTC. Durations are whole microseconds, because sums of floating point numbers
would depend on the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Merge(StrEnum):
    """How the values of a column are merged for rows with the same keys."""

    KEY = "key"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    BITS = "bit_or"
    """A bit mask of `LEVELS` or `FORMS`."""


TEXT = "STRING"
COUNT = "BIGINT"
NUMBER = "INT"
FLAG = "BOOLEAN"
TIME = "TIMESTAMP_NTZ"
RANGES = "ARRAY<STRUCT<api_key: INT, min_version: INT, max_version: INT>>"

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""Log levels; bit 0 of a mask is TRACE."""
FORMS = ("A", "B", "C", "D", "E", "F", "G", "H", "I", "J")
"""Formats of the request log; bit 0 of a mask is A."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    """Spark SQL type."""
    merge: Merge
    about: str


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    about: str
    columns: tuple[Column, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.merge is Merge.KEY)

    @property
    def values(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.merge is not Merge.KEY)


def key(name: str, type_: str, about: str) -> Column:
    return Column(name, type_, Merge.KEY, about)


HOUR = key("hour", TIME, "start of the hour; start of the day for rows older than 7 days")
WHERE = (
    key("cluster", TEXT, "--cluster of the run"),
    key("broker", TEXT, "--broker of the run, otherwise the local address in the connection id"),
)
WHO = (
    key("listener", TEXT, "name of the listener; null before 0.10.2"),
    key("principal", TEXT, "principal as Kafka writes it, User:name; null before 0.9"),
    key("client_id", TEXT, "cut at 256 characters with a hash; `other` beyond 10,000 per day"),
    key("host", TEXT, "address of the client, without the port"),
    key("software_name", TEXT, "software name in the line; null if there is none"),
    key("software_version", TEXT, "software version in the line; null if there is none"),
)
KIND = (
    key("forwarded", FLAG, "whether a broker forwarded the request to the controller"),
    key("replica", FLAG, "whether the request is inter-broker traffic"),
)
SEEN = (
    Column("first_seen", TIME, Merge.MIN, "time of the first line"),
    Column("last_seen", TIME, Merge.MAX, "time of the last line"),
)
REQUESTS = Column("requests", COUNT, Merge.SUM, "number of requests")

USAGE = Table(
    "usage",
    "API versions used per hour, broker and client, with counts, errors and times.",
    (
        HOUR,
        *WHERE,
        *WHO,
        key("api_key", NUMBER, "API key"),
        key("api_version", NUMBER, "version of the request"),
        *KIND,
        REQUESTS,
        Column("answered", COUNT, Merge.SUM, "responses whose top-level error code could be read"),
        Column("errors", COUNT, Merge.SUM, "responses with an error code other than 0"),
        Column("unsupported", COUNT, Merge.SUM, "responses with error 35, UNSUPPORTED_VERSION"),
        Column("deprecated", COUNT, Merge.SUM, "requests marked as deprecated by the broker"),
        Column("throttled", COUNT, Merge.SUM, "requests with a throttle time above 0"),
        Column("throttle_us", COUNT, Merge.SUM, "throttle time, microseconds; 0 if forwarded"),
        Column("total_us", COUNT, Merge.SUM, "total time, microseconds; 0 if forwarded"),
        Column("longest_us", COUNT, Merge.MAX, "longest total time, microseconds"),
        *SEEN,
        Column("hours", NUMBER, Merge.BITS, "hours of the day with a request; bit 0 is midnight"),
        Column("forms", NUMBER, Merge.BITS, "formats of the request log; bit 0 is A, bit 9 is J"),
    ),
)

CONNECTIONS = Table(
    "connections",
    "One row per connection: principal, software, first and last request, number of requests. An "
    "id without a request for 24 hours is a new connection.",
    (
        *WHERE,
        key("connection", TEXT, "connection id; before 0.9 the address and port of the client"),
        *WHO,
        *KIND,
        key("day", TIME, "day of the first line"),
        REQUESTS,
        *SEEN,
    ),
)

CONNECTION_HOURS = Table(
    "connection_hours",
    "Connections that ended more than 48 hours ago, counted per hour, broker and client.",
    (
        HOUR,
        *WHERE,
        *WHO,
        *KIND,
        Column("opened", COUNT, Merge.SUM, "connections opened"),
        Column("seen_once", COUNT, Merge.SUM, "connections with a single request"),
        Column("most_opened", COUNT, Merge.MAX, "highest number opened within an hour"),
        Column("most_seen_once", COUNT, Merge.MAX, "highest number with one request in an hour"),
        Column("longest_us", COUNT, Merge.MAX, "longest duration, microseconds"),
        REQUESTS,
        *SEEN,
    ),
)

BROKERS = Table(
    "brokers",
    "What brokers reported in logged ApiVersions responses and in roll calls; identical rows "
    "within an hour are one row.",
    (
        HOUR,
        *WHERE,
        key("source", TEXT, "`log`, or `roll call`"),
        key("listener", TEXT, "listener of the connection (log)"),
        key("node_id", NUMBER, "broker id (roll call)"),
        key("host", TEXT, "advertised host (roll call)"),
        key("port", NUMBER, "advertised port (roll call)"),
        key("rack", TEXT, "rack (roll call)"),
        key("controller", FLAG, "whether it was the controller (roll call)"),
        key("failure", TEXT, "why it could not be queried (roll call); null if it answered"),
        key("software_name", TEXT, "reported software name (roll call)"),
        key("software_version", TEXT, "reported version, or the inferred release (roll call)"),
        key("software_source", TEXT, "`reported`, `inferred` or `configured` (roll call)"),
        key("candidates", "ARRAY<STRING>", "candidate releases, if inferred (roll call)"),
        key("start_time", TIME, "reported start time (roll call); null if unknown"),
        key("ranges", RANGES, "listed version range of each API, by key"),
        Column("answers", COUNT, Merge.SUM, "number of ApiVersions responses or roll calls"),
        *SEEN,
    ),
)

REJECTS = Table(
    "rejects",
    "Lines that look like requests and could not be parsed.",
    (
        key("cluster", TEXT, "--cluster of the run"),
        key("file", TEXT, "path of the file when it was read"),
        key("line", COUNT, "line number, from 1; in a topic, the offset"),
        key("reason", TEXT, "reason of the rejection"),
        key("length", NUMBER, "length of the line in bytes"),
        key("piece", TEXT, "start of the line, without parts that may be secret"),
    ),
)

FILES = Table(
    "files",
    "Files and topic partitions that were read; a file that grew has several rows.",
    (
        key("cluster", TEXT, "--cluster of the run"),
        key("broker", TEXT, "--broker of the run; null if the lines name it"),
        key("file", TEXT, "path of the file when it was read"),
        key("head", TEXT, "hash of the first line, by which the file is found again"),
        key("fingerprint", TEXT, "hashes of the first 64 KB, uncompressed, and of less"),
        key("start", COUNT, "bytes read before this row"),
        key("bytes", COUNT, "bytes read in total, uncompressed, up to the last complete line"),
        key("stored_bytes", COUNT, "size of the stored file"),
        key("lost", TEXT, "what could not be read; null if everything was read"),
        key("read_at", TIME, "time of the read"),
        Column("lines", COUNT, Merge.SUM, "lines = requests + skipped + rejected"),
        REQUESTS,
        Column("skipped", COUNT, Merge.SUM, "blank lines, lines of other loggers, roll calls"),
        Column("rejected", COUNT, Merge.SUM, "lines that could not be parsed"),
        Column("first_time", TIME, Merge.MIN, "time of the first line"),
        Column("last_time", TIME, Merge.MAX, "time of the last line"),
        Column("levels", NUMBER, Merge.BITS, "observed log levels; bit 0 is TRACE, bit 2 is INFO"),
        Column("forms", NUMBER, Merge.BITS, "formats of the request log; bit 0 is A, bit 9 is J"),
    ),
)

TABLES: Mapping[str, Table] = {
    table.name: table for table in (USAGE, CONNECTIONS, CONNECTION_HOURS, BROKERS, REJECTS, FILES)
}
