"""The codec of one message in one version and dialect: bytes to a message and back.

The two functions inside come from the compiler. This module gives them their errors: message,
version, field and offset, worked out only after something went wrong.
"""

from __future__ import annotations

import reprlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from rollcall.protocol.compiler.reader import ReadFunction, compile_reader
from rollcall.protocol.compiler.source import FailedLine, Location, failure_in
from rollcall.protocol.compiler.writer import WriteFunction, compile_writer
from rollcall.protocol.errors import LocalProtocolError, RemoteProtocolError
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import MalformedError, UnwritableError, size_of
from rollcall.protocol.schema import MessageSpec

# What the generated writers raise for values that are of the wrong type, too large or too long.
UNWRITABLE = (
    UnwritableError,
    struct.error,
    AttributeError,
    TypeError,
    ValueError,
    OverflowError,
)


@dataclass(frozen=True)
class Codec:
    """Reads and writes one message in one version; made by `Dialect.codec`."""

    name: str
    version: int
    dialect: str
    message_class: type[Message]
    flexible: bool
    _read: ReadFunction = field(repr=False)
    _read_steps: Sequence[Location] = field(repr=False)
    _write: WriteFunction = field(repr=False)
    _write_steps: Sequence[Location] = field(repr=False)

    def decode(self, data: bytes, offset: int = 0) -> Message:
        """The message that fills `data` from the offset to the last byte."""
        message, end = self.read(data, offset)
        if end != len(data):
            raise RemoteProtocolError(
                f"{self} ends at byte {end}, but {len(data) - end} more bytes follow",
                hint="the peer may use another layout under this version number",
            )
        return message

    def read(self, data: bytes, offset: int = 0) -> tuple[Message, int]:
        """The message that begins at `offset`, and the offset behind it."""
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
                f"{self} was given {type(message).__name__}",
                hint=f"pass a {self.message_class.__name__}",
            )
        try:
            self._write(message, parts)
        except UNWRITABLE as error:
            raise self._local_error(error) from error

    def _remote_error(self, error: Exception, data: bytes) -> RemoteProtocolError:
        failure = failure_in(error.__traceback__, self._read_steps)
        offset = failure.variables.get("p", 0)
        path, offset = _first_that_does_not_fit(failure, offset, len(data))
        left = max(0, len(data) - offset)
        reason = str(error) if isinstance(error, MalformedError) else f"only {left} bytes are left"
        return RemoteProtocolError(
            f"{self} cannot be read: {path} at byte {offset}: {reason}",
            hint="the bytes are cut short, damaged, or of another layout",
        )

    def _local_error(self, error: Exception) -> LocalProtocolError:
        path, reason = _culprit(failure_in(error.__traceback__, self._write_steps), error)
        return LocalProtocolError(
            f"{self} cannot be written: {path}: {reason}",
            hint="set the field to a value that this version can carry, or use another version",
        )

    def __str__(self) -> str:
        return f"{self.name} version {self.version} ({self.dialect})"


def compile_codec(
    spec: MessageSpec, version: int, dialect: str, message_class: type[Message]
) -> Codec:
    read, read_steps = compile_reader(spec, version, message_class)
    write, write_steps = compile_writer(spec, version, message_class)
    return Codec(
        name=spec.name,
        version=version,
        dialect=dialect,
        message_class=message_class,
        flexible=version in spec.flexible,
        _read=read,
        _read_steps=read_steps,
        _write=write,
        _write_steps=write_steps,
    )


def _first_that_does_not_fit(failure: FailedLine, offset: int, end: int) -> tuple[str, int]:
    for part in failure.step.run:
        size = size_of(part.code)
        if offset + size > end:
            return failure.path(part), offset
        offset += size
    return failure.path(), failure.variables.get("p", 0)


def _culprit(failure: FailedLine, error: Exception) -> tuple[str, str]:
    """The field of a run that its code does not take, or else the field of the line."""
    for part in failure.step.run:
        try:
            value = failure.value(part.expression)
        except UNWRITABLE as reason:
            return failure.path(part), str(reason)
        try:
            values = value if part.is_array else (value,)
            struct.pack(f">{len(values)}{part.code.lstrip('*')}", *values)
        except UNWRITABLE as reason:
            return failure.path(part), f"{reprlib.repr(value)}: {reason}"
    return failure.path(), str(error)
