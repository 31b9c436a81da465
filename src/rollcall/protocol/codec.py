"""Codec of one message in one version and dialect: bytes to a message and back.

The compiler generates the functions that read and write. The codec turns their exceptions into
errors with message, version, field and offset.
"""

from __future__ import annotations

import reprlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from rollcall.protocol.compiler import (
    FailedLine,
    Location,
    ReadFunction,
    WriteFunction,
    compile_reader,
    compile_writer,
    failed_line,
)
from rollcall.protocol.errors import LocalProtocolError, RemoteProtocolError
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import MalformedError, UnwritableError, size_of
from rollcall.protocol.schema import MessageSpec

UNWRITABLE = (
    UnwritableError,
    struct.error,
    AttributeError,
    TypeError,
    ValueError,
    OverflowError,
)
"""What generated writers raise for values of the wrong type, too large or too long."""


@dataclass(frozen=True)
class Codec:
    """Reads and writes one message in one version; made by `Dialect.codec`."""

    name: str
    version: int
    dialect: str
    message_class: type[Message]
    flexible: bool
    _read: ReadFunction = field(repr=False)
    _read_locations: Sequence[Location] = field(repr=False)
    _write: WriteFunction = field(repr=False)
    _write_locations: Sequence[Location] = field(repr=False)

    def decode(self, data: bytes, offset: int = 0) -> Message:
        """The message from `offset` to the last byte; bytes after the message are an error."""
        message, end = self.read(data, offset)
        if end != len(data):
            raise RemoteProtocolError(
                f"{self} ends at byte {end}, but {len(data) - end} more bytes follow",
                hint="check whether the peer uses another layout for this version",
            )
        return message

    def read(self, data: bytes, offset: int = 0) -> tuple[Message, int]:
        """The message that begins at `offset`, and the offset after it."""
        try:
            return self._read(data, offset)
        except (MalformedError, struct.error, IndexError) as error:
            raise self._remote_error(error, data) from None

    def encode(self, message: Message) -> bytes:
        parts: list[bytes] = []
        self.write(message, parts)
        return b"".join(parts)

    def write(self, message: Message, parts: list[bytes]) -> None:
        """Append the bytes of the message to `parts`."""
        if not isinstance(message, self.message_class):
            raise LocalProtocolError(
                f"{self} cannot write a {type(message).__name__}",
                hint=f"pass a {self.message_class.__name__}",
            )
        try:
            self._write(message, parts)
        except UNWRITABLE as error:
            raise self._local_error(error) from error

    def _remote_error(self, error: Exception, data: bytes) -> RemoteProtocolError:
        failure = failed_line(error.__traceback__, self._read_locations)
        path, offset = _field_past_the_end(failure, failure.variables.get("pos", 0), len(data))
        left = max(0, len(data) - offset)
        reason = str(error) if isinstance(error, MalformedError) else f"only {left} bytes are left"
        return RemoteProtocolError(
            f"{self} cannot be read: {path} at byte {offset}: {reason}",
            hint="check whether the peer uses another layout, or the bytes are truncated",
        )

    def _local_error(self, error: Exception) -> LocalProtocolError:
        failure = failed_line(error.__traceback__, self._write_locations)
        path, reason = _field_out_of_range(failure, error)
        return LocalProtocolError(
            f"{self} cannot be written: {path}: {reason}",
            hint="set the field to a value that this version can carry, or use another version",
        )

    def __str__(self) -> str:
        return f"{self.name} version {self.version} ({self.dialect})"


def compile_codec(
    spec: MessageSpec, version: int, dialect: str, message_class: type[Message]
) -> Codec:
    read, read_locations = compile_reader(spec, version, message_class)
    write, write_locations = compile_writer(spec, version, message_class)
    return Codec(
        name=spec.name,
        version=version,
        dialect=dialect,
        message_class=message_class,
        flexible=version in spec.flexible,
        _read=read,
        _read_locations=read_locations,
        _write=write,
        _write_locations=write_locations,
    )


def _field_past_the_end(failure: FailedLine, offset: int, end: int) -> tuple[str, int]:
    """Path and offset of the first packed field that does not fit, or else of the line."""
    start = offset
    for path, code, _ in failure.location.packed:
        if offset + size_of(code) > end:
            return failure.path(path), offset
        offset += size_of(code)
    return failure.path(), start


def _field_out_of_range(failure: FailedLine, error: Exception) -> tuple[str, str]:
    """Path and reason of the first packed field with a bad value, or else of the line."""
    for path, code, expression in failure.location.packed:
        try:
            value = failure.value(expression)
        except UNWRITABLE as reason:
            return failure.path(path), str(reason)
        try:
            struct.pack(f">{code}", value)
        except UNWRITABLE as reason:
            return failure.path(path), f"{reprlib.repr(value)}: {reason}"
    return failure.path(), str(error)
