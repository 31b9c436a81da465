"""The layout of one message in one version: what follows from the schema alone."""

from __future__ import annotations

from dataclasses import dataclass

from rollcall.protocol.primitives import FIXED, size_of
from rollcall.protocol.schema import FieldSpec, MessageSpec, StructSpec


@dataclass(frozen=True)
class WireFormat:
    version: int
    flexible: bool

    @classmethod
    def of(cls, spec: MessageSpec, version: int) -> WireFormat:
        return cls(version, version in spec.flexible)

    def is_compact(self, field: FieldSpec) -> bool:
        """Whether a length is a varint; a field may keep its old form in a flexible version."""
        return self.flexible and (field.flexible is None or self.version in field.flexible)

    def is_nullable(self, field: FieldSpec) -> bool:
        return self.version in field.nullable

    def length_code(self, field: FieldSpec, type_: str | None = None) -> str:
        """The code of a length; of a varint, that of its first byte."""
        if self.is_compact(field):
            return "B"
        return "h" if (type_ or field.type) == "string" else "i"

    def smallest(self, spec: StructSpec) -> int:
        """The fewest bytes a struct can take: what an announced count is held against."""
        size = 1 if self.flexible else 0
        for field in spec.plain_fields(self.version):
            if field.is_array or field.element in ("string", "bytes", "records"):
                size += size_of(self.length_code(field))
            elif field.struct is not None:
                size += 1 if self.is_nullable(field) else self.smallest(field.struct)
            else:
                size += size_of(FIXED[field.element])
        return size

    def is_small(self, spec: StructSpec) -> bool:
        """Nothing but numbers of one or two bytes."""
        fields = spec.plain_fields(self.version)
        return bool(fields) and all(f.type in FIXED and size_of(FIXED[f.type]) < 3 for f in fields)


def is_number(type_: str) -> bool:
    return type_ in FIXED and type_ != "uuid"
