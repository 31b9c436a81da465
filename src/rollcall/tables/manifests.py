"""Manifests: what one batch, or one compaction, added to the tables.

A manifest is the commit. The parts it names were written before it; a part that no manifest names
is not there. A compaction names parts that hold the sums of a range of earlier numbers: who reads
leaves those out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from rollcall.tables.errors import TablesError

FOLDER = "manifests"


class Kind(StrEnum):
    BATCH = "batch"
    COMPACTION = "compaction"
    FENCE = "fence"
    """Nothing was read: the number is taken from a writer that was found dead."""


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    """Relative to the folder of the tables."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Counts:
    """lines = requests + skipped + rejected, always."""

    files: int = 0
    lines: int = 0
    requests: int = 0
    skipped: int = 0
    rejected: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = (self.files, self.lines, self.requests, self.skipped, self.rejected)
        if not all(isinstance(it, int) for it in (*numbers, *self.reasons.values())):
            raise TypeError(f"{self} counts in something else than whole numbers")

    def __add__(self, other: Counts) -> Counts:
        reasons = dict(self.reasons)
        for reason, count in other.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + count
        numbers = {
            name: getattr(self, name) + getattr(other, name)
            for name in (column.name for column in fields(self))
            if name != "reasons"
        }
        return Counts(**numbers, reasons=reasons)


@dataclass(frozen=True, slots=True)
class Manifest:
    number: int
    kind: Kind
    time_ms: int
    """When it was committed, by the writer's clock."""
    covers: tuple[int, int] | None = None
    """Numbers, first and last, whose parts are replaced by those of this manifest."""
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    """By table."""
    counts: Counts = field(default_factory=Counts)
    sources: tuple[str, ...] = ()
    """What the batch was told to read."""
    streams: Mapping[str, int] = field(default_factory=dict)
    """The last batch that is in the tables, of each stream that Spark counts."""
    folded_ms: int = 0
    """When old rows were last turned into totals."""

    def replaces(self, number: int) -> bool:
        return self.covers is not None and self.covers[0] <= number <= self.covers[1]

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode() + b"\n"


def file_name(number: int) -> str:
    return f"{FOLDER}/{number:010}.json"


def number_of(name: str) -> int | None:
    stem = name.removesuffix(".json")
    return int(stem) if stem != name and re.fullmatch(r"[0-9]{10,}", stem) else None


def parse(content: bytes, name: str = "a manifest") -> Manifest | None:
    """None when it is not complete: its writer is still at it, or died over it."""
    try:
        raw = json.loads(content)
    except ValueError:
        return None
    try:
        return _from_json(raw)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise TablesError(
            f"{name} is not what rollcall writes: {error!r}",
            hint="was the folder of tables changed by hand? restore it, or start new tables",
        ) from error


def _from_json(raw: Any) -> Manifest:
    covers = raw["covers"]
    return Manifest(
        number=raw["number"],
        kind=Kind(raw["kind"]),
        time_ms=raw["time_ms"],
        covers=(covers[0], covers[1]) if covers else None,
        parts={table: tuple(Part(**part) for part in rows) for table, rows in raw["parts"].items()},
        counts=Counts(**raw["counts"]),
        sources=tuple(raw["sources"]),
        streams=raw["streams"],
        folded_ms=int(raw.get("folded_ms", 0)),  # early ones have none
    )


def only_live(manifests: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Without those that another one replaces, in the order of numbers."""
    known = sorted(manifests, key=lambda manifest: manifest.number)
    replacing = [manifest for manifest in known if manifest.covers]
    return tuple(
        manifest
        for manifest in known
        if not any(other.replaces(manifest.number) for other in replacing)
    )
