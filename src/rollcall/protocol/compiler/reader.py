"""The reader of one message in one version: bytes and an offset to a message and an offset.

In the generated function `b` is the buffer, `p` the offset, `end` its length, `n` a length or count.
Nothing is allocated for a length before it was held against the bytes that are left: `struct`
does it for arrays of numbers, the generated code for everything else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from itertools import repeat, starmap
from typing import Any
from uuid import UUID

from rollcall.protocol.compiler.source import Part, Source, Step
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import FIXED, Malformed, read_uvarint, size_of
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec

ReadFunction = Callable[[bytes, int], tuple[Message, int]]

HELPERS: dict[str, Any] = {
    "Malformed": Malformed,
    "read_uvarint": read_uvarint,
    "repeat": repeat,
    "starmap": starmap,
    "UUID": UUID,
    "memoryview": memoryview,
    "tuple": tuple,
    "len": len,
    "zip": zip,
    "range": range,
}


@cache
def array_unpackers(code: str) -> tuple[Any, ...]:
    """`unpack_from` for arrays of 0 to 127 numbers."""
    return tuple(struct.Struct(f">{count}{code}").unpack_from for count in range(128))


def compile_reader(
    spec: MessageSpec, version: int, cls: type[Message]
) -> tuple[ReadFunction, list[Step]]:
    source = Source("def read(b, p):", dict(HELPERS))
    _Reader(source, spec, version, cls).whole_message()
    return source.compile("read"), source.steps


class _Reader:
    def __init__(
        self, source: Source, spec: MessageSpec, version: int, cls: type[Message]
    ) -> None:
        self.source = source
        self.spec = spec
        self.version = version
        self.flexible = version in spec.flexible
        self.cls = cls

    def whole_message(self) -> None:
        emit = self.source.emit
        emit("end = len(b)", f"o = {self.draft(self.cls)}()")
        self.struct(self.spec, "o", self.cls)
        emit("return o, p")

    def draft(self, cls: type[Message]) -> str:
        return self.source.constant("draft", cls.draft)

    def drafts(self, cls: type[Message], count: str) -> str:
        return f"tuple(starmap({self.draft(cls)}, repeat((), {count})))"

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
            self.tags(spec, o, cls)
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
        if self.is_flexible(field):
            self.finish_uvarint()
            emit("n -= 1")
        with self.source.block("if n < 0:"):
            if self.version in field.nullable:
                with self.source.block("if n < -1:"):
                    emit("raise Malformed(f'the length is {n}')")
                emit(f"{target} = None")
            else:
                emit("raise Malformed(f'the length is {n}, but null is not allowed here')")
        with self.source.block("else:"):
            if field.is_array:
                self.array(field, target)
            else:
                self.text(field.type, target)

    def finish_uvarint(self) -> None:
        """`n` is the first byte of a varint: mostly it is all of it."""
        with self.source.block("if n > 127:"):
            self.source.emit("n, p = read_uvarint(b, p - 1)")

    def text(self, type_: str, target: str) -> None:
        emit = self.source.emit
        emit("e = p + n")
        with self.source.block("if e > end:"):
            emit("raise Malformed(f'{n} bytes announced, {end - p} are left')")
        emit(f"{target} = {_SLICES[type_]}", "p = e")

    def array(self, field: FieldSpec, target: str) -> None:
        if field.struct is not None:
            self.struct_array(field, target)
        elif field.element in FIXED and field.element != "uuid":
            code = FIXED[field.element]
            table = self.source.constant("unpack", array_unpackers(code))
            many = self.source.constant("Struct", struct.Struct)
            with self.source.block("if n < 128:"):
                self.source.emit(f"{target} = {table}[n](b, p)")
            with self.source.block("else:"):
                self.source.emit(f"{target} = {many}('>%d{code}' % n).unpack_from(b, p)")
            self.source.emit(f"p += {size_of(code)} * n")
        else:
            self.text_array(field, target)

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
                emit("e = p + 16", f"{items}.append(UUID(bytes=b[p:e]))", "p = e")
            else:
                _Run(self.source, "").read(code)
                if self.is_flexible(field):
                    self.finish_uvarint()
                    emit("n -= 1")
                with self.source.block("if n < 0:"):
                    emit("raise Malformed(f'the length is {n}, but null is not allowed here')")
                self.text(field.element, "item")
                emit(f"{items}.append(item)")
        emit(f"{target} = tuple({items})")

    def check_count(self, smallest: int) -> None:
        with self.source.block(f"if n * {max(1, smallest)} > end - p:"):
            self.source.emit(
                "raise Malformed(f'{n} elements announced, {end - p} bytes are left')"
            )

    def struct_array(self, field: FieldSpec, target: str) -> None:
        assert field.struct is not None
        emit, cls = self.source.emit, self.struct_class(field)
        items, o = self.source.name("items"), self.source.name("o")
        self.check_count(self.smallest(field.struct))
        emit(f"{target} = {items} = {self.drafts(cls, 'n')}")
        fixed = self.fixed_run(field.struct)
        with self.source.at(f"[{items} {o}]"):
            if fixed is None:
                with self.source.block(f"for {o} in {items}:"):
                    self.struct(field.struct, o, cls)
            else:
                self.fixed_array(field.struct, fixed, target, items, o, cls)

    def fixed_run(self, spec: StructSpec) -> list[tuple[str, str]] | None:
        """The (attribute, code) pairs of a struct, if all of its plain fields are of fixed size."""
        fields = spec.plain_fields(self.version)
        if not fields or not all(f.element in FIXED and not f.is_array for f in fields):
            return None
        if any(f.element == "uuid" for f in fields):
            return None
        return [(f.attribute, FIXED[f.element]) for f in fields]

    def fixed_array(
        self,
        spec: StructSpec,
        run: list[tuple[str, str]],
        target: str,
        items: str,
        o: str,
        cls: type[Message],
    ) -> None:
        """All elements by one `iter_unpack`; if one has tags, all are read again, one by one."""
        emit = self.source.emit
        codes = "".join(code for _, code in run) + ("B" if self.flexible else "")
        unpack = self.source.constant("iter_unpack", struct.Struct(f">{codes}").iter_unpack)
        rows = f"{unpack}(memoryview(b)[p:p + {size_of(codes)} * n])"
        targets = ", ".join(f"{o}.{name}" for name, _ in run) + (", n" if self.flexible else ",")
        with self.source.block(f"for {o}, row in zip({items}, {rows}):"):
            emit(f"{targets} = row")
            if self.flexible:
                with self.source.block("if n:"):
                    emit("break")
            self.absent(spec, o, cls)
            emit(f"{o}.__class__ = {self.source.constant('cls', cls)}")
        with self.source.block("else:"):
            emit(f"p += {size_of(codes)} * len({items})")
        if self.flexible:
            with self.source.block("if n:"):
                emit(f"{target} = {items} = {self.drafts(cls, f'len({items})')}")
                with self.source.block(f"for {o} in {items}:"):
                    self.struct(spec, o, cls)

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

    def tags(self, spec: StructSpec, o: str, cls: type[Message]) -> None:
        """`n` tagged fields: those the schema knows are read, the others kept as they are."""
        emit, known = self.source.emit, spec.tagged_fields(self.version)
        unknown, count = self.source.name("unknown"), self.source.name("count")
        tag, after = self.source.name("tag"), self.source.name("after")
        with self.source.block("if n:"):
            self.finish_uvarint()
            self.check_count(2)
            emit(f"{unknown} = {{}}", f"{count} = n")
            with self.source.block(f"for _ in range({count}):"):
                emit(f"{tag}, p = read_uvarint(b, p)", "n, p = read_uvarint(b, p)")
                emit(f"{after} = p + n")
                with self.source.block(f"if {after} > end:"):
                    emit(f"raise Malformed(f'tag {{{tag}}} announces {{n}} bytes, {{end - p}} are left')")
                branch = "if"
                for field in known:
                    with self.source.block(f"{branch} {tag} == {field.tag}:"):
                        with self.source.at(field.attribute):
                            self.tagged(field, o)
                            with self.source.block(f"if p != {after}:"):
                                emit(f"raise Malformed(f'tag {{{tag}}} ends {{p - {after}:+}} bytes off')")
                    branch = "elif"
                with self.source.block("else:" if known else "if True:"):
                    emit(f"{unknown}[{tag}] = b[p:{after}]", f"p = {after}")
            with self.source.block(f"if {unknown}:"):
                emit(f"{o}.unknown_tags = tuple(sorted({unknown}.items()))")

    def tagged(self, field: FieldSpec, o: str) -> None:
        run = _Run(self.source, o)
        if field.struct is not None and not field.is_array:
            run.read("b" if self.version in field.nullable else None)
            self.one_struct(field, o)
        elif field.element in FIXED and not field.is_array:
            run.add(field.attribute, FIXED[field.element])
            run.read(None)
        else:
            run.read(self.length_code(field))
            self.variable(field, o)


_SLICES = {
    # As Kafka does: bytes that are not UTF-8 become U+FFFD, so that a bad name is a value to refuse
    # and not a connection to cut.
    "string": "b[p:e].decode('utf-8', 'replace')",
    "bytes": "b[p:e]",
    "records": "memoryview(b)[p:e]",
}


class _Run:
    """Neighbouring fields of fixed size, gathered until one call reads them."""

    def __init__(self, source: Source, owner: str) -> None:
        self.source = source
        self.owner = owner
        self.fields: list[tuple[str, str]] = []

    def add(self, attribute: str, code: str) -> None:
        self.fields.append((attribute, code))

    def read(self, last: str | None, label: str = "") -> None:
        """Emit the call; `last` is the code of the length of the next field, which goes into `n`."""
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
                self.source.emit(f"{self.owner}.{name} = UUID(bytes={self.owner}.{name})")
        self.fields = []
