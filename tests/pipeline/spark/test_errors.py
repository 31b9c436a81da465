"""Exceptions of Spark as errors of the pipeline."""

from tempfile import gettempdir

import pytest
from py4j.protocol import Py4JNetworkError

from rollcall.pipeline.errors import ChangedError, SourceError, SparkError
from rollcall.pipeline.spark.errors import BrokenInputError, explain, translate_jvm_exit
from rollcall.tables.errors import TablesError

PART = "/t/parts/0000000001-0a1b2c3d/usage/a.parquet"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "java.io.IOException: No space left on device",
            TablesError,
            f"the disk is full: that of /t, or of {gettempdir()} (TMPDIR)",
        ),
        (
            "[FAILED_READ_FILE.FILE_NOT_EXIST] java.io.FileNotFoundException: a.log",
            ChangedError,
            "a log disappeared while it was read",
        ),
        (
            f"[PATH_NOT_FOUND] Path does not exist: file:{PART}.",
            TablesError,
            f"a file of the tables is missing or damaged: {PART}",
        ),
        (
            f"CANNOT_READ_FILE {PART}\norg.x.BlockMissingException: Could not obtain block",
            SparkError,
            "a file system does not respond: org.x.BlockMissingException: Could not obtain block",
        ),
        (
            "java.io.EOFException: End of File Exception between a",
            SparkError,
            "a file system does not respond: java.io.EOFException: End of File Exception between a",
        ),
        (
            "java.io.EOFException: Unexpected end of input stream",
            BrokenInputError,
            "Spark failed: java.io.EOFException: Unexpected end of input stream",
        ),
        (
            "An error occurred\njava.lang.OutOfMemoryError: Java heap space\n\tat x.y",
            SparkError,
            "Spark failed: java.lang.OutOfMemoryError: Java heap space",
        ),
        (
            "[CAST_INVALID_INPUT] 'a' cannot be cast.\n== SQL (line 1) ==\ncast(x)\n^^^^^^^",
            SparkError,
            "Spark failed: [CAST_INVALID_INPUT] 'a' cannot be cast.",
        ),
        (
            'UnsupportedFileSystemException: No FileSystem for scheme "s3a"',
            SourceError,
            "Spark cannot reach /t",
        ),
        ("", SparkError, "Spark failed: no message"),
    ],
)
def test_exception_is_translated_by_its_cause(
    text: str, kind: type[Exception], message: str
) -> None:
    error = explain(RuntimeError(text), "/t")
    assert type(error) is kind
    assert str(error) == message


@pytest.mark.parametrize("error", [ConnectionRefusedError(), Py4JNetworkError("empty answer")])
def test_jvm_exit_is_a_spark_error(error: Exception) -> None:
    with (
        pytest.raises(SparkError, match="the JVM that runs Spark exited") as raised,
        translate_jvm_exit(),
    ):
        raise error
    assert raised.value.hint is not None
    assert "run the command again" in raised.value.hint
