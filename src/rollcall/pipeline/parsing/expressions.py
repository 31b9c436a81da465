"""What text and JSON lines have in common."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

CONNECTION, TOTAL, THROTTLE, RESPONSE_QUEUE, WHO = 1, 2, 6, 7, 9
"""Where the connection, three of its times and its owner are in a tail, cut at its commas."""

NAME = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?"
"""A valid name or version of software (KIP-511): a broker refuses others and does not keep them."""

REPLICA_APIS = (1, 2, 23)
"""Fetch, ListOffsets and OffsetForLeaderEpoch carry the id of the replica that asks."""


def is_one_of(column: str, keys: Iterable[int | str]) -> Column:
    """As SQL: a plan asks Java for every number that is not."""
    return F.expr(f"{column} IN ({', '.join(map(repr, keys))})")


def cut_bytes(text: Column, start: int | Column, size: int | Column) -> Column:
    """A piece of a text, from 1 on, or from its end: to count bytes costs a fraction of what it
    costs to count characters. Whoever cuts must know that no character is cut in two."""
    return F.substring(text.cast("binary"), start, size).cast("string")
