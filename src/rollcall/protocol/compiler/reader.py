"""The reader of one message in one version: bytes and an offset to a message and an offset.

In the generated function `b` is the buffer, `p` the offset, `end` its length, `n` a length.
Nothing is allocated for a length before it was held against the bytes that are left: `struct`
does it for arrays of numbers, the generated code for everything else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import repeat, starmap
from typing import Any

from rollcall.protocol.compiler.source import Part, Source, Step
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import (
    FIXED,
    MalformedError,
    array_readers,
    read_long_array,
    read_text_length,
    read_uuid,
    read_uvarint,
    size_of,
)
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec

ReadFunction = Callable[[bytes, int], tuple[Message, int]]

HELPERS: dict[str, Any] = {
    "MalformedError": MalformedError,
    "read_text_length": read_text_length,
    "read_uuid": read_uuid,
    "read_uvarint": read_uvarint,
    "read_long_array": read_long_array,
    "repeat": repeat,
    "starmap": starmap,
    "memoryview": memoryview,
    "set": set,
    "sorted": sorted,
    "tuple": tuple,
    "len": len,
    "map": map,
    "range": range,
}


class Flyweights(dict[bytes, Message]):
    """Small structs by their bytes: messages are frozen, so equal ones can be one."""

    MOST = 4096

    def __init__(self, cls: type[Message], attributes: list[str], codes: str) -> None:
        super().__init__()
        self.cls = cls
        self.attributes = attributes
        self.unpack = struct.Struct(f">{codes}").unpack

    def __missing__(self, raw: bytes) -> Message:
        if len(self) >= self.MOST:
            self.clear()
        fields = dict(zip(self.attributes, self.unpack(raw), strict=True))
        value = self[raw] = self.cls(**fields)
        return value


class Cuts(dict[int, Any]):
    """How to cut an array of small structs into their bytes, by its length."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def __missing__(self, count: int) -> Any:
        cut = struct.Struct(">" + self.code * count).unpack_from
        if count < 128:
            self[count] = cut
        return cut


def compile_reader(
    spec: MessageSpec, version: int, cls: type[Message]
) -> tuple[ReadFunction, list[Step]]:
    source = Source("def read(b, p):", dict(HELPERS))
    _Reader(source, spec, version, cls).whole_message()
    return source.compile("read"), source.steps


