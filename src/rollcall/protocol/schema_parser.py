"""From the JSON of a message to its schema.

Everything that can be wrong with a schema is found here, when it is loaded; nobody after this
module looks at JSON again.
"""

import re
from collections.abc import Mapping
from typing import Any

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.primitives import FIXED, PRIMITIVES
from rollcall.protocol.schema import API_VERSIONS_KEY, FieldSpec, MessageSpec, StructSpec
from rollcall.protocol.schema_defaults import default_value
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
# Names end up in generated source, so nothing but letters and digits is let through.
NAME = re.compile("[A-Za-z][A-Za-z0-9]*")
RESERVED = frozenset({"unknown_tags", "replace", "defaults", "draft"})
"""Attributes that every message has; see `rollcall.protocol.messages`."""


def parse_message(document: Mapping[str, Any]) -> MessageSpec:
    """One message of a schema file, checked."""
    return _MessageParser(document).parse()


class _MessageParser:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.name = str(document["name"])
        self.check_name(self.name, "the message")
        self.valid = self.versions(document, "validVersions", self.name)
        self.flexible = self.versions(document, "flexibleVersions", self.name, NO_VERSIONS)
        self.common: dict[str, dict[str, Any]] = {}
        for struct in self.objects(document, "commonStructs", self.name):
            if struct["name"] in self.common:
                raise self.wrong(self.name, f"has the common struct {struct['name']} twice")
            self.common[struct["name"]] = struct
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
            listeners=tuple(document.get("listeners", ())),
            latest_unstable=bool(document.get("latestVersionUnstable", False)),
            changes={int(v): str(text) for v, text in document.get("changes", {}).items()},
        )
        if spec.versions.highest == HIGHEST_VERSION:
            raise self.wrong(self.name, f"has the validVersions {spec.versions}, without an end")
        if spec.deprecated and spec.api_key == API_VERSIONS_KEY:
            raise SchemaError(
                f"{self.name} marks versions {spec.deprecated} as deprecated",
                hint="clients learn all other versions through it: no version of ApiVersions "
                "may be deprecated (KIP-35)",
            )
        if spec.deprecated & spec.versions != spec.deprecated:
            raise self.wrong(self.name, f"deprecates {spec.deprecated} but has {spec.versions}")
        return spec

    def versions(
        self, of: Mapping[str, Any], key: str, where: str, default: VersionRange | None = None
    ) -> VersionRange:
        if key not in of:
            if default is None:
                raise self.wrong(where, f"has no {key}")
            return default
        try:
            return VersionRange.parse(str(of[key]))
        except SchemaError as error:
            raise SchemaError(f"{key} of {where}: {error}", hint=error.hint) from None

    def kind(self) -> str:
        kind = str(self.document.get("type", "data"))
        if kind not in KINDS:
            raise self.wrong(self.name, f"is of the type {kind!r}, not one of {', '.join(KINDS)}")
        return kind

    def api_key(self) -> int | None:
        key = self.document.get("apiKey")
        if key is None and self.kind() not in ("request", "response"):
            return None
        if not isinstance(key, int) or key < 0:
            raise self.wrong(self.name, f"has the apiKey {key!r}, which is no number of an API")
        return key

    def objects(self, of: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        """A list of fields or structs, each with a name."""
        found = of.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.wrong(where, f"has {key} that are not a list of objects")
        for item in found:
            self.check_name(item.get("name"), f"one of the {key} of {where}")
        return found

    def check_name(self, name: object, where: str) -> None:
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            raise self.wrong(where, f"has the name {name!r}, not one of letters and digits")

    def wrong(self, where: str, what: str) -> SchemaError:
        return SchemaError(f"{where} {what}", hint=f"correct the schema of {self.name}")

    def fields(
        self, of: Mapping[str, Any], within: VersionRange, where: str
    ) -> tuple[FieldSpec, ...]:
        documents = self.objects(of, "fields", where)
        parsed = tuple(self.field(document, within, where) for document in documents)
        for trait in ("attribute", "tag"):
            values = [getattr(f, trait) for f in parsed if getattr(f, trait) is not None]
            twice = {value for value in values if values.count(value) > 1}
            if twice:
                raise self.wrong(where, f"has the {trait} {min(twice)!r} twice")
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
            raise self.wrong(where, f"has fields, but the type {type_}")
        if nullable and type_ in FIXED:
            raise self.wrong(where, f"is nullable, but {element} has no null")
        if flexible != ALL_VERSIONS and type_ not in ("string", "bytes"):
            raise self.wrong(where, "has flexibleVersions of its own, but is no string or bytes")
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
            map_key=bool(document.get("mapKey", False)),
            entity_type=document.get("entityType"),
            about=str(document.get("about", "")),
            deprecated=self.versions(document, "deprecatedVersions", where, NO_VERSIONS),
            flexible=None if flexible == ALL_VERSIONS else flexible,
            struct=struct,
        )
        if spec.attribute in RESERVED:
            raise self.wrong(where, f"would hide {spec.attribute}, which every message has")
        return spec

    def tag(
        self, document: dict[str, Any], versions: VersionRange, where: str
    ) -> tuple[int | None, VersionRange]:
        tag = self.tag_number(document, where)
        tagged = self.versions(document, "taggedVersions", where, NO_VERSIONS)
        if (tag is None) != (not tagged):
            if tag is None or "taggedVersions" not in document:
                raise self.wrong(where, "needs both tag and taggedVersions, or neither")
            tag = None  # an overlay made the field an ordinary one
        if tagged & self.valid & self.flexible != tagged & self.valid:
            raise self.wrong(where, "is tagged in versions that are not flexible")
        if tagged & versions != tagged:
            raise self.wrong(where, f"is tagged in {tagged}, but there in {versions} only")
        return tag, tagged

    def tag_number(self, document: dict[str, Any], where: str) -> int | None:
        tag = document.get("tag")
        if tag is None:
            return None
        if not str(tag).isdecimal() or int(tag) > 0x7FFFFFFF:
            raise self.wrong(where, f"has the tag {tag!r}, which is not a number of 31 bits")
        return int(tag)

    def struct(
        self, name: str, document: dict[str, Any], within: VersionRange, where: str
    ) -> StructSpec:
        body = document if "fields" in document else self.common.get(name)
        if body is None:
            known = ", ".join(sorted(PRIMITIVES))
            raise SchemaError(
                f"{where} has the type {document.get('type')!r}, which nobody defines",
                hint=f"use one of {known}, or define {name} in fields or commonStructs",
            )
        if name in self.open:
            raise self.wrong(where, f"holds {name} inside of {name}")
        self.check_name(name, where)
        taken = self.common if "fields" in document else {}
        if name in taken or self.bodies.setdefault(name, body) is not body:
            raise self.wrong(where, f"gives the name {name} to a second struct")
        if not body.get("fields"):
            raise self.wrong(where, f"is of the type {name}, which has no fields")
        self.open.append(name)
        fields = self.fields(body, within, where)
        self.open.pop()
        return StructSpec(name, within, fields)

    def default(self, document: dict[str, Any], struct: StructSpec | None, where: str) -> object:
        """The value of a field that is not there; a struct's own default is `None` here."""
        given = document.get("default")
        type_ = str(document["type"])
        if given == "null":
            if "nullableVersions" not in document:
                raise self.wrong(where, "defaults to null, but is never nullable")
            return None
        if type_.startswith("[]") or struct is not None:
            if given not in (None, ""):
                raise self.wrong(where, f"has the default {given!r}, but is no primitive")
            return () if struct is None or type_.startswith("[]") else struct
        try:
            return default_value(type_, given)
        except (ValueError, TypeError) as error:
            raise self.wrong(where, f"has the default {given!r}, which is no {type_}") from error
