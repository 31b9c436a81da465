"""Release numbers of Apache Kafka, and the facts known about a release line.

A release line is 3.9 or 0.10.2; its patch releases are 3.9.0, 3.9.1 and so on. Patch releases
of a line list the same API ranges, with rare exceptions (4.0.0 and 4.0.1).
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

METADATA_VERSION = "metadata.version"


class UnknownReleaseError(CatalogError, ConfigError):
    """A release that the catalog does not know."""


@dataclass(frozen=True, order=True, slots=True)
class Release:
    """A release number such as 0.10.2.1, 2.8 or 3.9.1-ccs; without a patch it names the line."""

    parts: tuple[int, ...]
    suffix: str = ""

    _PATTERN = re.compile(r"v?(\d+(?:\.\d+){1,3})(?:[-.+](\S+))?")

    @classmethod
    def parse(cls, text: str) -> Self:
        found = cls._PATTERN.fullmatch(text.strip())
        if not found:
            raise UnknownReleaseError(
                f"{text!r} is not a Kafka release", hint="use a number such as 4.0.1 or 3.9"
            )
        return cls(tuple(map(int, found[1].split("."))), found[2] or "")

    @classmethod
    def of(cls, release: str | Self) -> Self:
        return cls.parse(release) if isinstance(release, str) else release

    def __str__(self) -> str:
        return ".".join(map(str, self.parts)) + (f"-{self.suffix}" if self.suffix else "")

    def within(self, line: Release) -> bool:
        return self.parts[: len(line.parts)] == line.parts


class ApiVersionsBehavior(StrEnum):
    """How a broker reacts to an ApiVersions request."""

    CLOSES = "closes"
    """It closes the connection (0.8)."""
    IGNORES = "ignores"
    """It never sends a response (0.9)."""
    ANSWERS = "answers"
    """It sends a response (0.10 and later)."""


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The API ranges that nodes list from one patch release of a line on, by mode."""

    since: Release
    ranges: Mapping[Mode, Ranges]


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseLine:
    name: str
    default_mode: Mode
    """The mode that is meant when none is given."""
    api_versions: ApiVersionsBehavior
    patches: Mapping[Release, str]
    """Every patch release with the date of its version commit, oldest first."""
    listings: tuple[Listing, ...]
    refused: Ranges
    """Versions that are listed but refused."""
    unlisted: Ranges
    """Versions that are accepted but not listed."""
    telemetry: Ranges
    """Listed only where a client telemetry reporter is configured."""
    unstable: Mapping[Mode, Ranges]
    """Ranges that unstable.api.versions.enable changes."""
    features: Mapping[str, Range]
    """Supported feature levels of KRaft nodes."""

    @property
    def answers_api_versions(self) -> bool:
        return self.api_versions is ApiVersionsBehavior.ANSWERS

    @property
    def release(self) -> Release:
        return Release.parse(self.name)

    @property
    def ranges(self) -> Mapping[Mode, Ranges]:
        """The API ranges that nodes of the newest patch release list, by mode."""
        return self.listings[-1].ranges

    @property
    def modes(self) -> tuple[Mode, ...]:
        return tuple(self.ranges)

    @property
    def metadata_version(self) -> Range | None:
        return self.features.get(METADATA_VERSION)

    def patch(self, release: Release) -> Release:
        """The newest patch release that a number names: 3.9 is 3.9.2, and 3.9.1 is itself."""
        named = [patch for patch in self.patches if patch.within(release)]
        return max(named, default=Release(release.parts))

    def listing_at(self, release: Release) -> Listing:
        patch, first = self.patch(release), self.listings[0]
        return [listing for listing in self.listings if listing is first or listing.since <= patch][
            -1
        ]

    def patches_of(self, listing: Listing) -> tuple[Release, ...]:
        return tuple(patch for patch in self.patches if self.listing_at(patch) is listing)
