"""Releases of Apache Kafka: their order, and what is known of a line of them.

A line (3.9, 0.10.2) is what an ApiVersions answer can tell; a patch release (3.9.1) seldom.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from rollcall.catalog.apis import Mode
from rollcall.catalog.loader import CatalogError
from rollcall.catalog.ranges import Range, Ranges
from rollcall.errors import ConfigError


class UnknownReleaseError(CatalogError, ConfigError):
    """A release that is not in the tables."""


@dataclass(frozen=True, order=True, slots=True)
class Release:
    """A release number such as 0.10.2.1, 2.8 or 3.9.1-ccs; without a patch it means the line."""

    parts: tuple[int, ...]
    suffix: str = ""

    _FORM = re.compile(r"v?(\d+(?:\.\d+){1,3})(?:[-.+](\S+))?")

    @classmethod
    def parse(cls, text: str) -> Self:
        found = cls._FORM.fullmatch(text.strip())
        if not found:
            raise UnknownReleaseError(
                f"{text!r} is not a release of Kafka", hint="use a form such as 4.0.1 or 3.9"
            )
        return cls(tuple(map(int, found[1].split("."))), found[2] or "")

    def __str__(self) -> str:
        return ".".join(map(str, self.parts)) + (f"-{self.suffix}" if self.suffix else "")

    def within(self, line: Release) -> bool:
        return self.parts[: len(line.parts)] == line.parts


class Asked(StrEnum):
    """What a broker does that is asked with ApiVersions."""

    CLOSES = "closes"
    IGNORES = "ignores"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """What nodes list from one patch release of a line on, per mode."""

    since: Release
    listed: Mapping[Mode, Ranges]


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseLine:
    """A release line with all that is known of it."""

    name: str
    main: Mode
    """The mode that is meant when none is named."""
    api_versions: Asked
    patches: Mapping[Release, str]
    """Every patch release with the day of its version commit, oldest first."""
    listings: tuple[Listing, ...]
    refused: Mapping[int, Range]
    """Listed, and yet refused."""
    unlisted: Mapping[int, Range]
    """Accepted, and yet not listed."""
    telemetry: Ranges
    unstable: Mapping[Mode, Ranges]
    features: Mapping[str, Range]

    @property
    def advertised(self) -> bool:
        """Whether its brokers list their APIs; none before 0.10 does."""
        return self.api_versions is Asked.ANSWERS

    @property
    def release(self) -> Release:
        return Release.parse(self.name)

    @property
    def modes(self) -> tuple[Mode, ...]:
        return tuple(self.listings[0].listed)

    def listing_at(self, release: Release) -> Listing:
        """That of the patch; of the newest patch when only the line is named."""
        if len(release.parts) == len(self.release.parts):
            return self.listings[-1]
        patch = Release(release.parts)
        return [it for it in self.listings if it.since <= patch or it is self.listings[0]][-1]

    def patches_of(self, listing: Listing) -> tuple[Release, ...]:
        return tuple(patch for patch in self.patches if self.listing_at(patch) is listing)
