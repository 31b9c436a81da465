"""Partial sums: the rows of all tables, from one pass over the lines.

`sum_lines` cuts the lines, counts those that agree in all their parts, and reads the parts of
each count once. Its rows are few beside the lines; whoever makes several tables of them keeps
them, as each table would parse the lines again. Every `count_` function leaves rows with the
columns of its table, which may be merged with rows of other batches in any order.

Sums are of whole numbers, and bounds of numbers: the least of a text would make Spark sort.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing.fields import ranges_of, read_cuts
from rollcall.pipeline.parsing.parse import utc
from rollcall.pipeline.parsing.prefix import FRAME
from rollcall.pipeline.parsing.schema import (
    REJECTED,
    REQUEST,
    SKIPPED,
    SUMS,
    SourceSettings,
    cast_as,
    typed,
)
from rollcall.pipeline.parsing.split import PARTS, cut_lines
from rollcall.tables.columns import (
    BROKERS,
    CONNECTIONS,
    COUNT,
    FORMS,
    LEVELS,
    NUMBER,
    USAGE,
    Merge,
    Table,
)

HOUR_US = 3_600_000_000
LONGEST_PIECE = 120
SOURCE = ("file", "block", "cluster", "broker")
UNSUPPORTED_VERSION = 35


def sum_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """One row for all lines of a file that agree in hour and parts; one for each reject."""
    return (
        lines.transform(cut_lines, settings)
        .transform(count_by_parts)
        # keeps the reading out of the counting, which else runs as slowly as reading JSON does
        .where(F.col("lines") > 0)
        .transform(read_cuts, settings)
        .transform(with_rejects)
        .withColumns({name: utc(F.col(name)) for name in ("hour", "first_seen", "last_seen")})
        .selectExpr(*typed(SUMS))
    )


def count_by_parts(cuts: DataFrame) -> DataFrame:
    rejected = F.col("reason").isNotNull()
    hour = F.expr(f"instant - pmod(instant, {HOUR_US})")
    total, throttle = F.col("total_us"), F.col("throttle_us")
    alone = {name: F.when(rejected, it) for name, it in where_and_how().items()}
    return (
        cuts.withColumns({"hour": hour, "first_position": F.col("position"), **alone})
        .groupBy(*SOURCE, "hour", "level", "reason", *PARTS, *alone)
        .agg(
            F.count(F.lit(1)).alias("lines"),
            F.sum(F.col("octets") + 1).alias("bytes"),
            F.min("first_position").alias("first_position"),
            F.min("instant").alias("first_seen"),
            F.max("instant").alias("last_seen"),
            F.sum(total).alias("total_us"),
            F.max(total).alias("longest_us"),
            F.count_if(throttle > 0).alias("throttled"),
            F.sum(throttle).alias("throttle_us"),
        )
    )


def where_and_how() -> dict[str, Column]:
    """What a reject does not share with others: its place, and how it begins."""
    piece = F.substring(F.coalesce("text", "payload"), 1, LONGEST_PIECE)
    return {"position": F.col("position"), "piece": piece}


def with_rejects(read: DataFrame) -> DataFrame:
    """Where a reject is and how it begins. Lines that were cut well and yet could not be read
    are one row for all that are the same (`reject_lines` has them each)."""
    rejected = F.col("outcome") == REJECTED
    piece = F.coalesce("piece", F.col("request"))
    length = F.floor(F.col("bytes") / F.col("lines")) - 1
    return read.withColumns(
        {
            "position": F.when(rejected, F.coalesce("position", "first_position")),
            "length": F.when(rejected, length),
            "piece": F.when(rejected, without_secrets(piece)),
        }
    )


def without_secrets(piece: Column) -> Column:
    """A body may hold a password: all that is not the head of a request line is shown as its
    shape only."""
    head = F.substring_index(F.substring_index(piece, " -- ", 1), ',"request":', 1)
    shape = F.regexp_replace(F.regexp_replace(piece, r"\d", "0"), r"\p{L}", "x")
    starts = piece.rlike(FRAME) | piece.startswith("request:")
    return F.make_valid_utf8(F.substring(F.when(starts, head).otherwise(shape), 1, LONGEST_PIECE))


def count_usage(sums: DataFrame) -> DataFrame:
    lines, error = F.col("lines"), F.col("error_code")
    own_times = ~F.col("forwarded")
    return summed(
        sums.where(F.col("outcome") == REQUEST),
        USAGE,
        requests=F.sum(lines),
        answered=F.sum(F.when(error.isNotNull(), lines)),
        errors=F.sum(F.when(error != 0, lines)),
        unsupported=F.sum(F.when(error == UNSUPPORTED_VERSION, lines)),
        deprecated=F.sum(F.when(F.col("deprecated"), lines)),
        throttled=F.sum(F.when(own_times, F.col("throttled"))),
        throttle_us=F.sum(F.when(own_times, F.col("throttle_us"))),
        total_us=F.sum(F.when(own_times, F.col("total_us"))),
        longest_us=F.max(F.when(own_times, F.col("longest_us"))),
        first_seen=F.min("first_seen"),
        last_seen=F.max("last_seen"),
        hours=F.bit_or(F.call_function("shiftleft", F.lit(1), F.hour("hour"))),
        forms=F.bit_or(bit_of("form", FORMS)),
    )


def count_connections(sums: DataFrame) -> DataFrame:
    requests = sums.where((F.col("outcome") == REQUEST) & F.col("connection").isNotNull())
    return summed(
        requests.withColumn("day", F.col("hour").cast("date").cast("timestamp_ntz")),
        CONNECTIONS,
        requests=F.sum("lines"),
        first_seen=F.min("first_seen"),
        last_seen=F.max("last_seen"),
    )


def observed_brokers(sums: DataFrame) -> DataFrame:
    """What logged ApiVersions answers told; columns that only a roll call fills are null."""
    # many clients get the same answer: it is read once
    heard = (
        sums.where(F.col("answer").isNotNull())
        .groupBy("hour", "cluster", "broker", "listener", "answer")
        .agg(
            F.sum("lines").alias("lines"),
            F.min("first_seen").alias("first_seen"),
            F.max("last_seen").alias("last_seen"),
        )
        .withColumns({"source": F.lit("log"), "ranges": ranges_of(F.col("answer"))})
    )
    told = {"hour", "cluster", "broker", "source", "listener", "ranges"}
    unknown = {
        column.name: F.lit(None).cast(column.type)
        for column in BROKERS.columns
        if column.merge is Merge.KEY and column.name not in told
    }
    return summed(
        heard.withColumns(unknown),
        BROKERS,
        answers=F.sum("lines"),
        first_seen=F.min("first_seen"),
        last_seen=F.max("last_seen"),
    )


def reject_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """As `select_rejects`, each line by itself: nothing is summed."""
    one = {"lines": F.lit(1), "bytes": F.col("octets") + 1, "first_position": F.col("position")}
    return (
        lines.transform(cut_lines, settings)
        .withColumns({**one, **where_and_how()})
        .transform(read_cuts, settings)
        .transform(with_rejects)
        .transform(select_rejects)
    )


def select_rejects(sums: DataFrame) -> DataFrame:
    """Where and why; the number of the line is for the source to find."""
    columns = ("cluster", "file", "block", "position", "reason", "lines", "length", "piece")
    return sums.where(F.col("outcome") == REJECTED).select(*columns)


def count_files(sums: DataFrame) -> DataFrame:
    """Per file, what its lines were; what the file itself was, the source knows."""
    lines, outcome = F.col("lines"), F.col("outcome")
    return sums.groupBy("file").agg(
        F.sum(lines).alias("lines"),
        *(
            F.coalesce(F.sum(F.when(outcome == kind, lines)), F.lit(0)).alias(name)
            for name, kind in (("requests", REQUEST), ("skipped", SKIPPED), ("rejected", REJECTED))
        ),
        F.sum("bytes").alias("bytes_read"),
        F.min("first_seen").alias("first_time"),
        F.max("last_seen").alias("last_time"),
        F.coalesce(F.bit_or(bit_of("level", LEVELS)), F.lit(0)).alias("levels"),
        F.coalesce(F.bit_or(bit_of("form", FORMS)), F.lit(0)).alias("forms"),
    )


def summed(rows: DataFrame, table: Table, **sums: Column) -> DataFrame:
    """Rows with the columns of a table, each with its type; a sum of nothing is 0."""
    zero = {column.name for column in table.values if column.type in {COUNT, NUMBER}}
    counted = rows.groupBy(*table.keys).agg(
        *(
            (F.coalesce(value, F.lit(0)) if name in zero else value).alias(name)
            for name, value in sums.items()
        )
    )
    return counted.selectExpr(*(cast_as(each.name, each.type) for each in table.columns))


def bit_of(column: str, names: tuple[str, ...]) -> Column:
    """The bit that stands for a name in a mask; null for no name."""
    bits = ", ".join(f"'{name}', {1 << at}" for at, name in enumerate(names))
    return F.expr(f"try_element_at(map({bits}), {column})")
