"""Fixtures: one Spark session shared by all tests that need one, as starting one is slow."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.spark.config import SMALL_JOB, SMALL_JOB_JVM, SessionConfig
from rollcall.pipeline.spark.session import open_session
from tests.pipeline.running import spark_settings

SECONDS = 600
"""A test may be the one for which Spark is started, on a machine that is busy."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "one_session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(SECONDS), append=True)


@pytest.fixture(scope="session")
def one_session() -> Iterator[SparkSession]:
    conf = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": SMALL_JOB_JVM}
    with open_session(SessionConfig(master="local[2]", conf=conf), "rollcall-tests") as session:
        yield session


@pytest.fixture(scope="module")
def spark(one_session: SparkSession) -> Iterator[SparkSession]:
    """As commands run small jobs: interpreted, which spares Java to compile each plan."""
    with spark_settings(one_session, SMALL_JOB):
        yield one_session


@pytest.fixture(scope="module")
def compiling_spark(one_session: SparkSession) -> SparkSession:
    """As commands run all other jobs."""
    return one_session