class _Reader:
    def __init__(self, source: Source, spec: MessageSpec, version: int, cls: type[Message]) -> None:
        self.source = source
        self.spec = spec
        self.version = version
        self.flexible = version in spec.flexible
        self.cls = cls

    def whole_message(self) -> None:
        emit = self.source.emit
        emit("end = len(b)", f"o = {self.draft(self.cls)}()")
        if any(f.type == "records" for s in (self.spec, *self.spec.structs()) for f in s.fields):
            emit("view = memoryview(b)")
        self.struct(self.spec, "o", self.cls)
        emit("return o, p")

    def draft(self, cls: type[Message]) -> str:
        return self.source.constant("draft", cls.draft)

    def is_flexible(self, field: FieldSpec) -> bool:
        return self.flexible and (field.flexible is None or self.version in field.flexible)

    # -- a struct: runs of fixed fields, each ended by a field that brings its own length

    def struct(self, spec: StructSpec, o: str, cls: type[Message]) -> None:
        run = _Run(self.source, o)
        for field in spec.plain_fields(self.version):
            if field.element in FIXED and not field.is_array:
                run.add(field.attribute, FIXED[field.element])
            elif field.struct is not None and not field.is_array:
                self.plain_struct(field, o, run)
            else:
                run.read(self.length_code(field), field.attribute)
                with self.source.at(field.attribute):
                    self.variable(field, o)
        self.absent(spec, o, cls)
        if self.flexible:
            run.read("B", "unknown_tags")
            self.tags(spec, o)
        else:
            run.read(None)
        self.source.emit(f"{o}.__class__ = {self.source.constant('cls', cls)}")

    def absent(self, spec: StructSpec, o: str, cls: type[Message]) -> None:
        """Fields the version lacks, and tagged ones until their tag is found."""
        for field in (*spec.absent_fields(self.version), *spec.tagged_fields(self.version)):
            self.source.emit(f"{o}.{field.attribute} = {self.default(field, cls)}")
        self.source.emit(f"{o}.unknown_tags = ()")

    def default(self, field: FieldSpec, cls: type[Message]) -> str:
        value = cls.defaults[field.attribute]
        if value is None or isinstance(value, bool | int) or value == ():
            return repr(value)
        return self.source.constant("default", value)

    def plain_struct(self, field: FieldSpec, o: str, run: _Run) -> None:
        run.read("b" if self.version in field.nullable else None, field.attribute)
        with self.source.at(field.attribute):
            self.one_struct(field, o)

    def one_struct(self, field: FieldSpec, o: str) -> None:
        """A struct that is not in an array; a nullable one begins with a byte that says so."""
        assert field.struct is not None
        inner = self.source.name("o")
        cls = self.struct_class(field)
        make = f"{o}.{field.attribute} = {inner} = {self.draft(cls)}()"
        if self.version not in field.nullable:
            self.source.emit(make)
            self.struct(field.struct, inner, cls)
            return
        with self.source.block("if n < 0:"):
            self.source.emit(f"{o}.{field.attribute} = None")
        with self.source.block("else:"):
            self.source.emit(make)
            self.struct(field.struct, inner, cls)

    def struct_class(self, field: FieldSpec) -> type[Message]:
        found: type[Message] = getattr(self.cls, field.element)
        return found

    # -- fields that bring their own length, which is already in `n`

    def length_code(self, field: FieldSpec, type_: str | None = None) -> str:
        if self.is_flexible(field):
            return "B"
        return "h" if (type_ or field.type) == "string" else "i"

    def variable(self, field: FieldSpec, o: str) -> None:
        emit, target = self.source.emit, f"{o}.{field.attribute}"
        nullable = self.version in field.nullable
        if field.is_array and _is_number(field.element) and not nullable:
            self.number_array(field, target)
            return
        compact = self.is_flexible(field)
        if compact:
            self.finish_uvarint(field.type)
        # A compact length is one more than it says, and 0 for null.
        empty, null = (1, 0) if compact else (0, -1)
        with self.source.block(f"if n > {empty}:"):
            if field.is_array:
                if compact:
                    emit("n -= 1")
                self.array(field, target)
            else:
                self.text(field.type, target, "p + n - 1" if compact else "p + n")
        with self.source.block(f"elif n == {empty}:"):
            emit(f"{target} = {'()' if field.is_array else _EMPTY[field.type]}")
        if nullable:
            with self.source.block(f"elif n == {null}:"):
                emit(f"{target} = None")
        with self.source.block("else:"):
            emit(f"raise MalformedError({NEGATIVE if nullable else NULL})")

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

    def text(self, type_: str, target: str, end: str = "p + n") -> None:
        emit = self.source.emit
        emit(f"e = {end}")
        with self.source.block("if e > end:"):
            emit("raise MalformedError(f'{e - p} bytes announced, {end - p} are left')")
        emit(f"{target} = {_SLICES[type_]}", "p = e")

    def array(self, field: FieldSpec, target: str) -> None:
        if field.struct is not None:
            self.struct_array(field, target)
        elif _is_number(field.element):
            code = FIXED[field.element]
            self.source.emit(f"{target} = read_long_array(b, p, n, {code!r})")
            self.source.emit(f"p += {size_of(code)} * n")
        else:
            self.text_array(field, target)

    def number_array(self, field: FieldSpec, target: str) -> None:
        """Numbers that cannot be null, by the table: the commonest array of all."""
        emit, code, compact = self.source.emit, FIXED[field.element], self.is_flexible(field)
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
            emit(f"{target} = read_long_array(b, p, n, {code!r})", f"p += {size} * n")

    def text_array(self, field: FieldSpec, target: str) -> None:
        """Strings, byte strings and uuids, one after another."""
        emit, items = self.source.emit, self.source.name("items")
        count = self.source.name("count")
        is_uuid = field.element == "uuid"
        code = "16s" if is_uuid else self.length_code(field, field.element)
        self.check_count(size_of(code))
        emit(f"{items} = []", f"{count} = n")
        with self.source.block(f"for _ in range({count}):"), self.source.at(f"[{items} _]"):
            if is_uuid:
                emit("e = p + 16", f"{items}.append(read_uuid(b[p:e]))", "p = e")
            else:
                _Run(self.source, "").read(code)
                if self.is_flexible(field):
                    self.finish_uvarint(field.element)
                    emit("n -= 1")
                with self.source.block("if n < 0:"):
                    emit(f"raise MalformedError({NULL})")
                self.text(field.element, "item")
                emit(f"{items}.append(item)")
        emit(f"{target} = tuple({items})")

    def check_count(self, smallest: int) -> None:
        with self.source.block(f"if n * {max(1, smallest)} > end - p:"):
            self.source.emit(
                "raise MalformedError(f'{n} elements announced, {end - p} bytes left')"
            )

    def struct_array(self, field: FieldSpec, target: str) -> None:
        assert field.struct is not None
        spec, cls = field.struct, self.struct_class(field)
        self.check_count(self.smallest(spec))
        if not self.is_small(spec):
            self.struct_loop(spec, target, cls)
            return
        if self.flexible:
            # Each element ends in a count of tags: they are looked at together, by a stride.
            size = self.smallest(spec)
            with self.source.block(f"if b[p + {size - 1}:p + {size} * n:{size}].strip(b'\\0'):"):
                self.struct_loop(spec, target, cls)
            with self.source.block("else:"):
                self.small_structs(spec, target, cls)
        else:
            self.small_structs(spec, target, cls)

    def struct_loop(self, spec: StructSpec, target: str, cls: type[Message]) -> None:
        items, o = self.source.name("items"), self.source.name("o")
        drafts = f"tuple(starmap({self.draft(cls)}, repeat((), n)))"
        self.source.emit(f"{target} = {items} = {drafts}")
        with self.source.at(f"[{items} {o}]"), self.source.block(f"for {o} in {items}:"):
            self.struct(spec, o, cls)

    def is_small(self, spec: StructSpec) -> bool:
        fields = spec.plain_fields(self.version)
        return bool(fields) and all(f.type in FIXED and size_of(FIXED[f.type]) < 3 for f in fields)

    def small_structs(self, spec: StructSpec, target: str, cls: type[Message]) -> None:
        """A few small numbers without tags, as in the list of API versions: their values recur."""
        fields = spec.plain_fields(self.version)
        codes = "".join(FIXED[f.type] for f in fields)
        values = Flyweights(cls, [f.attribute for f in fields], codes)
        of = self.source.constant("values", values.__getitem__)
        code = f"{size_of(codes)}sx" if self.flexible else f"{size_of(codes)}s"
        cuts = self.source.constant("cuts", Cuts(code))
        self.source.emit(
            f"{target} = tuple(map({of}, {cuts}[n](b, p)))",
            f"p += {size_of(code)} * n",
        )

    def smallest(self, spec: StructSpec) -> int:
        """The fewest bytes a struct can take: what an announced count is held against."""
        size = 1 if self.flexible else 0
        for field in spec.plain_fields(self.version):
            if field.is_array or field.element in ("string", "bytes", "records"):
                size += size_of(self.length_code(field))
            elif field.struct is not None:
                nullable = self.version in field.nullable
                size += 1 if nullable else self.smallest(field.struct)
            else:
                size += size_of(FIXED[field.element])
        return size

    # -- tags

    def tags(self, spec: StructSpec, o: str) -> None:
        """`n` tagged fields: those the schema knows are read, the others kept as they are."""
        emit = self.source.emit
        count, unknown = self.source.name("count"), self.source.name("unknown")
        seen = self.source.name("seen")
        with self.source.block("if n:"):
            self.finish_uvarint()
            self.check_count(2)
            emit(f"{count} = n", f"{unknown} = {{}}", f"{seen} = set()")
            with self.source.block(f"for _ in range({count}):"):
                self.one_tag(spec, o, unknown, seen)
            with self.source.block(f"if {unknown}:"):
                emit(f"{o}.unknown_tags = tuple(sorted({unknown}.items()))")

    def one_tag(self, spec: StructSpec, o: str, unknown: str, seen: str) -> None:
        emit = self.source.emit
        tag, after = self.source.name("tag"), self.source.name("after")
        emit(f"{tag}, p = read_uvarint(b, p)", "n, p = read_uvarint(b, p)", f"{after} = p + n")
        with self.source.block(f"if {after} > end:"):
            emit(f"raise MalformedError(f'tag {{{tag}}} has {{n}} bytes, {{end - p}} are left')")
        with self.source.block(f"if {tag} in {seen}:"):
            emit(f"raise MalformedError(f'tag {{{tag}}} comes twice')")
        emit(f"{seen}.add({tag})")
        branch = "if"
        for field in spec.tagged_fields(self.version):
            with self.source.block(f"{branch} {tag} == {field.tag}:"):
                self.tagged(field, o)
                with self.source.at(field.attribute), self.source.block(f"if p != {after}:"):
                    emit(f"raise MalformedError(f'its tag ends {{{after} - p:+}} bytes off')")
            branch = "elif"
        keep = (f"{unknown}[{tag}] = b[p:{after}]", f"p = {after}")
        if branch == "if":
            emit(*keep)
        else:
            with self.source.block("else:"):
                emit(*keep)

    def tagged(self, field: FieldSpec, o: str) -> None:
        run = _Run(self.source, o)
        if field.element in FIXED and not field.is_array:
            run.add(field.attribute, FIXED[field.element])
            run.read(None)
            return
        with self.source.at(field.attribute):
            if field.struct is not None and not field.is_array:
                run.read("b" if self.version in field.nullable else None)
                self.one_struct(field, o)
            else:
                run.read(self.length_code(field))
                self.variable(field, o)


