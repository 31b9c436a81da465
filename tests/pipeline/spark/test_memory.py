"""Queries that a session retains: a stream runs thousands of them."""

import time

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.spark.config import DEFAULTS

pytestmark = pytest.mark.slow

RETAINED = int(DEFAULTS["spark.sql.ui.retainedExecutions"])
TIMEOUT_SECONDS = 60.0


def test_old_queries_are_removed(spark: SparkSession) -> None:
    for _ in range(3 * RETAINED):
        spark.range(1).collect()
    queries = spark._jsparkSession.sharedState().statusStore()
    deadline = time.monotonic() + TIMEOUT_SECONDS  # Spark removes them in the background
    while queries.executionsCount() > RETAINED and time.monotonic() < deadline:
        spark.range(1).collect()
        time.sleep(0.1)
    assert 0 < queries.executionsCount() <= RETAINED + 1
