"""Tables and log files on any file system that Hadoop supports, through Spark's JVM.

Only small objects are read here: manifests, checkpoints, and the first and last bytes of logs.
Rows are read and written by Spark itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from rollcall.pipeline.errors import SourceError
from rollcall.pipeline.sources.files import LogFile, disappeared, unreadable
from rollcall.pipeline.spark.errors import CHECK_FILE_SYSTEM, CONNECTOR, NO_CONNECTOR, UNAVAILABLE
from rollcall.tables.errors import TablesError
from rollcall.tables.stores import Entry, disk_full

MISSING = "java.io.FileNotFoundException"
EXISTS = (
    "FileAlreadyExistsException",
    "RemoteFileChangedException",  # S3A, when another writer was faster
    "AlreadyBeingCreatedException",  # HDFS, when another writer was faster
)
THROWN = (Py4JJavaError, CapturedException)
"""PySpark converts exceptions that Spark knows, such as an illegal argument, to the second."""
CHECK_SETTINGS = "check the address and the settings of its file system (--conf)"


class Hadoop:
    """Access to the Hadoop file system of a path."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()

    def at(self, address: str) -> tuple[Any, Any]:
        """The file system and the path."""
        path = self._jvm.org.apache.hadoop.fs.Path(address)
        return path.getFileSystem(self._conf), path

    def read(self, address: str, start: int = 0, length: int | None = None) -> bytes:
        fs, path = self.at(address)
        stream = fs.open(path)
        try:
            stream.seek(start)
            io = self._jvm.org.apache.commons.io
            if length is None:
                return bytes(io.IOUtils.toByteArray(stream))
            limited = io.input.BoundedInputStream(stream, length)
            return bytes(io.IOUtils.toByteArray(limited))
        finally:
            stream.close()

    def put(self, address: str, content: bytes, *, overwrite: bool) -> None:
        fs, path = self.at(address)
        # with this option S3A creates the object atomically; other file systems ignore it
        builder = fs.createFile(path).recursive().overwrite(overwrite)
        conditional = "fs.option.create.conditional.overwrite"
        stream = (builder if overwrite else builder.opt(conditional, "true")).build()
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()


@dataclass(frozen=True, slots=True)
class HadoopStore:
    """The store of tables on a Hadoop file system."""

    hadoop: Hadoop
    root: str

    @classmethod
    def at(cls, hadoop: Hadoop, address: str) -> HadoopStore:
        """Resolve a short address such as `hdfs:///tables` to the one with the NameNode."""
        with _translated(address):
            fs, path = hadoop.at(address)
            return cls(hadoop, fs.makeQualified(path).toString())

    @property
    def address(self) -> str:
        return self.root.rstrip("/")

    def _at(self, name: str) -> str:
        return f"{self.address}/{name}" if name else self.address

    def list(self, directory: str) -> list[Entry]:
        with _translated(self.address):
            fs, path = self.hadoop.at(self._at(directory))
            try:
                found = fs.listStatus(path)
            except THROWN as error:
                if _is(error, MISSING):
                    return []
                raise
        entries = [
            Entry(
                status.getPath().getName() + ("/" if status.isDirectory() else ""),
                status.getLen(),
                status.getModificationTime() / 1000,
            )
            for status in found
        ]
        return sorted(entries, key=lambda entry: entry.name)

    def read(self, name: str) -> bytes:
        with _translated(self.address):
            return self.hadoop.read(self._at(name))

    def create(self, name: str, content: bytes) -> bool:
        with _translated(self.address):
            try:
                self.hadoop.put(self._at(name), content, overwrite=False)
            except THROWN as error:
                if any(words in _summary(error) for words in EXISTS):
                    return False
                raise
        return True

    def write(self, name: str, content: bytes) -> None:
        with _translated(self.address):
            self.hadoop.put(self._at(name), content, overwrite=True)

    def delete(self, name: str) -> None:
        with _translated(self.address):
            fs, path = self.hadoop.at(self._at(name))
            fs.delete(path, True)

    def absent(self) -> Sequence[str]:
        """Only the directory itself: its parents may be shared with others."""
        with _translated(self.address):
            fs, path = self.hadoop.at(self.address)
            return [] if fs.exists(path) else [self.address]

    def remove_empty(self, directories: Iterable[str]) -> None:
        with _translated(self.address):
            for directory in directories:
                fs, path = self.hadoop.at(directory)
                if fs.exists(path) and not fs.listStatus(path):
                    fs.delete(path, False)

    def settle(self, names: Iterable[str]) -> None:
        """Nothing to do: object stores and HDFS keep files that were closed."""


