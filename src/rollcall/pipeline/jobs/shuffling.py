"""In how many parts the rows of a batch are sorted out by their keys.

Spark would find out how much there is while it runs, and plan anew after every step, which takes
a fifth of a second of each batch. How large a batch is, we know before. Other machines may be
reached over a slow network, or hold more rows of one key than another: there, Spark finds out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark import SparkContext
from pyspark.sql import SparkSession

from rollcall.pipeline.spark.config import LOCAL, ON_ONE_MACHINE

ADAPTIVE = "spark.sql.adaptive.enabled"
PARTS = "spark.sql.shuffle.partitions"

WORTH_A_CORE = 64 << 20
"""So many bytes of logs keep a core busy for longer than a part costs."""
IN_MEMORY = 1 << 30
"""What is left of so many bytes of logs fits into the memory of a task."""


@contextmanager
def fixed_partitions(spark: SparkSession, log_bytes: int) -> Iterator[None]:
    """What is started in the block is planned for this much; what a user has set stays."""
    before = {name: str(spark.conf.get(name)) for name in (ADAPTIVE, PARTS)}
    if not is_ours(spark.sparkContext, before):
        yield
        return
    parts = count_parts(log_bytes, spark.sparkContext.defaultParallelism)
    try:
        spark.conf.set(ADAPTIVE, "false")
        spark.conf.set(PARTS, str(parts))
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def is_ours(context: SparkContext, current: Mapping[str, str]) -> bool:
    """Whether all is on this machine, and as a session of ours begins."""
    given = context.getConf()
    is_local = LOCAL.fullmatch(given.get("spark.master", "")) is not None
    untouched = current == {ADAPTIVE: "true", PARTS: ON_ONE_MACHINE[PARTS]}
    return is_local and untouched and not given.contains(ADAPTIVE)


def count_parts(log_bytes: int, cores: int) -> int:
    return max(1, min(cores, log_bytes // WORTH_A_CORE), log_bytes // IN_MEMORY)
