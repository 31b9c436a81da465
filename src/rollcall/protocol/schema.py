"""Schemas: what a message is made of, version by version.

They are frozen, and sound when they come out of `schema_parser`.
"""

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rollcall.protocol.versions import NO_VERSIONS, VersionRange

API_VERSIONS_KEY = 18


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
