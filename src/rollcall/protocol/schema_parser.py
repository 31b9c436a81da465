"""Parses and validates the JSON of a message into a `MessageSpec`."""

import re
import struct
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.primitives import FIXED, PRIMITIVES, ZERO_UUID
from rollcall.protocol.schema import API_VERSIONS_KEY, FieldSpec, MessageSpec, StructSpec
from rollcall.protocol.versions import HIGHEST_VERSION, NO_VERSIONS, VersionRange

ALL_VERSIONS = VersionRange(0, HIGHEST_VERSION)
KINDS = (
    "request",
    "response",
    "header",
    "data",
    "metadata",
    "coordinator-key",
    "coordinator-value",
)
# Names become part of generated source, so only letters and digits are allowed.
NAME = re.compile("[A-Za-z][A-Za-z0-9]*")
RESERVED = frozenset({"unknown_tags", "replace", "defaults", "draft"})
"""Attributes of every message class."""


def parse_message(document: Mapping[str, Any]) -> MessageSpec:
    """Parse one message of a schema file; raises `SchemaError` if it is invalid."""
    return _MessageParser(document).parse()


class _MessageParser:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.name = str(document["name"])
        self.check_name(self.name, "the message")
        self.valid = self.versions(document, "validVersions", self.name)
        self.flexible = self.versions(document, "flexibleVersions", self.name, NO_VERSIONS)
        self.common: dict[str, dict[str, Any]] = {}
        for common in self.objects(document, "commonStructs", self.name):
            if common["name"] in self.common:
                raise self.invalid(self.name, f"defines the common struct {common['name']} twice")
            self.common[common["name"]] = common
        self.bodies: dict[str, object] = {self.name: document}
        self.open: list[str] = []

    def parse(self) -> MessageSpec:
        document = self.document
        spec = MessageSpec(
            name=self.name,
            versions=self.valid,
            fields=self.fields(document, self.valid, self.name),
            kind=self.kind(),
            api_key=self.api_key(),
            flexible=self.flexible & self.valid,
            deprecated=self.versions(document, "deprecatedVersions", self.name, NO_VERSIONS),
            latest_unstable=bool(document.get("latestVersionUnstable", False)),
            changes={int(v): str(text) for v, text in document.get("changes", {}).items()},
        )
        if spec.versions.highest == HIGHEST_VERSION:
            raise self.invalid(self.name, f"has the unbounded validVersions {spec.versions}")
        if spec.deprecated and spec.api_key == API_VERSIONS_KEY:
            raise SchemaError(
                f"{self.name} marks versions {spec.deprecated} as deprecated",
                hint="remove deprecatedVersions: clients learn all other versions through "
                "ApiVersions (KIP-35)",
            )
        if spec.deprecated & spec.versions != spec.deprecated:
            raise self.invalid(self.name, f"deprecates {spec.deprecated} but has {spec.versions}")
        return spec

    def versions(
        self, of: Mapping[str, Any], key: str, where: str, default: VersionRange | None = None
    ) -> VersionRange:
        if key not in of:
            if default is None:
                raise self.invalid(where, f"has no {key}")
            return default
        try:
            return VersionRange.parse(str(of[key]))
        except SchemaError as error:
            raise SchemaError(f"{key} of {where}: {error}", hint=error.hint) from None

    def kind(self) -> str:
        kind = str(self.document.get("type", "data"))
        if kind not in KINDS:
            raise self.invalid(self.name, f"has type {kind!r}, not one of {', '.join(KINDS)}")
        return kind

    def api_key(self) -> int | None:
        key = self.document.get("apiKey")
        if key is None and self.kind() not in ("request", "response"):
            return None
        if not isinstance(key, int) or key < 0:
            raise self.invalid(self.name, f"has the invalid apiKey {key!r}")
        return key

    def objects(self, of: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        """A list of named fields or structs."""
        found = of.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.invalid(where, f"has {key} that are not a list of objects")
        for item in found:
            self.check_name(item.get("name"), f"one of the {key} of {where}")
        return found

    def check_name(self, name: object, where: str) -> None:
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            raise self.invalid(where, f"has the name {name!r}, which is not letters and digits")

    def invalid(self, where: str, what: str) -> SchemaError:
        return SchemaError(f"{where} {what}", hint=f"fix the schema of {self.name}")

    def fields(
        self, of: Mapping[str, Any], within: VersionRange, where: str
    ) -> tuple[FieldSpec, ...]:
        documents = self.objects(of, "fields", where)
        parsed = tuple(self.field(document, within, where) for document in documents)
        for key in ("attribute", "tag"):
            values = [getattr(f, key) for f in parsed if getattr(f, key) is not None]
            twice = {value for value in values if values.count(value) > 1}
            if twice:
                raise self.invalid(where, f"has the {key} {min(twice)!r} twice")
        return parsed

    def field(self, document: dict[str, Any], within: VersionRange, where: str) -> FieldSpec:
        where = f"{where}.{document['name']}"
        type_ = str(document.get("type", ""))
        element = type_.removeprefix("[]")
        versions = self.versions(document, "versions", where)
        nullable = self.versions(document, "nullableVersions", where, NO_VERSIONS)
        flexible = self.versions(document, "flexibleVersions", where, ALL_VERSIONS)
        struct = None
        if element not in PRIMITIVES:
            struct = self.struct(element, document, versions & within, where)
        elif "fields" in document:
            raise self.invalid(where, f"has fields, but {type_} is not a struct")
        if nullable and type_ in FIXED:
            raise self.invalid(where, f"is nullable, but {element} cannot be null")
        if flexible != ALL_VERSIONS and type_ not in ("string", "bytes"):
            raise self.invalid(where, "has its own flexibleVersions, but is not a string or bytes")
        tag, tagged = self.tag(document, versions, where)
        spec = FieldSpec(
            name=document["name"],
            type=type_,
            versions=versions,
            nullable=nullable,
            tagged=tagged,
            tag=tag,
            default=self.default(document, struct, where),
            ignorable=bool(document.get("ignorable", False)),
            about=str(document.get("about", "")),
            deprecated=self.versions(document, "deprecatedVersions", where, NO_VERSIONS),
            flexible=None if flexible == ALL_VERSIONS else flexible,
            struct=struct,
        )
        if spec.attribute in RESERVED:
            raise self.invalid(where, f"has the reserved name {spec.attribute}")
        return spec

    def tag(
        self, document: dict[str, Any], versions: VersionRange, where: str
    ) -> tuple[int | None, VersionRange]:
        tag = self.tag_number(document, where)
        tagged = self.versions(document, "taggedVersions", where, NO_VERSIONS)
        if (tag is None) != (not tagged):
            if tag is None or "taggedVersions" not in document:
                raise self.invalid(where, "needs both tag and taggedVersions, or neither")
            tag = None  # an overlay made the field an untagged one
        if tagged & self.valid & self.flexible != tagged & self.valid:
            raise self.invalid(where, "is tagged in versions that are not flexible")
        if tagged & versions != tagged:
            raise self.invalid(where, f"is tagged in {tagged}, but exists only in {versions}")
        return tag, tagged

    def tag_number(self, document: dict[str, Any], where: str) -> int | None:
        tag = document.get("tag")
        if tag is None:
            return None
        if not str(tag).isdecimal() or int(tag) > 0x7FFFFFFF:
            raise self.invalid(where, f"has the tag {tag!r}, which is not a number of 31 bits")
        return int(tag)

    def struct(
        self, name: str, document: dict[str, Any], within: VersionRange, where: str
    ) -> StructSpec:
        body = document if "fields" in document else self.common.get(name)
        if body is None:
            known = ", ".join(sorted(PRIMITIVES))
            raise SchemaError(
                f"{where} has the undefined type {document.get('type')!r}",
                hint=f"use one of {known}, or define {name} in fields or commonStructs",
            )
        if name in self.open:
            raise self.invalid(where, f"nests {name} in {name}")
        self.check_name(name, where)
        taken = self.common if "fields" in document else {}
        if name in taken or self.bodies.setdefault(name, body) is not body:
            raise self.invalid(where, f"defines a second struct {name}")
        if not body.get("fields"):
            raise self.invalid(where, f"has the type {name}, which has no fields")
        self.open.append(name)
        fields = self.fields(body, within, where)
        self.open.pop()
        return StructSpec(name, within, fields)

    def default(self, document: dict[str, Any], struct: StructSpec | None, where: str) -> object:
        """The default value of a field; for a struct, its spec."""
        given = document.get("default")
        type_ = str(document["type"])
        if given == "null":
            if "nullableVersions" not in document:
                raise self.invalid(where, "defaults to null, but is not nullable")
            return None
        if type_.startswith("[]") or struct is not None:
            if given not in (None, ""):
                raise self.invalid(where, f"has the default {given!r}, but {type_} cannot have one")
            return () if struct is None or type_.startswith("[]") else struct
        try:
            return _default_value(type_, given)
        except (ValueError, TypeError) as error:
            raise self.invalid(where, f"has the invalid default {given!r}") from error


def _integer(given: object) -> int:
    return int(str(given), 0) if given not in (None, "") else 0


def _boolean(given: object) -> bool:
    words = {"true": True, "false": False, "none": False, "": False}
    if str(given).lower() not in words:
        raise ValueError(given)
    return words[str(given).lower()]


def _bytes(given: object) -> bytes:
    if given not in (None, ""):
        raise ValueError(given)
    return b""


_DEFAULTS: dict[str, Any] = {
    "bool": _boolean,
    **dict.fromkeys(("int8", "int16", "uint16", "int32", "uint32", "int64"), _integer),
    "float64": lambda given: float(given or 0),
    "string": lambda given: str(given or ""),
    "uuid": lambda given: UUID(str(given)) if given else ZERO_UUID,
    "bytes": _bytes,
    "records": lambda _: None,
}


def _default_value(type_: str, given: object) -> object:
    """The default of a primitive field; raises ValueError or TypeError if it is invalid."""
    value = _DEFAULTS[type_](given)
    if isinstance(value, int):
        try:
            struct.pack(f">{FIXED[type_]}", value)
        except struct.error as error:
            raise ValueError(given) from error
    return value
