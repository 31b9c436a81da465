"""The columns of every table, in one place: what they are called, what they hold, how they merge.

A part of a table holds partial sums. Two rows with the same keys are one row when read: counts
are added, bounds are taken, masks are joined. So any order of parts, and any cut of the lines
into batches, gives the same table. Times are UTC, durations whole microseconds: sums of floating
point numbers would depend on the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Merge(StrEnum):
    """What becomes of the values of a column when rows with the same keys are merged."""

    KEY = "key"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    BITS = "bit_or"
    """A mask; `LEVELS` and `FORMS` say what its bits are."""


TEXT = "STRING"
COUNT = "BIGINT"
NUMBER = "INT"
FLAG = "BOOLEAN"
TIME = "TIMESTAMP_NTZ"
RANGES = "ARRAY<STRUCT<api_key: INT, min_version: INT, max_version: INT>>"

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""Bit 0 of a mask of levels is TRACE."""
FORMS = ("A", "B", "C", "D", "E", "F", "G", "H", "I", "J")
"""Bit 0 of a mask of forms of the request log is A."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    """As Spark writes it."""
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


HOUR = key("hour", TIME, "the hour it begins; for what is older than 7 days, the day")
WHERE = (
    key("cluster", TEXT, "the setting of the source"),
    key("broker", TEXT, "the setting of the source, else the local address in the connection id"),
)
WHO = (
    key("listener", TEXT, "the name of the listener; null before 0.10.2"),
    key("principal", TEXT, "as Kafka writes it, User:name; null before 0.9"),
    key("client_id", TEXT, "cut at 256 characters, with a hash beyond; `other` past 10,000 a day"),
    key("host", TEXT, "the client's address, without the port"),
    key("software_name", TEXT, "what the line itself tells; null when it tells none"),
    key("software_version", TEXT, "as told with the name"),
)
KIND = (
    key("forwarded", FLAG, "a broker passed the request on to the controller"),
    key("replica", FLAG, "traffic of the cluster's own brokers"),
)
SEEN = (
    Column("first_seen", TIME, Merge.MIN, "the time of the first line"),
    Column("last_seen", TIME, Merge.MAX, "the time of the last line"),
)
REQUESTS = Column("requests", COUNT, Merge.SUM, "how many requests")

USAGE = Table(
    "usage",
    "Per hour, broker and client: which API in which version, how often, how long it took.",
    (
        HOUR,
        *WHERE,
        *WHO,
        key("api_key", NUMBER, "the number of the API"),
        key("api_version", NUMBER, "the version of the request"),
        *KIND,
        REQUESTS,
        Column("answered", COUNT, Merge.SUM, "responses whose top-level error code could be read"),
        Column("errors", COUNT, Merge.SUM, "those of them with an error"),
        Column("unsupported", COUNT, Merge.SUM, "those with error 35, UNSUPPORTED_VERSION"),
        Column("deprecated", COUNT, Merge.SUM, "requests the broker marked as deprecated"),
        Column("throttled", COUNT, Merge.SUM, "requests with a throttle time above 0"),
        Column("throttle_us", COUNT, Merge.SUM, "throttle time, microseconds; 0 if forwarded"),
        Column("total_us", COUNT, Merge.SUM, "total time, microseconds; 0 if forwarded"),
        Column("longest_us", COUNT, Merge.MAX, "longest total time, microseconds"),
        *SEEN,
        Column("hours", NUMBER, Merge.BITS, "hours of the day with a request; bit 0 is midnight"),
        Column("forms", NUMBER, Merge.BITS, "forms of the request log; bit 0 is A, bit 9 is J"),
    ),
)

CONNECTIONS = Table(
    "connections",
    "Per connection: who, which software, opened when, last seen, requests. A part may hold "
    "several rows of one connection; an id that was silent for 24 hours is a new connection.",
    (
        *WHERE,
        key("connection", TEXT, "the connection id; before 0.9, the client's address and port"),
        *WHO,
        *KIND,
        key("day", TIME, "the day of the first line, so that no row spans a silence of 24 hours"),
        REQUESTS,
        *SEEN,
    ),
)

CONNECTION_HOURS = Table(
    "connection_hours",
    "Connections that ended more than 48 hours ago, per hour of opening, broker and client.",
    (
        HOUR,
        *WHERE,
        *WHO,
        *KIND,
        Column("opened", COUNT, Merge.SUM, "connections opened"),
        Column("seen_once", COUNT, Merge.SUM, "those with a single request"),
        Column("most_opened", COUNT, Merge.MAX, "most opened within an hour"),
        Column("most_seen_once", COUNT, Merge.MAX, "most with a single request within an hour"),
        Column("longest_us", COUNT, Merge.MAX, "the longest, first to last request, microseconds"),
        REQUESTS,
        *SEEN,
    ),
)

BROKERS = Table(
    "brokers",
    "What a broker was heard to tell in logged ApiVersions answers, and what roll calls saw; the "
    "same answers within an hour are one row.",
    (
        HOUR,
        *WHERE,
        key("source", TEXT, "`log`, or `roll call`"),
        key("listener", TEXT, "of the connection (log)"),
        key("node_id", NUMBER, "the broker's id (roll call)"),
        key("host", TEXT, "the address it gives its clients (roll call)"),
        key("port", NUMBER, "the port to it (roll call)"),
        key("rack", TEXT, "its rack (roll call)"),
        key("controller", FLAG, "it was the controller (roll call)"),
        key("failure", TEXT, "why it did not answer (roll call); null when it did"),
        key("software_name", TEXT, "as reported (roll call)"),
        key("software_version", TEXT, "as reported, or the inferred release (roll call)"),
        key("software_source", TEXT, "`reported`, `inferred` or `configured` (roll call)"),
        key("candidates", "ARRAY<STRING>", "releases it may be, if inferred (roll call)"),
        key("start_time", TIME, "when it started (roll call); null when it does not tell"),
        key("ranges", RANGES, "the versions of each API it lists, by key"),
        Column("answers", COUNT, Merge.SUM, "ApiVersions answers, or roll calls"),
        *SEEN,
    ),
)

REJECTS = Table(
    "rejects",
    "Lines that should have been a request and could not be read.",
    (
        key("cluster", TEXT, "the setting of the source"),
        key("file", TEXT, "the file, as it was called when it was read"),
        key("line", COUNT, "the number of the line, from 1; in a topic, the offset"),
        key("reason", TEXT, "why"),
        key("length", NUMBER, "its length in bytes"),
        key("piece", TEXT, "its beginning, without what may be secret"),
    ),
)

FILES = Table(
    "files",
    "Files that were read, or partitions of a topic; a file that grew has several rows.",
    (
        key("cluster", TEXT, "the setting of the source"),
        key("broker", TEXT, "the setting of the source; null when the lines tell it"),
        key("file", TEXT, "the path when it was read"),
        key("head", TEXT, "a hash of the first line: how the file is found again"),
        key("fingerprint", TEXT, "hashes of the first 64 KB, uncompressed, and of less"),
        key("start", COUNT, "bytes that had been read before"),
        key("bytes", COUNT, "bytes read in all, uncompressed, up to the last whole line"),
        key("stored_bytes", COUNT, "the size of the file as it lay there"),
        key("lost", TEXT, "what could not be read of it; null when nothing was lost"),
        key("read_at", TIME, "when it was read"),
        Column("lines", COUNT, Merge.SUM, "lines = requests + skipped + rejected"),
        REQUESTS,
        Column("skipped", COUNT, Merge.SUM, "blank lines, of other loggers, of roll calls"),
        Column("rejected", COUNT, Merge.SUM, "lines that could not be read"),
        Column("first_time", TIME, Merge.MIN, "the time of its first line"),
        Column("last_time", TIME, Merge.MAX, "the time of its last line"),
        Column("levels", NUMBER, Merge.BITS, "log levels seen; bit 0 is TRACE, bit 2 is INFO"),
        Column("forms", NUMBER, Merge.BITS, "forms of the request log; bit 0 is A, bit 9 is J"),
    ),
)

TABLES: Mapping[str, Table] = {
    table.name: table for table in (USAGE, CONNECTIONS, CONNECTION_HOURS, BROKERS, REJECTS, FILES)
}
