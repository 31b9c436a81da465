"""One Spark session for all tests of the pipeline: to start one takes longer than most tests."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.session import SessionConfig, open_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    conf = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
    with open_session(SessionConfig(master="local[2]", conf=conf), "rollcall-tests") as session:
        yield session
