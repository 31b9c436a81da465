"""Exceptions of Spark and the JVM as errors that say what to do."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors.exceptions.captured import CapturedException

from rollcall.pipeline.errors import ChangedError, SourceError, SparkError
from rollcall.tables.cleaning import PARTS
from rollcall.tables.errors import TablesError
from rollcall.tables.stores import disk_full

DISK_FULL = re.compile(r"No space left on device|DSQuotaExceeded|Disk quota exceeded")
MISSING = re.compile(r"FileNotFoundException|FAILED_READ_FILE.FILE_NOT_EXIST|does not exist")
DAMAGED = re.compile(rf"{MISSING.pattern}|ChecksumException|not a Parquet file|CANNOT_READ_FILE")
TABLE_FILE = re.compile(rf"(?<=/){PARTS}/\d{{10}}-[0-9a-f]{{8}}/[\w/]+/[\w.\-]+\.parquet")
NO_CONNECTOR = re.compile(
    r"No FileSystem for scheme|ClassNotFoundException: Class org\.apache\.hadoop\.fs\."
)
CONNECTOR = (
    "add a connector for this file system in the version of Spark's Hadoop, for s3a "
    "--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION"
)
UNAVAILABLE = re.compile(
    r"failed on (connection|socket timeout) exception|local exception: [\w.]+: Connection reset|"
    r"End of File Exception between|Invalid host name|UnknownHostException|BlockMissingException|"
    r"could only be written to 0 of"
)
"""Messages of Hadoop about a file system that is down or has too few nodes."""
CHECK_FILE_SYSTEM = (
    "check that the file system is up and the address is right, and run the command again: it "
    "continues after the last commit"
)
BROKEN_GZIP = re.compile(
    r"Unexpected end of (ZLIB )?input stream|EOFException|ZipException|invalid (stored|block|code|"
    r"distance)|incorrect (data|header|length) check|not a gzip file|CRC"
)


class BrokenInputError(SparkError):
    """Spark failed on what looks like a damaged gzip."""


@contextmanager
def translate_errors(address: str) -> Iterator[None]:
    """Raise exceptions of Spark as errors of the pipeline; `address` is that of the tables."""
    try:
        yield
    except (Py4JError, CapturedException) as error:
        raise explain(error, address) from error


@contextmanager
def translate_jvm_exit() -> Iterator[None]:
    """Raise SparkError if the JVM exits, for example because it was killed."""
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise SparkError(
            "the JVM that runs Spark exited unexpectedly",
            hint="run the command again, with more memory (--conf spark.driver.memory=4g) if it "
            "happens twice: it continues after the last commit",
        ) from error


def explain(error: Exception, address: str) -> Exception:
    text = _with_causes(error)
    if DISK_FULL.search(text):
        # the JVM does not report which file: it may be a temporary one
        return disk_full(f"that of {address}, or of {tempfile.gettempdir()} (TMPDIR)")
    if UNAVAILABLE.search(text):
        return SparkError(
            f"a file system does not respond: {_summary(text)}", hint=CHECK_FILE_SYSTEM
        )
    if DAMAGED.search(text) and (file := TABLE_FILE.search(text)):
        return TablesError(
            f"a file of the tables is missing or damaged: {address}/{file[0]}",
            hint="restore the file, or read the logs into new tables",
        )
    if NO_CONNECTOR.search(text):
        return SourceError(f"Spark cannot reach {address}", hint=CONNECTOR)
    if MISSING.search(text):
        return ChangedError(
            "a log disappeared while it was read",
            hint="run the command again; the file may have been rolled or moved",
        )
    kind = BrokenInputError if BROKEN_GZIP.search(text) else SparkError
    return kind(
        f"Spark failed: {_summary(text)}",
        hint="run the command again, with more memory (--conf spark.driver.memory=4g) if it ran "
        "out: nothing of this batch was written",
    )


def _with_causes(error: Exception) -> str:
    messages = [str(error)]
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
        while cause is not None:
            messages.append(str(cause.toString()))
            cause = cause.getCause()
    return "\n".join(messages)


def _summary(text: str) -> str:
    """The innermost exception, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: )?[\w.$]+(Exception|Error)\b", line)]
    return (causes[-1:] or lines or ["no message"])[0][:300]
