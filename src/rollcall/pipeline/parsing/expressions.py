"""Column expressions that several stages use."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

SOFTWARE = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?"
"""Valid software name or version (KIP-511). A broker refuses other names and does not keep them."""

REPLICA_APIS = (1, 2, 23)
"""Fetch, ListOffsets and OffsetForLeaderEpoch carry the id of the replica that sends them."""

MAX_MS = 86_400_000
"""Request times above a day are discarded: a forged line must not distort a sum."""


def is_in(column: str, values: Iterable[int | str]) -> Column:
    """`isin` as SQL text: a `Column` would take one call to Java per value."""
    return F.expr(f"{column} IN ({', '.join(map(repr, values))})")


def is_true(condition: Column) -> Column:
    """A condition that is false where it would be null."""
    return F.coalesce(condition, F.lit(False))


def null_if(value: Column, nothing: str) -> Column:
    return F.nullif(value, F.lit(nothing))


def extract(text: Column, regex: str | Column, group: int) -> Column:
    """A group of a regular expression; null if it is empty or does not match."""
    pattern = F.lit(regex) if isinstance(regex, str) else regex
    return null_if(F.call_function("regexp_extract", text, pattern, F.lit(group)), "")


def substring_bytes(text: Column, start: int | Column, length: int | Column) -> Column:
    """`substring` by bytes, for ASCII limits: by characters, Spark counts the whole line first."""
    return F.substring(text.cast("binary"), start, length).cast("string")


def integer(text: Column) -> Column:
    """Failed casts are slow; skip empty strings first."""
    return null_if(text, "").try_cast("int")


def micros(millis: Column) -> Column:
    """Milliseconds as text to microseconds: sums of integers do not depend on the order.

    0.11 writes the decimal sign of its locale.
    """
    number = F.translate(millis, ",", ".").try_cast("double")
    return (F.when(number.between(0, MAX_MS), number) * 1000 + 0.5).cast("bigint")


def throttle_micros(millis: Column) -> Column:
    """Null if there are decimals: up to 2.5 they are the time between two steps of the broker,
    throttled or not."""
    is_whole = ~(millis.contains(".") | millis.contains(","))
    number = F.when(is_whole, millis.try_cast("bigint"))
    return F.when(number.between(0, MAX_MS), number) * 1000


def to_timestamp(micros: Column) -> Column:
    """Microseconds since 1970 to a timestamp without zone, in any session time zone."""
    epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
    return F.timestamp_add("MICROSECOND", micros, epoch)
