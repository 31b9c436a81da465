"""Random messages from schemas, by a seeded generator or by Hypothesis.

`Chance` uses a seeded random generator, `Drawn` uses Hypothesis, which can shrink failures. Long
arrays repeat two elements and long strings two characters, because only the length matters.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import UUID

from hypothesis import strategies as st

from rollcall.protocol.dialects import DIALECT_NAMES, Dialect, dialect
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import FieldSpec, StructSpec

T = TypeVar("T")

SMALL = (0, 1, 2)
EDGES = (126, 127, 128, 300)
"""Around 127, where a compact length needs a second byte."""
HUGE = (16382, 16383, 16384)
"""Around 16383, where a compact length needs a third byte."""

RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
LETTERS = ("a", "Z", "-", " ", "\0", "é", "€", "\U0001f980")


class Choices(Protocol):
    def pick(self, options: Sequence[T]) -> T: ...
    def integer(self, lowest: int, highest: int) -> int: ...


@dataclass(frozen=True)
class Chance:
    generator: random.Random

    @classmethod
    def seeded(cls, seed: object) -> "Chance":
        return cls(random.Random(str(seed)))

    def pick(self, options: Sequence[T]) -> T:
        return self.generator.choice(options)

    def integer(self, lowest: int, highest: int) -> int:
        edges = (lowest, highest, 0, 1) if lowest <= 0 else (lowest, highest)
        if self.generator.random() < 0.3:
            return self.generator.choice(edges)
        return self.generator.randint(lowest, highest)


@dataclass(frozen=True)
class Drawn:
    draw: Callable[[st.SearchStrategy[Any]], Any]

    def pick(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def integer(self, lowest: int, highest: int) -> int:
        return self.draw(st.integers(lowest, highest))


@dataclass(frozen=True)
class Maker:
    """Makes random messages of one version and dialect."""

    choices: Choices
    dialect: Dialect
    version: int
    lengths: Sequence[int] = SMALL
    unknown_tags: bool = True
    budget: int = 20_000
    """Maximum number of elements in total, and maximum length of a string."""
    special: Callable[[FieldSpec, Choices], object] | None = None
    """Values of fields that another codec restricts; NotImplemented for all others."""

    def message(self, name: str) -> Message:
        spec, cls = self.dialect.spec(name), self.dialect.message_class(name)
        flexible = self.version in spec.flexible
        return self._struct(spec, cls, cls, flexible, self.budget)

    def _struct(
        self, spec: StructSpec, cls: type[Message], root: type[Message], flexible: bool, budget: int
    ) -> Message:
        fields = [*spec.plain_fields(self.version), *spec.tagged_fields(self.version)]
        values = {f.attribute: self._field(f, root, flexible, budget) for f in fields}
        if flexible and self.unknown_tags:
            values["unknown_tags"] = self._unknown_tags(spec)
        return cls(**values)

    def _unknown_tags(self, spec: StructSpec) -> tuple[tuple[int, bytes], ...]:
        known = {f.tag for f in spec.fields}
        candidates = [t for t in (0, 3, 127, 128, 88500, 2**31 - 1) if t not in known]
        tags = sorted({self.choices.pick(candidates) for _ in range(self.choices.pick(SMALL))})
        return tuple((tag, self._bytes(self.choices.pick((0, 1, 130)))) for tag in tags)

    def _field(self, field: FieldSpec, root: type[Message], flexible: bool, budget: int) -> Any:
        special = self.special(field, self.choices) if self.special else NotImplemented
        if special is not NotImplemented:
            return special
        if self.version in field.nullable and self.choices.pick((False, False, True)):
            return None
        if field.is_array:
            return self._array(field, root, flexible, budget)
        return self._value(field, root, flexible, budget)

    def _array(self, field: FieldSpec, root: type[Message], flexible: bool, budget: int) -> Any:
        length = self._length(budget)
        element_budget = budget // max(1, length)
        values = [self._value(field, root, flexible, element_budget) for _ in range(min(2, length))]
        return tuple(values[i % 2] for i in range(length))

    def _value(self, field: FieldSpec, root: type[Message], flexible: bool, budget: int) -> Any:
        if field.struct is not None:
            return self._struct(field.struct, getattr(root, field.element), root, flexible, budget)
        return self.primitive(field.element, budget)

    def primitive(self, type_: str, budget: int) -> Any:
        if type_ in RANGES:
            return self.choices.integer(*RANGES[type_])
        if type_ == "bool":
            return self.choices.pick((False, True))
        if type_ == "float64":
            return self.choices.pick((0.0, -1.5, 1e300, float("inf")))
        if type_ == "uuid":
            return UUID(int=self.choices.integer(0, 2**128 - 1))
        if type_ == "string":
            return self._text(self._length(budget))
        return self._bytes(self._length(budget))

    def _length(self, budget: int) -> int:
        return self.choices.pick([n for n in self.lengths if n <= budget] or [0])

    def _text(self, length: int) -> str:
        if not length:
            return ""
        last = self.choices.pick(LETTERS)
        size = len(last.encode())
        return "x" * (length - size) + last if size <= length else "x" * length

    def _bytes(self, length: int) -> bytes:
        if not length:
            return b""
        return bytes([self.choices.pick((0, 1, 127, 255))]) + b"\x80" * (length - 1)


@st.composite
def messages(
    draw: Any, dialect_: Dialect, name: str, version: int, lengths: Sequence[int] = SMALL
) -> Message:
    return Maker(Drawn(draw), dialect_, version, lengths).message(name)


Case = tuple[str, str, int]


def every_case(names: Sequence[str] = DIALECT_NAMES) -> Iterator[Case]:
    """Every (dialect, message, version)."""
    for name in names:
        for spec in dialect(name).messages.values():
            for version in spec.versions:
                yield name, spec.name, version


def case_id(case: object) -> str | None:
    return "-".join(map(str, case)) if isinstance(case, tuple) else None


def full_message(dialect_: Dialect, name: str, version: int, seed: object = 0) -> Message:
    """A small message with a value in every field: no nulls, no empty arrays, all tags."""
    return _Full(Chance.seeded((name, version, seed)), dialect_, version, (1, 2)).message(name)


class _Full(Maker):
    def _field(self, field: FieldSpec, root: type[Message], flexible: bool, budget: int) -> Any:
        one = self._array if field.is_array else self._value
        return one(field, root, flexible, budget)
