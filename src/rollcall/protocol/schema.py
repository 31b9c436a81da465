"""Schemas: what a message is made of, version by version, as Kafka's JSON message format tells it.

A file holds one message (as Kafka's own files do) or a list of them (as ours do: request and
response of one API, so that a new version is an edit of one file). `//` comments are allowed.
Everything that can be wrong with a schema is found here, when it is loaded; what comes out is
frozen and sound, and nobody after this module looks at JSON again.
"""

import json
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.primitives import FIXED, PRIMITIVES, ZERO_UUID
from rollcall.protocol.versions import HIGHEST_VERSION, NO_VERSIONS, VersionRange

API_VERSIONS_KEY = 18
ALL_VERSIONS = VersionRange(0, HIGHEST_VERSION)


@dataclass(frozen=True)
class FieldSpec:
    """One field: its type and, for each of its traits, the versions that have it."""

    name: str
    type: str
    versions: VersionRange
    nullable: VersionRange = NO_VERSIONS
    tagged: VersionRange = NO_VERSIONS
    tag: int | None = None
    default: object = None
    ignorable: bool = False
    map_key: bool = False
    entity_type: str | None = None
    about: str = ""
    deprecated: VersionRange = NO_VERSIONS
    flexible: VersionRange | None = None
    struct: "StructSpec | None" = None

    @cached_property
    def attribute(self) -> str:
        """The name in Python: `ThrottleTimeMs` is `throttle_time_ms`."""
        name = snake_case(self.name)
        return f"{name}_" if keyword.iskeyword(name) else name

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        """The type of one element of an array, or the type itself."""
        return self.type.removeprefix("[]")


@dataclass(frozen=True)
class StructSpec:
    """Fields in the order of the wire."""

    name: str
    versions: VersionRange
    fields: tuple[FieldSpec, ...] = field(repr=False)

    def plain_fields(self, version: int) -> list[FieldSpec]:
        return [f for f in self.fields if version in f.versions and version not in f.tagged]

    def tagged_fields(self, version: int) -> list[FieldSpec]:
        tagged = [f for f in self.fields if version in f.versions and version in f.tagged]
        return sorted(tagged, key=lambda f: f.tag or 0)

    def absent_fields(self, version: int) -> list[FieldSpec]:
        return [f for f in self.fields if version not in f.versions]


@dataclass(frozen=True)
class MessageSpec(StructSpec):
    """A message: the fields at its top, and what Kafka says about it as a whole."""

    kind: str = "data"
    api_key: int | None = None
    flexible: VersionRange = NO_VERSIONS
    deprecated: VersionRange = NO_VERSIONS
    listeners: tuple[str, ...] = ()
    latest_unstable: bool = False
    changes: Mapping[int, str] = field(default_factory=dict, repr=False)
    """What each version brought, in words; our own attribute of the format."""

    @property
    def api_name(self) -> str:
        return self.name.removesuffix("Request").removesuffix("Response")

    def structs(self) -> Iterator[StructSpec]:
        """Every struct below the message, outermost first, each once."""
        seen: dict[str, StructSpec] = {}
        queue: list[StructSpec] = [self]
        while queue:
            for struct in (f.struct for f in queue.pop(0).fields if f.struct is not None):
                if struct.name not in seen:
                    seen[struct.name] = struct
                    queue.append(struct)
        return iter(seen.values())


def snake_case(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


def read_documents(path: Path) -> list[dict[str, Any]]:
    """The messages of one file, still as JSON."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        loaded = _first_value(_without_comments(text))
    except (OSError, ValueError) as error:
        raise SchemaError(
            f"{path.name} is not a readable schema file: {error}",
            hint="a schema is JSON in Kafka's message format; // comments are allowed",
        ) from error
    documents = loaded if isinstance(loaded, list) else [loaded]
    if not all(isinstance(document, dict) and "name" in document for document in documents):
        raise SchemaError(
            f"{path.name} does not hold messages",
            hint='write one object with a "name", or a list of such objects',
        )
    return documents


def _first_value(text: str) -> Any:
    """The JSON value of the text. Kafka's reader ignores brackets left over; one file has some."""
    value, end = json.JSONDecoder().raw_decode(text.lstrip())
    if text.lstrip()[end:].strip("]} \t\r\n"):
        raise ValueError("there is more than one value: put messages into one list")
    return value


def _without_comments(text: str) -> str:
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda m: m[1] or "", text)


