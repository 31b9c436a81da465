"""The writer of one message in one version: a message to parts, which are joined once.

In the generated function `parts` is the list and `w` its `append`, `o` the message. Neighbouring
fields of fixed size are packed by one call; so are arrays of numbers among them, by a call that is
made for their lengths and kept (`PackCache`): partitions mostly have the same number of replicas.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rollcall.protocol.compiler.runs import Out, WriteRun
from rollcall.protocol.compiler.source import Location, Source
from rollcall.protocol.compiler.wire_format import WireFormat, is_number
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import (
    FIXED,
    TextLengthTable,
    UnwritableError,
    UvarintTable,
    write_uvarint,
)
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec

WriteFunction = Callable[[Message, list[bytes]], None]


def compile_writer(
    spec: MessageSpec, version: int, cls: type[Message]
) -> tuple[WriteFunction, list[Location]]:
    source = Source("def write(o, parts):", dict(HELPERS))
    source.emit("w = parts.append")
    _Writer(source, spec, version, cls).struct(spec, "o", cls, Out("parts", "w"))
    return source.compile("write"), source.steps


def as_bytes(value: object) -> memoryview:
    """Anything that holds bytes; what else has a length, such as text, is a TypeError."""
    return memoryview(value).cast("B")  # type: ignore[arg-type]


def write_tags(
    w: Callable[[bytes], None],
    tags: dict[int, bytes],
    unknown: Iterable[tuple[int, object]],
    known: Container[int],
) -> None:
    """Tagged fields and unknown tags in one ascending row; a tag has but one meaning."""
    for tag, payload in unknown:
        if not isinstance(payload, bytes) or not 0 <= tag <= 0x7FFFFFFF:
            raise UnwritableError(f"{tag!r} with {type(payload).__name__} is no tag with bytes")
        if tag in known or tag in tags:
            raise UnwritableError(f"the tag {tag} is taken")
        tags[tag] = payload
    w(write_uvarint(len(tags)))
    for tag, payload in sorted(tags.items()):
        w(write_uvarint(tag) + write_uvarint(len(payload)))
        w(payload)


HELPERS: dict[str, Any] = {
    "UnwritableError": UnwritableError,
    "varint": UvarintTable(),
    "text_varint": TextLengthTable(),
    "write_tags": write_tags,
    "as_bytes": as_bytes,
    "join": b"".join,
    "len": len,
    "str": str,
    "bytes": bytes,
}


class _Writer:
    def __init__(self, source: Source, spec: MessageSpec, version: int, cls: type[Message]) -> None:
        self.source = source
        self.cls = cls
        self.format = WireFormat.of(spec, version)
        self.version, self.flexible = version, self.format.flexible

    def new_run(self, out: Out) -> WriteRun:
        return WriteRun(self.source, out, flexible=self.flexible)

    def struct(self, spec: StructSpec, o: str, cls: type[Message], out: Out) -> None:
        self.refuse_lost_fields(spec, o, cls)
        run = self.new_run(out)
        for field in spec.plain_fields(self.version):
            self.value(field, o, out, run)
        if self.flexible:
            run.add("unknown_tags", "B", "0")
        run.write()
        if self.flexible:
            self.tags(spec, o, cls, out)

    def refuse_lost_fields(self, spec: StructSpec, o: str, cls: type[Message]) -> None:
        """As in Kafka: what the version lacks may be dropped if ignorable, or at its default."""
        for field in spec.absent_fields(self.version):
            if not field.ignorable:
                with (
                    self.source.at(field.attribute),
                    self.source.block(f"if {self.differs(field, o, cls)}:"),
                ):
                    self.source.emit(
                        "raise UnwritableError('this version does not have the field')"
                    )
        if not self.flexible:
            with self.source.at("unknown_tags"), self.source.block(f"if {o}.unknown_tags:"):
                self.source.emit("raise UnwritableError('this version has no tagged fields')")

    def differs(self, field: FieldSpec, o: str, cls: type[Message]) -> str:
        value = f"{o}.{field.attribute}"
        default = cls.defaults[field.attribute]
        if default is None:
            return f"{value} is not None"
        if default == () or default == b"":
            return f"({value} is None or len({value}))"
        known = self.source.constant("default", default)
        return f"({value} is not {known} and {value} != {known})"

    # -- one field, plain or as the payload of a tag

    def value(self, field: FieldSpec, o: str, out: Out, run: WriteRun) -> None:
        value = f"{o}.{field.attribute}"
        if field.element in FIXED and not field.is_array:
            run.add(field.attribute, *_fixed(field.element, value))
            return
        with self.source.at(field.attribute), self.present(field, value, out, run):
            if field.is_array:
                self.array(field, value, out, run)
            elif field.struct is not None:
                self.one_struct(field, value, out, run)
            else:
                self.text(field, field.type, value, out, run)

    @contextmanager
    def present(self, field: FieldSpec, value: str, out: Out, run: WriteRun) -> Iterator[None]:
        """The lines for a value that is there; before them, those for a null where one may be."""
        if not self.format.is_nullable(field):
            yield
            return
        run.write()
        with self.source.block(f"if {value} is None:"):
            self.source.emit(f"{out.w}({self.null(field)!r})")
        with self.source.block("else:"):
            yield
            run.write()

    def null(self, field: FieldSpec) -> bytes:
        if field.struct is not None and not field.is_array:
            return b"\xff"
        if self.format.is_compact(field):
            return b"\0"
        return struct.pack(f">{self.format.length_code(field)}", -1)

    def one_struct(self, field: FieldSpec, value: str, out: Out, run: WriteRun) -> None:
        assert field.struct is not None
        inner = self.source.name("o")
        if self.format.is_nullable(field):
            run.add("", "b", "1")
        run.write()
        self.source.emit(f"{inner} = {value}")
        self.struct(field.struct, inner, getattr(self.cls, field.element), out)

    def text(self, field: FieldSpec, type_: str, value: str, out: Out, run: WriteRun) -> None:
        text = self.source.name("text")
        is_string = type_ == "string"
        encoded = f"{value}.encode()" if is_string else f"{value}"
        self.source.emit(f"{text} = {encoded}")
        if not is_string:
            with self.source.block(f"if {text}.__class__ is not bytes:"):
                self.source.emit(f"{text} = as_bytes({text})")
        self.length(field, "h" if is_string else "i", text, out, run)
        self.source.emit(f"{out.w}({text})")

    def length(self, field: FieldSpec, code: str, of: str, out: Out, run: WriteRun) -> None:
        if self.format.is_compact(field):
            run.write()
            table = "text_varint" if code == "h" else "varint"
            self.source.emit(f"{out.w}({table}[len({of}) + 1])")
        else:
            run.add("", code, f"len({of})")
            run.write()

    def array(self, field: FieldSpec, value: str, out: Out, run: WriteRun) -> None:
        if is_number(field.element):
            run.add_array(_code(field.element), value)
            return
        if field.element == "string":
            with self.source.block(f"if {value}.__class__ is str:"):
                self.source.emit("raise UnwritableError('one string in the place of an array')")
        self.length(field, "i", value, out, run)
        item = self.source.name("item")
        with self.source.block(f"for {item} in {value}:"), self.source.at(f"[{value} {item}]"):
            if field.struct is not None:
                self.struct(field.struct, item, getattr(self.cls, field.element), out)
            elif field.element in FIXED:
                run.add("", *_fixed(field.element, item))
                run.write()
            else:
                self.text(field, field.element, item, out, run)

    # -- tags

    def tags(self, spec: StructSpec, o: str, cls: type[Message], out: Out) -> None:
        """The last part ends in the count 0, which is taken back when there are tags after all."""
        known = spec.tagged_fields(self.version)
        emit, tags = self.source.emit, self.source.name("tags")
        conditions = [f"{o}.unknown_tags", *(self.differs(f, o, cls) for f in known)]
        with self.source.block(f"if {' or '.join(conditions)}:"):
            emit(f"{out.parts}[-1] = {out.parts}[-1][:-1]", f"{tags} = {{}}")
            for field in known:
                with self.source.block(f"if {self.differs(field, o, cls)}:"):
                    payload = Out(self.source.name("parts"), self.source.name("w"))
                    emit(f"{payload.parts} = []", f"{payload.w} = {payload.parts}.append")
                    run = self.new_run(payload)
                    self.value(field, o, payload, run)
                    run.write()
                    emit(f"{tags}[{field.tag}] = join({payload.parts})")
            taken = self.source.constant("taken", frozenset(field.tag for field in known))
            with self.source.at("unknown_tags"):
                emit(f"write_tags({out.w}, {tags}, {o}.unknown_tags, {taken})")


def _fixed(type_: str, value: str) -> tuple[str, str]:
    return _code(type_), f"{value}.bytes" if type_ == "uuid" else value


def _code(type_: str) -> str:
    # "?" would take anything at all for true, or none for false.
    return "B" if type_ == "bool" else FIXED[type_]
