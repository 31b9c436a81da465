"""Messages as text, in the two formats of Kafka's request log.

JSON since 2.8 (KIP-673): the fields of the version in camel case; tagged fields only if they are
not at their default; bytes as base64, UUIDs in 22 characters, of records only the size.

Structs before 2.8: `{topic_name=orders,partitions=[{index=0}],_tagged_fields={}}`, in snake case.
Kafka writes strings unescaped there. Here control characters are escaped, so that a client id or
topic name cannot forge log lines; of records only the size is written.

The functions that render a message and version are built once and cached.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from uuid import UUID

from rollcall.protocol.dialects import Dialect
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import FieldSpec, StructSpec, snake_case
from rollcall.text import safe_text

Render = Callable[[Any], Any]


def json_form(message: Message, dialect: Dialect, name: str, version: int) -> dict[str, Any]:
    """The message in the format of Kafka's request log, for `json.dumps`."""
    form: dict[str, Any] = _json_of(dialect, name, version)(message)
    return form


def struct_form(message: Message, dialect: Dialect, name: str, version: int) -> str:
    """The message in the format of Kafka's request log before 2.8."""
    return str(_struct_of(dialect, name, version)(message))


def uuid_text(value: UUID) -> str:
    """A UUID as Kafka prints it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def _defaults(root: type[Message], spec: StructSpec) -> Mapping[str, object]:
    """Defaults of a message or of a struct nested in it."""
    found: type[Message] = getattr(root, spec.name, root)
    return found.defaults


@cache
def _json_of(dialect: Dialect, name: str, version: int) -> Render:
    spec = dialect.spec(name)
    return _json_struct(spec, version, dialect.message_class(name))


def _json_struct(spec: StructSpec, version: int, root: type[Message]) -> Render:
    defaults = _defaults(root, spec)
    fields = [
        (f.attribute, _json_name(f), _json_value(f, version, root), version in f.tagged)
        for f in spec.fields
        if version in f.versions
    ]

    def render(message: Message) -> dict[str, Any]:
        form = {}
        for attribute, name, value_of, tagged in fields:
            value = getattr(message, attribute)
            if tagged and value == defaults[attribute]:
                continue
            form[name] = None if value is None else value_of(value)
        return form

    return render


def _json_name(field: FieldSpec) -> str:
    name = field.name[:1].lower() + field.name[1:]
    return f"{name}SizeInBytes" if field.element == "records" else name


def _json_value(field: FieldSpec, version: int, root: type[Message]) -> Render:
    one: Render = _JSON_VALUES.get(field.element, _unchanged)
    if field.struct is not None:
        one = _json_struct(field.struct, version, root)
    return _all(one) if field.is_array else one


def _all(one: Render) -> Render:
    return lambda values: [None if value is None else one(value) for value in values]


def _unchanged(value: object) -> object:
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
    return _text_struct(spec, version, dialect.message_class(name), flexible)


def _text_struct(spec: StructSpec, version: int, root: type[Message], flexible: bool) -> Render:
    defaults = _defaults(root, spec)

    def plan(field: FieldSpec) -> tuple[str, str, Render]:
        return field.attribute, _text_name(field), _text_value(field, version, root, flexible)

    plain = [plan(f) for f in spec.plain_fields(version)]
    tagged = [(*plan(f), f.tag) for f in spec.tagged_fields(version)]

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


def _text_value(field: FieldSpec, version: int, root: type[Message], flexible: bool) -> Render:
    one: Render = _TEXT_VALUES.get(field.element, str)
    if field.struct is not None:
        one = _text_struct(field.struct, version, root, flexible)
    if not field.is_array:
        return one
    return lambda values: f"[{','.join('null' if v is None else one(v) for v in values)}]"


_TEXT_VALUES: dict[str, Render] = {
    "bool": lambda value: "true" if value else "false",
    "string": safe_text,
    "uuid": uuid_text,
    "bytes": lambda value: f"java.nio.HeapByteBuffer[pos=0 lim={len(value)} cap={len(value)}]",
    "records": lambda value: str(len(value)),
}
