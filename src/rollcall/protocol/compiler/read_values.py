"""Reading values that bring their own length: strings, bytes, and arrays of anything but structs.

The length, or the first byte of it where it is a varint, is already in `n`.
"""

from __future__ import annotations

from rollcall.protocol.compiler.runs import ReadRun
from rollcall.protocol.compiler.source import Source
from rollcall.protocol.compiler.wire_format import WireFormat
from rollcall.protocol.primitives import FIXED, array_readers, size_of
from rollcall.protocol.schema import FieldSpec

# What generated code tells of a length that cannot be; expressions, evaluated there.
NULL = "'null is not allowed here' if n in (0, -1) else f'the length is {n}'"
NEGATIVE = "f'the length is {n}'"

EMPTY = {"string": "''", "bytes": "b''", "records": "view[p:p]"}

_SLICES = {
    # As Kafka does: bytes that are not UTF-8 become U+FFFD, so that a bad name is a value to refuse
    # and not a connection to cut.
    "string": "b[p:e].decode('utf-8', 'replace')",
    "bytes": "b[p:e]",
    "records": "view[p:e]",
}


class ValueReader:
    def __init__(self, source: Source, format_: WireFormat) -> None:
        self.source = source
        self.format = format_

    def finish_uvarint(self, type_: str = "") -> None:
        """`n` is the first byte of a varint: mostly it is all of it, or all but one."""
        read = "read_text_length" if type_ == "string" else "read_uvarint"
        emit = self.source.emit
        with self.source.block("if n > 127:"):
            emit("e = b[p]")
            with self.source.block("if e < 128:"):
                emit("n += (e << 7) - 128", "p += 1")
            with self.source.block("else:"):
                emit(f"n, p = {read}(b, p - 1)")

    def check_count(self, smallest: int) -> None:
        with self.source.block(f"if n * {max(1, smallest)} > end - p:"):
            self.source.emit(
                "raise MalformedError(f'{n} elements announced, {end - p} bytes left')"
            )

    def text(self, type_: str, target: str, end: str = "p + n") -> None:
        emit = self.source.emit
        emit(f"e = {end}")
        with self.source.block("if e > end:"):
            emit("raise MalformedError(f'{e - p} bytes announced, {end - p} are left')")
        emit(f"{target} = {_SLICES[type_]}", "p = e")

    def numbers(self, field: FieldSpec, target: str) -> None:
        """Numbers that cannot be null, by the table: the commonest array of all."""
        emit, code, compact = self.source.emit, FIXED[field.element], self.format.is_compact(field)
        table = self.source.constant("readers", array_readers(code, compact=compact))
        size = size_of(code)
        with self.source.block(f"if n == {int(compact)}:"):
            emit(f"{target} = ()")
        with self.source.block("elif n < 128:" if compact else "elif 0 < n < 128:"):
            emit(f"{target} = {table}[n](b, p)")
            emit(f"p += {size} * n - {size}" if compact else f"p += {size} * n")
        with self.source.block("else:"):
            if compact:
                emit("n, p = read_uvarint(b, p - 1)", "n -= 1")
            self.counted_numbers(field, target)

    def counted_numbers(self, field: FieldSpec, target: str) -> None:
        """Numbers, when `n` is how many there are."""
        code = FIXED[field.element]
        self.source.emit(
            f"{target} = read_long_array(b, p, n, {code!r})", f"p += {size_of(code)} * n"
        )

    def texts(self, field: FieldSpec, target: str) -> None:
        """Strings, byte strings and uuids, one after another; `n` is how many there are."""
        emit, items = self.source.emit, self.source.name("items")
        count = self.source.name("count")
        is_uuid = field.element == "uuid"
        code = "16s" if is_uuid else self.format.length_code(field, field.element)
        self.check_count(size_of(code))
        emit(f"{items} = []", f"{count} = n")
        with self.source.block(f"for _ in range({count}):"), self.source.at(f"[{items} _]"):
            if is_uuid:
                emit("e = p + 16", f"{items}.append(read_uuid(b[p:e]))", "p = e")
            else:
                ReadRun(self.source, "").read(code)
                if self.format.is_compact(field):
                    self.finish_uvarint(field.element)
                    emit("n -= 1")
                with self.source.block("if n < 0:"):
                    emit(f"raise MalformedError({NULL})")
                self.text(field.element, "item")
                emit(f"{items}.append(item)")
        emit(f"{target} = tuple({items})")
