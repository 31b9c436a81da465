"""Limit the size of the Java methods that Spark generates.

Spark generates one method for all projections in a row, and Java does not compile methods of more
than 8,000 bytes of bytecode: interpreted, each line takes several times the CPU. In one method the
stages before the aggregation have 10,600 bytes, those after it 16,200. `test_plan.py` checks the
sizes.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

UNPIVOTED = "unpivoted"


def in_new_method(rows: DataFrame) -> DataFrame:
    """The same rows; what follows is generated as another method.

    `unpivot` of a single column returns each row once. Spark passes all its columns as parameters.
    """
    last = rows.columns[-1]
    return rows.unpivot(F.expr(f"* EXCEPT ({last})"), last, UNPIVOTED, last).drop(UNPIVOTED)
