"""Tables and logs on any file system that Hadoop knows, through Spark's Java side.

Nothing here handles rows: manifests, notes, and the first and last bytes of logs.
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
from rollcall.pipeline.sources.files import LogFile, gone, unreadable
from rollcall.pipeline.spark.errors import CHECK_FILE_SYSTEM, CONNECTOR, NO_CONNECTOR, UNAVAILABLE
from rollcall.tables.errors import TablesError
from rollcall.tables.stores import Entry, disk_full

MISSING = "java.io.FileNotFoundException"
EXISTS = (
    "FileAlreadyExistsException",
    "RemoteFileChangedException",
    "AlreadyBeingCreatedException",
)
"""What a file that is there is refused with; when another was just quicker, the second by S3, and
the third by HDFS."""
THROWN = (Py4JJavaError, CapturedException)
"""What Java threw comes as the second where Spark has a name for it, as for a wrong argument."""
SETTINGS = "check the address, and the settings of its file system (--conf)"


class Hadoop:
    """A Hadoop file system, found by the path."""

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
        # the option makes S3A decide at the put itself; file systems that lack it ignore it
        wanted = fs.createFile(path).recursive().overwrite(overwrite)
        conditional = "fs.option.create.conditional.overwrite"
        stream = (wanted if overwrite else wanted.opt(conditional, "true")).build()
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()


@dataclass(frozen=True, slots=True)
class HadoopStore:
    hadoop: Hadoop
    root: str

    @classmethod
    def at(cls, hadoop: Hadoop, address: str) -> HadoopStore:
        """Under the whole of its address, as Spark tells it: `hdfs:///tables` names no NameNode."""
        with _explained(address):
            fs, path = hadoop.at(address)
            return cls(hadoop, fs.makeQualified(path).toString())

    @property
    def address(self) -> str:
        return self.root.rstrip("/")

    def _at(self, name: str) -> str:
        return f"{self.address}/{name}" if name else self.address

    def list(self, folder: str) -> list[Entry]:
        with _explained(self.address):
            fs, path = self.hadoop.at(self._at(folder))
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
        with _explained(self.address):
            return self.hadoop.read(self._at(name))

    def create(self, name: str, content: bytes) -> bool:
        with _explained(self.address):
            try:
                self.hadoop.put(self._at(name), content, overwrite=False)
            except THROWN as error:
                if any(words in _gist(error) for words in EXISTS):
                    return False
                raise
        return True

    def write(self, name: str, content: bytes) -> None:
        with _explained(self.address):
            self.hadoop.put(self._at(name), content, overwrite=True)

    def delete(self, name: str) -> None:
        with _explained(self.address):
            fs, path = self.hadoop.at(self._at(name))
            fs.delete(path, True)

    def absent(self) -> Sequence[str]:
        """Only of the folder itself: others may share what is above it."""
        with _explained(self.address):
            fs, path = self.hadoop.at(self.address)
            return [] if fs.exists(path) else [self.address]

    def remove_empty(self, folders: Iterable[str]) -> None:
        with _explained(self.address):
            for folder in folders:
                fs, path = self.hadoop.at(folder)
                if fs.exists(path) and not fs.listStatus(path):
                    fs.delete(path, False)

    def settle(self, names: Iterable[str]) -> None:
        """Object stores and HDFS keep what was closed."""


class HadoopFileSystem:
    def __init__(self, hadoop: Hadoop) -> None:
        self.hadoop = hadoop

    def find(self, wanted: str) -> list[LogFile]:
        try:
            fs, path = self.hadoop.at(wanted)
            matches = list(fs.globStatus(path) or [])
            if not matches:
                raise SourceError(f"there is no file or folder {wanted}", hint="check the path")
            alone = len(matches) == 1 and matches[0].getPath().getName() == path.getName()
            found: list[LogFile] = []
            for match in matches:
                if match.isDirectory():
                    found += self._walk(fs, match.getPath())
                else:
                    found.append(_log_file(match, named=alone))
        except THROWN as error:
            if _lacks_connector(error):
                raise SourceError(f"Spark cannot read {wanted}", hint=CONNECTOR) from error
            raise _unreadable(wanted, error) from error
        return found

    def _walk(self, fs: Any, folder: Any) -> list[LogFile]:
        found, listing = [], fs.listFiles(folder, True)
        while listing.hasNext():
            status = listing.next()
            if not status.getPath().getName().startswith("."):
                found.append(_log_file(status, named=False))
        return found

    def chunks(self, path: str, start: int, size: int) -> Iterator[bytes]:
        try:
            while chunk := self.hadoop.read(path, start, size):
                yield chunk
                start += len(chunk)
                if len(chunk) < size:
                    return
        except THROWN as error:
            raise gone(path) if _is(error, MISSING) else _unreadable(path, error) from error


def _log_file(status: Any, *, named: bool) -> LogFile:
    path = status.getPath().toString()
    return LogFile(path, status.getLen(), status.getModificationTime() / 1000, named)


def _is(error: Exception, name: str) -> bool:
    return name in _thrown(error).getClass().getName()


def _lacks_connector(error: Exception) -> bool:
    return NO_CONNECTOR.search(_gist(error)) is not None


def _gist(error: Exception) -> str:
    return str(_thrown(error).toString()).splitlines()[0][:300]


def _thrown(error: Any) -> Any:
    return error.java_exception if isinstance(error, Py4JJavaError) else error._origin


def _unreadable(path: str, error: Exception) -> SourceError:
    told = _gist(error)
    if "denied" in told.lower():
        return unreadable(path, told)
    return SourceError(f"{path} cannot be read: {told}", hint=_advice(told))


def _advice(told: str) -> str:
    return CHECK_FILE_SYSTEM if UNAVAILABLE.search(told) else SETTINGS


@contextmanager
def _explained(address: str) -> Iterator[None]:
    try:
        yield
    except THROWN as error:
        if _is(error, MISSING):
            raise FileNotFoundError(address) from error
        if "No space left" in _gist(error) or "DSQuotaExceeded" in _gist(error):
            raise disk_full(address) from error
        if _lacks_connector(error):
            raise TablesError(f"Spark cannot reach {address}", hint=CONNECTOR) from error
        told = _gist(error)
        raise TablesError(f"{address} cannot be used: {told}", hint=_advice(told)) from error
