"""Fixtures: one Spark session for all tests, because starting one takes seconds."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.spark.config import SMALL_JOB, SMALL_JOB_JVM, SessionConfig
from rollcall.pipeline.spark.session import open_session
from tests.pipeline.running import spark_settings

TIMEOUT_SECONDS = 600
"""The first test includes the start of Spark, on a machine that may be busy."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "one_session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS), append=True)


@pytest.fixture(scope="session")
def one_session() -> Iterator[SparkSession]:
    conf = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": SMALL_JOB_JVM}
    with open_session(SessionConfig(master="local[2]", conf=conf), "rollcall-tests") as session:
        yield session


@pytest.fixture(scope="module")
def spark(one_session: SparkSession) -> Iterator[SparkSession]:
    """With the settings of small jobs: interpreted, so that no plan is compiled."""
    with spark_settings(one_session, SMALL_JOB):
        yield one_session


@pytest.fixture(scope="module")
def compiling_spark(one_session: SparkSession) -> SparkSession:
    """With the settings of all other jobs: compiled."""
    return one_session
