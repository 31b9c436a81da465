"""Version ranges in the notation of Kafka's schemas: `0+`, `3-5`, `4`, `none`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rollcall.protocol.errors import SchemaError

HIGHEST_VERSION = 32767
_FORM = re.compile(r"(\d+)(?:(\+)|-(\d+))?")


@dataclass(frozen=True, slots=True)
class VersionRange:
    """All versions from `lowest` to `highest` inclusive; empty if `lowest` is greater."""

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str) -> "VersionRange":
        if text.strip() == "none":
            return NO_VERSIONS
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise SchemaError(
                f"{text!r} is not a version range", hint="write it as 0+, 3-5, 4 or none"
            )
        lowest = int(match[1])
        highest = HIGHEST_VERSION if match[2] else int(match[3] or match[1])
        if not lowest <= highest <= HIGHEST_VERSION:
            raise SchemaError(
                f"the version range {text!r} is out of order or too high",
                hint=f"use ascending versions from 0 to {HIGHEST_VERSION}",
            )
        return cls(lowest, highest)

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __len__(self) -> int:
        return max(0, self.highest - self.lowest + 1)

    def __and__(self, other: "VersionRange") -> "VersionRange":
        common = VersionRange(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return common or NO_VERSIONS

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.highest == HIGHEST_VERSION:
            return f"{self.lowest}+"
        return f"{self.lowest}" if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


NO_VERSIONS = VersionRange(0, -1)
