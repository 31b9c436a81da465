"""Request lines to the rows of every table, from one pass over the lines.

`sum_lines` counts the lines that agree in all their parts, then reads the parts of each count once.
The benchmark's logs have four lines per count. A caller that makes several tables from its rows
persists them: each table would parse the lines again.

Sums and bounds are of integers: the minimum of a string would make Spark sort.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing import (
    PARTS,
    PREFIX,
    REJECTED,
    REQUEST,
    SKIPPED,
    SUMS,
    SourceSettings,
    cast_as,
    read_fields,
    read_prefix,
    read_ranges,
    split_lines,
    to_timestamp,
    typed,
)
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
MAX_PIECE = 120
SOURCE = ("file", "block", "cluster", "broker")
UNSUPPORTED_VERSION = 35


def sum_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """LINES to SUMS: a row for all lines of a file that agree in hour and parts."""
    return (
        lines.transform(read_prefix, settings)
        .transform(split_lines)
        .transform(count_by_parts)
        .transform(read_fields, settings)
        .transform(with_reject_columns)
        .withColumns(
            {name: to_timestamp(F.col(name)) for name in ("hour", "first_seen", "last_seen")}
        )
        .selectExpr(*typed(SUMS))
    )


def count_by_parts(lines: DataFrame) -> DataFrame:
    """SPLIT to sums. A rejected line has its position as a key, so it stays a row of its own."""
    is_rejected = F.col("reason").isNotNull()
    total, throttle = F.col("total_us"), F.col("throttle_us")
    own = {name: F.when(is_rejected, value) for name, value in place_and_piece().items()}
    return (
        lines.withColumns(
            {
                "hour": F.expr(f"instant - pmod(instant, {HOUR_US})"),
                "first_position": F.col("position"),
                **own,
            }
        )
        .groupBy(*SOURCE, "hour", "level", "reason", *PARTS.names, *own)
        .agg(
            F.count(F.lit(1)).alias("lines"),
            F.sum(F.col("length") + 1).alias("bytes"),
            F.min("first_position").alias("first_position"),
            F.min("instant").alias("first_seen"),
            F.max("instant").alias("last_seen"),
            F.sum(total).alias("total_us"),
            F.max(total).alias("longest_us"),
            F.count_if(throttle > 0).alias("throttled"),
            F.sum(throttle).alias("throttle_us"),
        )
    )


def place_and_piece() -> dict[str, Column]:
    """Columns in which two rejects differ: where the line is, and how it begins."""
    return {"position": F.col("position"), "piece": F.substring("text", 1, MAX_PIECE)}


def with_reject_columns(rows: DataFrame) -> DataFrame:
    """`position`, `length` and `piece` of rejects.

    Lines that were split and yet could not be read are one row for all that agree
    (`reject_lines` returns each).
    """
    is_rejected = F.col("outcome") == REJECTED
    piece = F.coalesce("piece", F.concat(F.lit("Completed request:"), "head"))
    length = F.floor(F.col("bytes") / F.col("lines")) - 1
    return rows.withColumns(
        {
            "position": F.when(is_rejected, F.coalesce("position", "first_position")),
            "length": F.when(is_rejected, length),
            "piece": F.when(is_rejected, without_secrets(piece)),
        }
    )


def without_secrets(piece: Column) -> Column:
    """The head of a request line; of other text, letters and digits replaced by `x` and `0`.

    A body may hold a password.
    """
    head = F.substring_index(F.substring_index(piece, " -- ", 1), ',"request":', 1)
    masked = F.regexp_replace(F.regexp_replace(piece, r"\d", "0"), r"\p{L}", "x")
    is_request = piece.rlike(PREFIX) | piece.startswith("Completed request:")
    return F.make_valid_utf8(F.substring(F.when(is_request, head).otherwise(masked), 1, MAX_PIECE))


def count_usage(sums: DataFrame) -> DataFrame:
    """SUMS to rows of `usage`."""
    lines, error = F.col("lines"), F.col("error_code")
    # times of forwarded requests are not the request's
    has_times = ~F.col("forwarded")
    return aggregate(
        sums.where(F.col("outcome") == REQUEST),
        USAGE,
        requests=F.sum(lines),
        answered=F.sum(F.when(error.isNotNull(), lines)),
        errors=F.sum(F.when(error != 0, lines)),
        unsupported=F.sum(F.when(error == UNSUPPORTED_VERSION, lines)),
        deprecated=F.sum(F.when(F.col("deprecated"), lines)),
        throttled=F.sum(F.when(has_times, F.col("throttled"))),
        throttle_us=F.sum(F.when(has_times, F.col("throttle_us"))),
        total_us=F.sum(F.when(has_times, F.col("total_us"))),
        longest_us=F.max(F.when(has_times, F.col("longest_us"))),
        first_seen=F.min("first_seen"),
        last_seen=F.max("last_seen"),
        hours=F.bit_or(F.call_function("shiftleft", F.lit(1), F.hour("hour"))),
        forms=F.bit_or(bit_of("form", FORMS)),
    )


def count_connections(sums: DataFrame) -> DataFrame:
    """SUMS to rows of `connections`."""
    requests = sums.where((F.col("outcome") == REQUEST) & F.col("connection").isNotNull())
    return aggregate(
        requests.withColumn("day", F.col("hour").cast("date").cast("timestamp_ntz")),
        CONNECTIONS,
        requests=F.sum("lines"),
        first_seen=F.min("first_seen"),
        last_seen=F.max("last_seen"),
    )


def observed_brokers(sums: DataFrame) -> DataFrame:
    """SUMS to rows of `brokers`, from logged ApiVersions responses.

    Columns that only a roll call fills are null.
    """
    # many clients get the same response: it is parsed once
    observed = (
        sums.where(F.col("ranges_text").isNotNull())
        .groupBy("hour", "cluster", "broker", "listener", "ranges_text")
        .agg(
            F.sum("lines").alias("lines"),
            F.min("first_seen").alias("first_seen"),
            F.max("last_seen").alias("last_seen"),
        )
        .withColumns({"source": F.lit("log"), "ranges": read_ranges(F.col("ranges_text"))})
    )
    known = {"hour", "cluster", "broker", "source", "listener", "ranges"}
    unknown = {
        column.name: F.lit(None).cast(column.type)
        for column in BROKERS.columns
        if column.merge is Merge.KEY and column.name not in known
    }
    return aggregate(
        observed.withColumns(unknown),
        BROKERS,
        answers=F.sum("lines"),
        first_seen=F.min("first_seen"),
        last_seen=F.max("last_seen"),
    )


def select_rejects(sums: DataFrame) -> DataFrame:
    """SUMS to rejects, without line numbers, which the source adds."""
    columns = ("cluster", "file", "block", "position", "reason", "lines", "length", "piece")
    return sums.where(F.col("outcome") == REJECTED).select(*columns)


def reject_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """LINES to rejects, a row for each line."""
    one = {
        "lines": F.lit(1),
        "bytes": F.col("length") + 1,
        "first_position": F.col("position"),
    }
    return (
        lines.transform(read_prefix, settings)
        .transform(split_lines)
        .withColumns({**one, **place_and_piece()})
        .transform(read_fields, settings)
        .transform(with_reject_columns)
        .transform(select_rejects)
    )


def count_files(sums: DataFrame) -> DataFrame:
    """SUMS to line counts, times, levels and forms per file."""
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


def count_blocks(sums: DataFrame) -> DataFrame:
    """SUMS to line counts per block of a file, from which line numbers are made."""
    return sums.groupBy("file", "block").agg(
        F.sum("lines").alias("lines"), F.min("first_position").alias("first_position")
    )


def aggregate(rows: DataFrame, table: Table, **sums: Column) -> DataFrame:
    """Rows with the columns and types of a table; a sum of nothing is 0."""
    zero = {column.name for column in table.values if column.type in {COUNT, NUMBER}}
    counted = rows.groupBy(*table.keys).agg(
        *(
            (F.coalesce(value, F.lit(0)) if name in zero else value).alias(name)
            for name, value in sums.items()
        )
    )
    return counted.selectExpr(*(cast_as(column.name, column.type) for column in table.columns))


def bit_of(column: str, names: tuple[str, ...]) -> Column:
    """The bit of a name in a bit mask; null for other names."""
    bits = ", ".join(f"'{name}', {1 << index}" for index, name in enumerate(names))
    return F.expr(f"try_element_at(map({bits}), {column})")
