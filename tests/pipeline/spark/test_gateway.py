"""What PySpark asks Java for again and again is found once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from py4j.clientserver import JavaClient
from py4j.java_gateway import JavaClass
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.aggregates.requests import sum_lines
from rollcall.pipeline.parsing.settings import SourceSettings
from rollcall.pipeline.sources.lines import read_lines
from rollcall.pipeline.spark import gateway
from rollcall.pipeline.spark.gateway import ASKED_OFTEN, keep_classes


@pytest.fixture
def jvm(spark: SparkSession) -> Any:
    keep_classes(spark.sparkContext._jvm)
    return spark.sparkContext._jvm


@pytest.fixture
def questions(jvm: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Java is asked for from now on."""
    asked: list[str] = []
    send = JavaClient.send_command

    def counted(self: JavaClient, command: str, *args: Any, **kwargs: Any) -> Any:
        if command.startswith("c"):
            asked.append(command)
        return send(self, command, *args, **kwargs)

    monkeypatch.setattr(JavaClient, "send_command", counted)
    return asked


def test_a_function_is_looked_up_once_and_still_works(spark: SparkSession, jvm: Any) -> None:
    F.when(F.lit(True), 1)  # whatever this asks for, it asks first here
    for name in ASKED_OFTEN:
        assert getattr(jvm, name) is getattr(jvm, name)
    functions = getattr(jvm, ASKED_OFTEN[0])
    assert functions.when is functions.when
    assert spark.range(1).select(F.when(F.lit(True), 7)).first() == (7,)


def test_pyspark_itself_does_not_keep_what_it_found(spark: SparkSession) -> None:
    """If it did, there would be no need for the above."""
    found = JavaClass(ASKED_OFTEN[0], spark.sparkContext._gateway._gateway_client)
    assert found.when is not found.when


def some_column() -> Column:
    return F.when(F.col("id").isin(1, 2), F.concat(F.lit("a"), F.lit(None))).otherwise("b")


def test_the_same_column_is_made_once(jvm: Any, questions: list[str]) -> None:
    some_column()
    assert questions
    questions.clear()
    some_column()
    assert questions == []


def test_the_plan_of_the_next_batch_asks_little(
    spark: SparkSession, jvm: Any, questions: list[str]
) -> None:
    def plan() -> int:
        questions.clear()
        lines = read_lines(spark, [__file__], cluster=None, broker=None)
        sum_lines(lines, SourceSettings())
        return len(questions)

    first, second = plan(), plan()
    assert second * 5 < first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: F.lit(1), lambda: F.lit(True)),
        (lambda: F.lit(1), lambda: F.lit(1.0)),
        (lambda: F.lit("1"), lambda: F.lit(1)),
        (lambda: F.lit("id"), lambda: F.col("id")),
        (lambda: F.concat(F.lit("a"), F.lit("bc")), lambda: F.concat(F.lit("ab"), F.lit("c"))),
        (lambda: F.concat("id", F.lit("x")), lambda: F.concat(F.lit("x"), "id")),
        (lambda: F.lit(8) - 4, lambda: F.lit(4) - 8),
    ],
)
def test_what_differs_is_made_anew(
    jvm: Any, one: Callable[[], Column], other: Callable[[], Column]
) -> None:
    assert one()._jc is one()._jc
    assert one()._jc is not other()._jc


def test_a_text_looks_like_no_object(spark: SparkSession, jvm: Any) -> None:
    """Java's objects are known by ids such as o12, which a text may be."""
    column = F.col("id")
    text = F.lit(column._jc._target_id)
    assert spark.range(1).select(F.lit(column), text).first() == (0, column._jc._target_id)


def test_what_is_random_is_another_column_each_time(spark: SparkSession, jvm: Any) -> None:
    row = spark.range(1).select(F.rand(), F.rand(), F.uuid(), F.uuid()).first()
    assert row is not None
    assert row[0] != row[1]
    assert row[2] != row[3]


def test_a_frame_is_not_kept(spark: SparkSession, jvm: Any) -> None:
    """It may be as large as a plan, and is not asked with again."""
    frame = spark.range(1)
    first, second = (F.broadcast(frame)._jdf for _ in range(2))
    assert first._target_id != second._target_id


def test_there_is_an_end_to_what_is_kept(
    spark: SparkSession, jvm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "MOST_ANSWERS", 3)
    names = [str(number) for number in range(10)]
    row = spark.range(1).select(*(F.lit(name).alias(name) for name in names)).first()
    assert row is not None
    assert list(row) == names
    assert len(getattr(jvm, ASKED_OFTEN[0])._answers) <= 3


def test_a_long_text_is_not_kept(jvm: Any, questions: list[str]) -> None:
    text = "x" * (gateway.LONGEST_TEXT + 1)
    for _ in range(2):
        F.lit(text)
    assert len([asked for asked in questions if text in asked]) == 2


def test_several_threads_make_the_same_columns(spark: SparkSession, jvm: Any) -> None:
    def ask(number: int) -> int:
        rows = spark.range(5).where(some_column() == "b").where(F.col("id") > number).collect()
        return len(rows)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(5))) == [2, 2, 2, 1, 0]