def parse_message(document: Mapping[str, Any]) -> MessageSpec:
    """One message of a schema file, checked."""
    return _MessageParser(document).parse()


class _MessageParser:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.name = str(document["name"])
        self.valid = self.versions(document, "validVersions", self.name)
        self.flexible = self.versions(document, "flexibleVersions", self.name, NO_VERSIONS)
        self.common = {str(s["name"]): s for s in document.get("commonStructs", [])}
        self.open: list[str] = []

    def parse(self) -> MessageSpec:
        document = self.document
        spec = MessageSpec(
            name=self.name,
            versions=self.valid,
            fields=self.fields(document.get("fields", []), self.valid, self.name),
            kind=str(document.get("type", "data")),
            api_key=document.get("apiKey"),
            flexible=self.flexible & self.valid,
            deprecated=self.versions(document, "deprecatedVersions", self.name, NO_VERSIONS),
            listeners=tuple(document.get("listeners", ())),
            latest_unstable=bool(document.get("latestVersionUnstable", False)),
            changes={int(v): str(text) for v, text in document.get("changes", {}).items()},
        )
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
        return VersionRange.parse(str(of[key]))

    def wrong(self, where: str, what: str) -> SchemaError:
        return SchemaError(f"{where} {what}", hint=f"correct the schema of {self.name}")

    def fields(
        self, documents: list[dict[str, Any]], within: VersionRange, where: str
    ) -> tuple[FieldSpec, ...]:
        parsed = tuple(self.field(document, within, where) for document in documents)
        for trait in ("attribute", "tag"):
            values = [getattr(f, trait) for f in parsed if getattr(f, trait) is not None]
            twice = {value for value in values if values.count(value) > 1}
            if twice:
                raise self.wrong(where, f"has the {trait} {min(twice)!r} twice")
        return parsed

    def field(self, document: dict[str, Any], within: VersionRange, where: str) -> FieldSpec:
        where = f"{where}.{document.get('name', '?')}"
        type_ = str(document.get("type", ""))
        element = type_.removeprefix("[]")
        versions = self.versions(document, "versions", where)
        tagged = self.versions(document, "taggedVersions", where, NO_VERSIONS)
        nullable = self.versions(document, "nullableVersions", where, NO_VERSIONS)
        flexible = self.versions(document, "flexibleVersions", where, ALL_VERSIONS)
        struct = None
        if element not in PRIMITIVES:
            struct = self.struct(element, document, versions & within, where)
        if nullable and element in FIXED and not type_.startswith("[]"):
            raise self.wrong(where, f"is nullable, but {element} has no null")
        tag = document.get("tag")
        if (tag is None) != (not tagged):
            if tag is None or "taggedVersions" not in document:
                raise self.wrong(where, "needs both tag and taggedVersions, or neither")
            tag = None  # an overlay made the field an ordinary one
        if tagged & self.valid & self.flexible != tagged & self.valid:
            raise self.wrong(where, "is tagged in versions that are not flexible")
        return FieldSpec(
            name=str(document["name"]),
            type=type_,
            versions=versions,
            nullable=nullable,
            tagged=tagged,
            tag=None if tag is None else int(tag),
            default=self.default(document, struct, where),
            ignorable=bool(document.get("ignorable", False)),
            map_key=bool(document.get("mapKey", False)),
            entity_type=document.get("entityType"),
            about=str(document.get("about", "")),
            deprecated=self.versions(document, "deprecatedVersions", where, NO_VERSIONS),
            flexible=None if flexible == ALL_VERSIONS else flexible,
            struct=struct,
        )

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
        self.open.append(name)
        fields = self.fields(body["fields"], within, where)
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
        if type_.startswith("[]"):
            return ()
        if struct is not None:
            return struct
        try:
            return _DEFAULTS[type_](given)
        except (ValueError, TypeError) as error:
            raise self.wrong(where, f"has the default {given!r}, which is no {type_}") from error


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
    # In Kafka a records field that nobody sets is null.
    "records": lambda _: None,
}
