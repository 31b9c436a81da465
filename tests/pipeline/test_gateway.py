"""What PySpark asks Java for again and again is found once."""

from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.gateway import ASKED_OFTEN, keep_classes


def test_a_function_is_looked_up_once_and_still_works(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    keep_classes(jvm)
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
