"""Ranges of API versions, and how two lists of them compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Range(NamedTuple):
    """The lowest and the highest version, both included."""

    low: int
    high: int

    def has(self, version: int) -> bool:
        return self.low <= version <= self.high

    def covers(self, other: Range) -> bool:
        return self.low <= other.low and other.high <= self.high

    def overlap(self, other: Range) -> Range | None:
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, high) if low <= high else None


Ranges = Mapping[int, Range]


def as_ranges(pairs: Mapping[int, tuple[int, int]]) -> dict[int, Range]:
    """What a broker listed, by API key in order."""
    return {key: Range(*pairs[key]) for key in sorted(pairs)}


def intersect(lists: Iterable[Mapping[int, tuple[int, int]]]) -> dict[int, Range]:
    """What all brokers have in common; an API that one of them lacks is left out (KIP-35)."""
    every = [as_ranges(pairs) for pairs in lists]
    if not every:
        return {}
    common = every[0]
    for ranges in every[1:]:
        common = {
            key: shared
            for key, range_ in common.items()
            if key in ranges and (shared := range_.overlap(ranges[key])) is not None
        }
    return common


@dataclass(frozen=True, slots=True)
class Difference:
    """One API in which two lists differ; None where a list lacks it."""

    api_key: int
    observed: Range | None
    expected: Range | None


def differences(
    observed: Mapping[int, tuple[int, int]], expected: Mapping[int, tuple[int, int]]
) -> tuple[Difference, ...]:
    left, right = as_ranges(observed), as_ranges(expected)
    return tuple(
        Difference(key, left.get(key), right.get(key))
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )
