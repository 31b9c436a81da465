"""Schemas of messages: their fields and in which versions each field exists.

Immutable; `schema_parser` makes and validates them.
"""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rollcall.protocol.versions import NO_VERSIONS, VersionRange

API_VERSIONS_KEY = 18


@dataclass(frozen=True)
class FieldSpec:
    """A field: its type, and the versions in which it exists, is nullable, tagged or deprecated."""

    name: str
    type: str
    versions: VersionRange
    nullable: VersionRange = NO_VERSIONS
    tagged: VersionRange = NO_VERSIONS
    tag: int | None = None
    default: object = None
    ignorable: bool = False
    about: str = ""
    deprecated: VersionRange = NO_VERSIONS
    flexible: VersionRange | None = None
    struct: "StructSpec | None" = None

    @cached_property
    def attribute(self) -> str:
        """The Python name: `ThrottleTimeMs` becomes `throttle_time_ms`."""
        name = snake_case(self.name)
        return f"{name}_" if keyword.iskeyword(name) else name

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        """The element type of an array, otherwise the type itself."""
        return self.type.removeprefix("[]")


@dataclass(frozen=True)
class StructSpec:
    """Fields in wire order."""

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
    """A message: its top-level fields, API key and flexible versions."""

    kind: str = "data"
    api_key: int | None = None
    flexible: VersionRange = NO_VERSIONS
    deprecated: VersionRange = NO_VERSIONS
    latest_unstable: bool = False
    changes: Mapping[int, str] = field(default_factory=dict, repr=False)
    """Changes of each version as text; an extension of Kafka's format."""

    @property
    def api_name(self) -> str:
        return self.name.removesuffix("Request").removesuffix("Response")


def snake_case(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()
