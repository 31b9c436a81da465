"""Where one Java method ends and the next begins.

Spark makes one method of all steps that follow one another, and Java never compiles a method of
more than 8,000 bytes of code: past that, each row costs many times as much. A count of rows is
done apart by Spark, so that the steps before and behind it become two methods. That costs a copy
of each row.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def in_a_new_method(rows: DataFrame, name: str) -> DataFrame:
    """The same rows; what comes next is compiled on its own."""
    return rows.observe(name, F.count(F.lit(1)).alias("rows"))