NULL = "'null is not allowed here' if n in (0, -1) else f'the length is {n}'"
NEGATIVE = "f'the length is {n}'"

_EMPTY = {"string": "''", "bytes": "b''", "records": "view[p:p]"}

_SLICES = {
    # As Kafka does: bytes that are not UTF-8 become U+FFFD, so that a bad name is a value to refuse
    # and not a connection to cut.
    "string": "b[p:e].decode('utf-8', 'replace')",
    "bytes": "b[p:e]",
    "records": "view[p:e]",
}


def _is_number(type_: str) -> bool:
    return type_ in FIXED and type_ != "uuid"


class _Run:
    """Neighbouring fields of fixed size, gathered until one call reads them."""

    def __init__(self, source: Source, owner: str) -> None:
        self.source = source
        self.owner = owner
        self.fields: list[tuple[str, str]] = []

    def add(self, attribute: str, code: str) -> None:
        self.fields.append((attribute, code))

    def read(self, last: str | None, label: str = "") -> None:
        """Emit the call; `last` is the code of the next field's length, which goes into `n`."""
        targets = [f"{self.owner}.{name}" for name, _ in self.fields]
        whole = [Part(name, code) for name, code in self.fields]
        if last is not None:
            targets.append("n")
            whole.append(Part(label, last))
        if not whole:
            return
        codes = [part.code for part in whole]
        with self.source.running(whole):
            if codes == ["B"]:
                self.source.emit("n = b[p]", "p += 1")
            else:
                call = struct.Struct(">" + "".join(codes))
                unpack = self.source.constant("unpack", call.unpack_from)
                self.source.emit(f"{', '.join(targets)}, = {unpack}(b, p)", f"p += {call.size}")
        for name, code in self.fields:
            if code == "16s":
                self.source.emit(f"{self.owner}.{name} = read_uuid({self.owner}.{name})")
        self.fields = []
