"""Messages as text, in the two forms that Kafka's request log has had.

JSON since 2.8 (KIP-673): the fields of the version, in camel case; tagged fields only when they
are not at their default; bytes as base64, a uuid as 22 characters, records as their size alone.

Structs before that: `{topic_name=orders,partitions=[{index=0}],_tagged_fields={}}`, in snake case.
Kafka writes strings raw there; here control characters are escaped, so that nobody who may choose
a client id or a topic can break a line in two. Records are their size alone here, too.

What to do with each field is settled once per message and version, as in the codec.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import UUID

from rollcall.protocol.dialects import Dialect
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import FieldSpec, StructSpec, snake_case

Render = Callable[[Any], Any]


def json_form(message: Message, dialect: Dialect, name: str, version: int) -> dict[str, Any]:
    """The message as Kafka's request log has it, ready for `json.dumps`."""
    form: dict[str, Any] = _json_of(dialect, name, version)(message)
    return form


def struct_form(message: Message, dialect: Dialect, name: str, version: int) -> str:
    """The message as Kafka's request log had it before 2.8."""
    return str(_struct_of(dialect, name, version)(message))


def one_line(text: str) -> str:
    """The text with everything escaped that could end a line or act on a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def uuid_text(value: UUID) -> str:
    """A uuid as Kafka prints it: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


class _Classes:
    """The classes of a message and of the structs inside it, which are its attributes."""

    def __init__(self, message: type[Message]) -> None:
        self._message = message

    def of(self, spec: StructSpec) -> type[Message]:
        found: type[Message] = getattr(self._message, spec.name, self._message)
        return found


@cache
def _json_of(dialect: Dialect, name: str, version: int) -> Render:
    spec = dialect.spec(name)
    return _json_struct(spec, version, _Classes(dialect.message_class(name)))


def _json_struct(spec: StructSpec, version: int, classes: _Classes) -> Render:
    defaults = classes.of(spec).defaults
    steps = [
        (f.attribute, _json_name(f), _json_value(f, version, classes), version in f.tagged)
        for f in spec.fields
        if version in f.versions
    ]

    def render(message: Message) -> dict[str, Any]:
        form = {}
        for attribute, name, value_of, tagged in steps:
            value = getattr(message, attribute)
            if tagged and value == defaults[attribute]:
                continue
            form[name] = None if value is None else value_of(value)
        return form

    return render


def _json_name(field: FieldSpec) -> str:
    name = field.name[:1].lower() + field.name[1:]
    return f"{name}SizeInBytes" if field.element == "records" else name


def _json_value(field: FieldSpec, version: int, classes: _Classes) -> Render:
    one: Render = _JSON_VALUES.get(field.element, _as_it_is)
    if field.struct is not None:
        one = _json_struct(field.struct, version, classes)
    return _all(one) if field.is_array else one


def _all(one: Render) -> Render:
    return lambda values: [None if value is None else one(value) for value in values]


def _as_it_is(value: object) -> object:
    return value


_JSON_VALUES: dict[str, Render] = {
    "uuid": uuid_text,
    "bytes": lambda value: base64.b64encode(value).decode(),
    "records": len,
}


@cache
def _struct_of(dialect: Dialect, name: str, version: int) -> Render:
    spec = dialect.spec(name)
    flexible = version in spec.flexible
    return _text_struct(spec, version, _Classes(dialect.message_class(name)), flexible)


def _text_struct(spec: StructSpec, version: int, classes: _Classes, flexible: bool) -> Render:
    defaults = classes.of(spec).defaults

    def step(field: FieldSpec) -> tuple[str, str, Render]:
        return field.attribute, _text_name(field), _text_value(field, version, classes, flexible)

    plain = [step(f) for f in spec.plain_fields(version)]
    tagged = [(*step(f), f.tag) for f in spec.tagged_fields(version)]

    def shown(value: object, value_of: Render) -> str:
        return "null" if value is None else value_of(value)

    def render(message: Message) -> str:
        parts = [f"{name}={shown(getattr(message, a), value_of)}" for a, name, value_of in plain]
        if flexible:
            tags = ", ".join(
                f"{tag}={shown(getattr(message, a), value_of)}"
                for a, _, value_of, tag in tagged
                if getattr(message, a) != defaults[a]
            )
            parts.append(f"_tagged_fields={{{tags}}}")
        return f"{{{','.join(parts)}}}"

    return render


def _text_name(field: FieldSpec) -> str:
    name = snake_case(field.name)
    return f"{name}_size_in_bytes" if field.element == "records" else name


def _text_value(field: FieldSpec, version: int, classes: _Classes, flexible: bool) -> Render:
    one: Render = _TEXT_VALUES.get(field.element, str)
    if field.struct is not None:
        one = _text_struct(field.struct, version, classes, flexible)
    if not field.is_array:
        return one
    return lambda values: f"[{','.join('null' if v is None else one(v) for v in values)}]"


_TEXT_VALUES: dict[str, Render] = {
    "bool": lambda value: "true" if value else "false",
    "string": one_line,
    "uuid": uuid_text,
    "bytes": lambda value: f"java.nio.HeapByteBuffer[pos=0 lim={len(value)} cap={len(value)}]",
    "records": lambda value: str(len(value)),
}
