"""What a session keeps of the queries behind it: a stream makes thousands of them."""

import time

from pyspark.sql import SparkSession

from rollcall.pipeline.spark.config import ALWAYS

KEPT = int(ALWAYS["spark.sql.ui.retainedExecutions"])
PATIENCE = 20.0


def test_old_queries_are_forgotten(spark: SparkSession) -> None:
    for _ in range(3 * KEPT):
        spark.range(1).collect()
    queries = spark._jsparkSession.sharedState().statusStore()
    deadline = time.monotonic() + PATIENCE  # Spark forgets in the background
    while queries.executionsCount() > KEPT and time.monotonic() < deadline:
        spark.range(1).collect()
        time.sleep(0.1)
    assert 0 < queries.executionsCount() <= KEPT + 1
