"""The reader of one message in one version: bytes and an offset to a message and an offset.

In the generated function `b` is the buffer, `p` the offset, `end` its length, `n` a length.
Nothing is allocated for a length before it was held against the bytes that are left: `struct`
does it for arrays of numbers, the generated code for everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat, starmap
from typing import Any

from rollcall.protocol.compiler.read_values import EMPTY, NEGATIVE, NULL, ValueReader
from rollcall.protocol.compiler.runs import ReadRun
from rollcall.protocol.compiler.source import Location, Source
from rollcall.protocol.compiler.tables import Cuts, Flyweights
from rollcall.protocol.compiler.wire_format import WireFormat, is_number
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import (
    FIXED,
    MalformedError,
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


def compile_reader(
    spec: MessageSpec, version: int, cls: type[Message]
) -> tuple[ReadFunction, list[Location]]:
    source = Source("def read(b, p):", dict(HELPERS))
    _Reader(source, spec, version, cls).whole_message()
    return source.compile("read"), source.steps


class _Reader:
    def __init__(self, source: Source, spec: MessageSpec, version: int, cls: type[Message]) -> None:
        self.source = source
        self.spec = spec
        self.cls = cls
        self.format = WireFormat.of(spec, version)
        self.version, self.flexible = version, self.format.flexible
        self.values = ValueReader(source, self.format)

    def whole_message(self) -> None:
        emit = self.source.emit
        emit("end = len(b)", f"o = {self.draft(self.cls)}()")
        if any(f.type == "records" for s in (self.spec, *self.spec.structs()) for f in s.fields):
            emit("view = memoryview(b)")
        self.struct(self.spec, "o", self.cls)
        emit("return o, p")

    def draft(self, cls: type[Message]) -> str:
        return self.source.constant("draft", cls.draft)

    # -- a struct: runs of fixed fields, each ended by a field that brings its own length

    def struct(self, spec: StructSpec, o: str, cls: type[Message]) -> None:
        run = ReadRun(self.source, o)
        for field in spec.plain_fields(self.version):
            if field.element in FIXED and not field.is_array:
                run.add(field.attribute, FIXED[field.element])
            elif field.struct is not None and not field.is_array:
                self.plain_struct(field, o, run)
            else:
                run.read(self.format.length_code(field), field.attribute)
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

    def plain_struct(self, field: FieldSpec, o: str, run: ReadRun) -> None:
        run.read("b" if self.format.is_nullable(field) else None, field.attribute)
        with self.source.at(field.attribute):
            self.one_struct(field, o)

    def one_struct(self, field: FieldSpec, o: str) -> None:
        """A struct that is not in an array; a nullable one begins with a byte that says so."""
        assert field.struct is not None
        inner = self.source.name("o")
        cls = self.struct_class(field)
        make = f"{o}.{field.attribute} = {inner} = {self.draft(cls)}()"
        if not self.format.is_nullable(field):
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

    def variable(self, field: FieldSpec, o: str) -> None:
        emit, target = self.source.emit, f"{o}.{field.attribute}"
        nullable = self.format.is_nullable(field)
        if field.is_array and is_number(field.element) and not nullable:
            self.values.numbers(field, target)
            return
        compact = self.format.is_compact(field)
        if compact:
            self.values.finish_uvarint(field.type)
        # A compact length is one more than it says, and 0 for null.
        empty, null = (1, 0) if compact else (0, -1)
        with self.source.block(f"if n > {empty}:"):
            if field.is_array:
                if compact:
                    emit("n -= 1")
                self.array(field, target)
            else:
                self.values.text(field.type, target, "p + n - 1" if compact else "p + n")
        with self.source.block(f"elif n == {empty}:"):
            emit(f"{target} = {'()' if field.is_array else EMPTY[field.type]}")
        if nullable:
            with self.source.block(f"elif n == {null}:"):
                emit(f"{target} = None")
        with self.source.block("else:"):
            emit(f"raise MalformedError({NEGATIVE if nullable else NULL})")

    def array(self, field: FieldSpec, target: str) -> None:
        if field.struct is not None:
            self.struct_array(field, target)
        elif is_number(field.element):
            self.values.counted_numbers(field, target)
        else:
            self.values.texts(field, target)

    def struct_array(self, field: FieldSpec, target: str) -> None:
        assert field.struct is not None
        spec, cls = field.struct, self.struct_class(field)
        self.values.check_count(self.format.smallest(spec))
        if not self.format.is_small(spec):
            self.struct_loop(spec, target, cls)
            return
        if self.flexible:
            # Each element ends in a count of tags: they are looked at together, by a stride.
            size = self.format.smallest(spec)
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

    # -- tags

    def tags(self, spec: StructSpec, o: str) -> None:
        """`n` tagged fields: those the schema knows are read, the others kept as they are."""
        emit = self.source.emit
        count, unknown = self.source.name("count"), self.source.name("unknown")
        seen = self.source.name("seen")
        with self.source.block("if n:"):
            self.values.finish_uvarint()
            self.values.check_count(2)
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
        run = ReadRun(self.source, o)
        if field.element in FIXED and not field.is_array:
            run.add(field.attribute, FIXED[field.element])
            run.read(None)
            return
        with self.source.at(field.attribute):
            if field.struct is not None and not field.is_array:
                run.read("b" if self.format.is_nullable(field) else None)
                self.one_struct(field, o)
            else:
                run.read(self.format.length_code(field))
                self.variable(field, o)
