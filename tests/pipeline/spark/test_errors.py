"""What Spark throws, in words that say what to do."""

from tempfile import gettempdir

import pytest
from py4j.protocol import Py4JNetworkError

from rollcall.pipeline.errors import ChangedError, SourceError, SparkError
from rollcall.pipeline.spark.errors import BrokenInputError, explain, translate_jvm_exit
from rollcall.tables.errors import TablesError

PART = "/t/parts/0000000001-0a1b2c3d/usage/a.parquet"


@pytest.mark.parametrize(
    ("told", "kind", "says"),
    [
        (
            "java.io.IOException: No space left on device",
            TablesError,
            f"the disk is full: that of /t, or of {gettempdir()} (TMPDIR)",
        ),
        (
            "[FAILED_READ_FILE.FILE_NOT_EXIST] java.io.FileNotFoundException: a.log",
            ChangedError,
            "a log went away while it was read",
        ),
        (
            f"[PATH_NOT_FOUND] Path does not exist: file:{PART}.",
            TablesError,
            f"a file of the tables is missing or damaged: {PART}",
        ),
        (
            f"CANNOT_READ_FILE {PART}\norg.x.BlockMissingException: Could not obtain block",
            SparkError,
            "a file system does not answer: org.x.BlockMissingException: Could not obtain block",
        ),
        (
            "java.io.EOFException: End of File Exception between a",
            SparkError,
            "a file system does not answer: java.io.EOFException: End of File Exception between a",
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
        ("", SparkError, "Spark failed: it did not say why"),
    ],
)
def test_a_failure_is_told_by_its_cause(told: str, kind: type[Exception], says: str) -> None:
    error = explain(RuntimeError(told), "/t")
    assert type(error) is kind
    assert str(error) == says


@pytest.mark.parametrize("error", [ConnectionRefusedError(), Py4JNetworkError("empty answer")])
def test_java_that_was_killed_is_told(error: Exception) -> None:
    with (
        pytest.raises(SparkError, match="Java, in which Spark runs, ended") as told,
        translate_jvm_exit(),
    ):
        raise error
    assert told.value.hint is not None
    assert "run the same command again" in told.value.hint
