"""How one version of a message encodes its fields: compact or not, nullable, smallest size."""

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
        """Whether the length is a varint. A field can keep its old form in a flexible version."""
        return self.flexible and (field.flexible is None or self.version in field.flexible)

    def is_nullable(self, field: FieldSpec) -> bool:
        return self.version in field.nullable

    def length_code(self, field: FieldSpec, type_: str | None = None) -> str:
        """The `struct` code of a length, or of the first byte if it is a varint."""
        if self.is_compact(field):
            return "B"
        return "h" if (type_ or field.type) == "string" else "i"

    def min_size(self, spec: StructSpec) -> int:
        """The fewest bytes that a struct can take; bounds the number of elements of an array."""
        size = 1 if self.flexible else 0
        for field in spec.plain_fields(self.version):
            if field.is_array or field.element in ("string", "bytes", "records"):
                size += size_of(self.length_code(field))
            elif field.struct is not None:
                size += 1 if self.is_nullable(field) else self.min_size(field.struct)
            else:
                size += size_of(FIXED[field.element])
        return size

    def is_small(self, spec: StructSpec) -> bool:
        """Whether a struct has only numbers of one or two bytes."""
        fields = spec.plain_fields(self.version)
        return bool(fields) and all(f.type in FIXED and size_of(FIXED[f.type]) < 3 for f in fields)


def is_fixed(field: FieldSpec) -> bool:
    """Whether the field is one value of fixed size."""
    return field.type in FIXED


def is_number_array(field: FieldSpec) -> bool:
    return field.is_array and field.element in FIXED and field.element != "uuid"
