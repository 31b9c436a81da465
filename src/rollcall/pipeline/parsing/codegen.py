"""Where one Java method ends and the next begins.

Spark makes one method of all steps that follow one another, and Java never compiles a method of
more than 8,000 bytes of code: past that, each row costs many times as much. Nor does it put the
small methods that are called into a large one, so that smaller ones are faster well before that.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

TURNED = "turned"


def in_a_new_method(rows: DataFrame, *done_with: str) -> DataFrame:
    """The same rows, without the columns that are done with; what comes next is compiled on its
    own.

    To turn columns into rows, Spark hands all columns to a method of its own, and one column
    turned is one row: the same. No row is copied for it.
    """
    names, out = rows.columns, {TURNED, *done_with}
    last = [name for name in names if name not in out][-1]
    no_others = ", ".join(name for name in names if name in {last, *out})
    return rows.unpivot(F.expr(f"* EXCEPT ({no_others})"), last, TURNED, last)