class HadoopFileSystem:
    """Log files on a Hadoop file system."""

    def __init__(self, hadoop: Hadoop) -> None:
        self.hadoop = hadoop

    def find(self, path: str) -> list[LogFile]:
        try:
            fs, pattern = self.hadoop.at(path)
            matches = list(fs.globStatus(pattern) or [])
            if not matches:
                raise SourceError(f"there is no file or directory {path}", hint="check the path")
            explicit = len(matches) == 1 and matches[0].getPath().getName() == pattern.getName()
            found: list[LogFile] = []
            for match in matches:
                if match.isDirectory():
                    found += self._walk(fs, match.getPath())
                else:
                    found.append(_log_file(match, explicit=explicit))
        except THROWN as error:
            if _lacks_connector(error):
                raise SourceError(f"Spark cannot read {path}", hint=CONNECTOR) from error
            raise _unreadable(path, error) from error
        return found

    def _walk(self, fs: Any, directory: Any) -> list[LogFile]:
        found, listing = [], fs.listFiles(directory, True)
        while listing.hasNext():
            status = listing.next()
            if not status.getPath().getName().startswith("."):
                found.append(_log_file(status, explicit=False))
        return found

    def chunks(self, path: str, start: int, size: int) -> Iterator[bytes]:
        try:
            while chunk := self.hadoop.read(path, start, size):
                yield chunk
                start += len(chunk)
                if len(chunk) < size:
                    return
        except THROWN as error:
            raise disappeared(path) if _is(error, MISSING) else _unreadable(path, error) from error


def _log_file(status: Any, *, explicit: bool) -> LogFile:
    path = status.getPath().toString()
    return LogFile(path, status.getLen(), status.getModificationTime() / 1000, explicit)


def _is(error: Exception, name: str) -> bool:
    return name in _java_exception(error).getClass().getName()


def _lacks_connector(error: Exception) -> bool:
    return NO_CONNECTOR.search(_summary(error)) is not None


def _summary(error: Exception) -> str:
    return str(_java_exception(error).toString()).splitlines()[0][:300]


def _java_exception(error: Any) -> Any:
    return error.java_exception if isinstance(error, Py4JJavaError) else error._origin


def _unreadable(path: str, error: Exception) -> SourceError:
    summary = _summary(error)
    if "denied" in summary.lower():
        return unreadable(path, summary)
    return SourceError(f"{path} cannot be read: {summary}", hint=_hint(summary))


def _hint(summary: str) -> str:
    return CHECK_FILE_SYSTEM if UNAVAILABLE.search(summary) else CHECK_SETTINGS


@contextmanager
def _translated(address: str) -> Iterator[None]:
    """Raise exceptions of Java as those that a `Store` raises."""
    try:
        yield
    except THROWN as error:
        if _is(error, MISSING):
            raise FileNotFoundError(address) from error
        summary = _summary(error)
        if "No space left" in summary or "DSQuotaExceeded" in summary:
            raise disk_full(address) from error
        if _lacks_connector(error):
            raise TablesError(f"Spark cannot reach {address}", hint=CONNECTOR) from error
        raise TablesError(f"{address} cannot be used: {summary}", hint=_hint(summary)) from error
