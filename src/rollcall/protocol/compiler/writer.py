"""Generates the function that writes one version of a message: `(message, parts)`.

In the generated function `write` appends to the list `parts`, and `obj` is the message.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rollcall.protocol.compiler.source import Location, PackedField, Source
from rollcall.protocol.compiler.wire_format import WireFormat, is_fixed, is_number_array
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import (
    FIXED,
    UnwritableError,
    array_packer,
    write_text_length,
    write_uvarint,
)
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec

WriteFunction = Callable[[Message, list[bytes]], None]


def compile_writer(
    spec: MessageSpec, version: int, cls: type[Message]
) -> tuple[WriteFunction, list[Location]]:
    source = Source("def write_message(obj, parts):", dict(HELPERS))
    source.emit("write = parts.append")
    _Writer(source, spec, version, cls).struct(spec, "obj", cls, "write")
    return source.compile("write_message"), source.locations


def as_bytes(value: object) -> memoryview:
    """A view of any object that holds bytes; other objects with a length are a TypeError."""
    return memoryview(value).cast("B")  # type: ignore[arg-type]


def write_tags(
    write: Callable[[bytes], None],
    tags: dict[int, bytes],
    unknown: Iterable[tuple[int, object]],
    known: Container[int],
) -> None:
    """Write tagged fields and unknown tags in ascending order."""
    for tag, payload in unknown:
        if not isinstance(payload, bytes) or not 0 <= tag <= 0x7FFFFFFF:
            raise UnwritableError(f"({tag!r}, {type(payload).__name__}) is not a tag with bytes")
        if tag in known or tag in tags:
            raise UnwritableError(f"the tag {tag} is already in use")
        tags[tag] = payload
    write(write_uvarint(len(tags)))
    for tag, payload in sorted(tags.items()):
        write(write_uvarint(tag) + write_uvarint(len(payload)))
        write(payload)


HELPERS: dict[str, Any] = {
    "UnwritableError": UnwritableError,
    "write_uvarint": write_uvarint,
    "write_text_length": write_text_length,
    "write_tags": write_tags,
    "as_bytes": as_bytes,
    "pack": struct.pack,
}


class _Run:
    """Neighbouring fields of fixed size, collected until one `struct` call packs them."""

    def __init__(self, source: Source, write: str) -> None:
        self.source = source
        self.append = write
        self.fields: list[PackedField] = []

    def add(self, attribute: str, code: str, expression: str) -> None:
        self.fields.append(PackedField((*self.source.path, attribute), code, expression))

    def write(self) -> None:
        if not self.fields:
            return
        codes = "".join(field.code for field in self.fields)
        pack = self.source.constant("pack", struct.Struct(f">{codes}").pack)
        values = ", ".join(field.expression for field in self.fields)
        with self.source.at(packed=self.fields):
            self.source.emit(f"{self.append}({pack}({values}))")
        self.fields = []


class _Writer:
    def __init__(self, source: Source, spec: MessageSpec, version: int, cls: type[Message]) -> None:
        self.source = source
        self.cls = cls
        self.version = version
        self.format = WireFormat.of(spec, version)

    def struct(self, spec: StructSpec, obj: str, cls: type[Message], write: str) -> None:
        self.check_absent_fields(spec, obj, cls)
        run = _Run(self.source, write)
        for field in spec.plain_fields(self.version):
            self.field(field, obj, run)
        run.write()
        if self.format.flexible:
            self.tags(spec, obj, cls, write)

    def check_absent_fields(self, spec: StructSpec, obj: str, cls: type[Message]) -> None:
        """As in Kafka, only ignorable fields and default values are dropped silently."""
        for field in spec.absent_fields(self.version):
            if not field.ignorable:
                with (
                    self.source.at(field.attribute),
                    self.source.block(f"if {self.is_set(field, obj, cls)}:"),
                ):
                    self.source.emit(
                        "raise UnwritableError('this version does not have the field')"
                    )
        if not self.format.flexible:
            with self.source.at("unknown_tags"), self.source.block(f"if {obj}.unknown_tags:"):
                self.source.emit("raise UnwritableError('this version has no tagged fields')")

    def is_set(self, field: FieldSpec, obj: str, cls: type[Message]) -> str:
        """The condition that a field is not at its default."""
        value = f"{obj}.{field.attribute}"
        default = cls.defaults[field.attribute]
        if default is None:
            return f"{value} is not None"
        if default == () or default == b"":
            return f"({value} is None or len({value}))"
        return f"{value} != {self.source.constant('default', default)}"

    def field(self, field: FieldSpec, obj: str, run: _Run) -> None:
        value = f"{obj}.{field.attribute}"
        if is_fixed(field):
            run.add(field.attribute, *_fixed(field.type, value))
            return
        with self.source.at(field.attribute), self.not_null(field, value, run):
            if field.is_array:
                self.array(field, value, run)
            elif field.struct is not None:
                self.nested_struct(field, value, run)
            else:
                self.text(field, field.type, value, run)

    @contextmanager
    def not_null(self, field: FieldSpec, value: str, run: _Run) -> Iterator[None]:
        """Emit the null case of a nullable field; lines emitted inside are for other values."""
        if not self.format.is_nullable(field):
            yield
            return
        run.write()
        with self.source.block(f"if {value} is None:"):
            self.source.emit(f"{run.append}({self.null(field)!r})")
        with self.source.block("else:"):
            yield
            run.write()

    def null(self, field: FieldSpec) -> bytes:
        if field.struct is not None and not field.is_array:
            return b"\xff"
        if self.format.is_compact(field):
            return b"\0"
        return struct.pack(f">{self.format.length_code(field)}", -1)

    def nested_struct(self, field: FieldSpec, value: str, run: _Run) -> None:
        assert field.struct is not None
        inner = self.source.name("obj")
        if self.format.is_nullable(field):
            run.add("", "b", "1")
        run.write()
        self.source.emit(f"{inner} = {value}")
        self.struct(field.struct, inner, getattr(self.cls, field.element), run.append)

    def text(self, field: FieldSpec, type_: str, value: str, run: _Run) -> None:
        text = self.source.name("text")
        self.source.emit(f"{text} = {value}.encode()" if type_ == "string" else f"{text} = {value}")
        if type_ != "string":
            with self.source.block(f"if {text}.__class__ is not bytes:"):
                self.source.emit(f"{text} = as_bytes({text})")
        self.length(field, "h" if type_ == "string" else "i", text, run)
        self.source.emit(f"{run.append}({text})")

    def length(self, field: FieldSpec, code: str, of: str, run: _Run) -> None:
        if self.format.is_compact(field):
            run.write()
            function = "write_text_length" if code == "h" else "write_uvarint"
            self.source.emit(f"{run.append}({function}(len({of}) + 1))")
        else:
            run.add("", code, f"len({of})")
            run.write()

    def array(self, field: FieldSpec, value: str, run: _Run) -> None:
        if field.element == "string":
            with self.source.block(f"if {value}.__class__ is str:"):
                self.source.emit("raise UnwritableError('is a string, not an array of strings')")
        self.length(field, "i", value, run)
        if is_number_array(field):
            packer = self.source.constant("packer", array_packer(_code(field.element)))
            self.source.emit(f"{run.append}({packer}(len({value}))(*{value}))")
            return
        item = self.source.name("item")
        with self.source.block(f"for {item} in {value}:"), self.source.at(f"[{value} {item}]"):
            if field.struct is not None:
                cls = getattr(self.cls, field.element)
                self.struct(field.struct, item, cls, run.append)
            elif field.element in FIXED:
                run.add("", *_fixed(field.element, item))
                run.write()
            else:
                self.text(field, field.element, item, run)

    def tags(self, spec: StructSpec, obj: str, cls: type[Message], write: str) -> None:
        fields = spec.tagged_fields(self.version)
        emit, tags = self.source.emit, self.source.name("tags")
        conditions = [f"{obj}.unknown_tags", *(self.is_set(f, obj, cls) for f in fields)]
        with self.source.block(f"if {' or '.join(conditions)}:"):
            emit(f"{tags} = {{}}")
            for field in fields:
                with self.source.block(f"if {self.is_set(field, obj, cls)}:"):
                    parts, payload_write = self.source.name("parts"), self.source.name("write")
                    emit(f"{parts} = []", f"{payload_write} = {parts}.append")
                    run = _Run(self.source, payload_write)
                    self.field(field, obj, run)
                    run.write()
                    emit(f"{tags}[{field.tag}] = b''.join({parts})")
            known = self.source.constant("known", frozenset(field.tag for field in fields))
            with self.source.at("unknown_tags"):
                emit(f"write_tags({write}, {tags}, {obj}.unknown_tags, {known})")
        with self.source.block("else:"):
            emit(f"{write}(b'\\0')")


def _fixed(type_: str, value: str) -> tuple[str, str]:
    return _code(type_), f"{value}.bytes" if type_ == "uuid" else value


def _code(type_: str) -> str:
    # The code "?" accepts any object, "B" only bools and integers.
    return "B" if type_ == "bool" else FIXED[type_]
