"""What Spark throws, in words that say what to do."""

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

FULL = re.compile(r"No space left on device|DSQuotaExceeded|Disk quota exceeded")
GONE = re.compile(r"FileNotFoundException|FAILED_READ_FILE.FILE_NOT_EXIST|does not exist")
DAMAGED = re.compile(rf"{GONE.pattern}|ChecksumException|not a Parquet file|CANNOT_READ_FILE")
OF_TABLES = re.compile(rf"(?<=/){PARTS}/\d{{10}}-[0-9a-f]{{8}}/[\w/]+/[\w.\-]+\.parquet")
"""A file of tables, as no log is called."""
NO_CONNECTOR = re.compile(
    r"No FileSystem for scheme|ClassNotFoundException: Class org\.apache\.hadoop\.fs\."
)
CONNECTOR = (
    "it has no connector to this file system: add one of its Hadoop's version, for s3a "
    "--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION"
)
UNAVAILABLE = re.compile(
    r"failed on (connection|socket timeout) exception|local exception: [\w.]+: Connection reset|"
    r"End of File Exception between|Invalid host name|UnknownHostException|BlockMissingException|"
    r"could only be written to 0 of"
)
"""What Hadoop says of a file system that does not answer, or of which too little is up."""
CHECK_FILE_SYSTEM = (
    "is the file system up, and the address right? run the same command again when it is: what was "
    "committed is kept, and nothing will be counted twice"
)
BROKEN_GZIP = re.compile(
    r"Unexpected end of (ZLIB )?input stream|EOFException|ZipException|invalid (stored|block|code|"
    r"distance)|incorrect (data|header|length) check|not a gzip file|CRC"
)


class BrokenInputError(SparkError):
    """Spark met what looks like a gzip that breaks off."""


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    try:
        yield
    except (Py4JError, CapturedException) as error:
        raise explain(error, where) from error


@contextmanager
def translate_jvm_exit() -> Iterator[None]:
    """Java is a process of its own: it may be killed, and then nothing of Spark answers."""
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise SparkError(
            "Java, in which Spark runs, ended all at once",
            hint="was it killed, perhaps as memory ran out? run the same command again, with more "
            "memory (--conf spark.driver.memory=4g) if it happens twice: nothing is lost, and "
            "nothing will be counted twice",
        ) from error


def explain(error: Exception, where: str) -> Exception:
    told = _whole_story(error)
    if FULL.search(told):
        # Java does not say of which file: it may be one that Spark keeps while it works
        return disk_full(f"that of {where}, or of {tempfile.gettempdir()} (TMPDIR)")
    if UNAVAILABLE.search(told):
        return SparkError(f"a file system does not answer: {_gist(told)}", hint=CHECK_FILE_SYSTEM)
    if DAMAGED.search(told) and (own := OF_TABLES.search(told)):
        return TablesError(
            f"a file of the tables is missing or damaged: {where}/{own[0]}",
            hint="was it changed or removed by something else? restore it, or read the logs into "
            "new tables",
        )
    if NO_CONNECTOR.search(told):
        return SourceError(f"Spark cannot reach {where}", hint=CONNECTOR)
    if GONE.search(told):
        return ChangedError(
            "a log went away while it was read", hint="was it rolled or moved? run this again"
        )
    kind = BrokenInputError if BROKEN_GZIP.search(told) else SparkError
    return kind(
        f"Spark failed: {_gist(told)}",
        hint="nothing of this batch was kept; run the same command again, with more memory "
        "(--conf spark.driver.memory=4g) if it says so",
    )


def _whole_story(error: Exception) -> str:
    story = [str(error)]
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
        while cause is not None:
            story.append(str(cause.toString()))
            cause = cause.getCause()
    return "\n".join(story)


def _gist(told: str) -> str:
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: )?[\w.$]+(Exception|Error)\b", line)]
    return (causes[-1:] or lines or ["it did not say why"])[0][:300]
