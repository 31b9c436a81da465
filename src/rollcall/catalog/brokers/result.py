"""Values of a broker identification: what was observed, and the inferred release with evidence.

They contain no text for users; `cli` and `web` render them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.fingerprints import BrokerCondition
from rollcall.catalog.brokers.other_products import OtherProduct
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Difference, Range, Ranges
from rollcall.catalog.releases.release import METADATA_VERSION, Release


@dataclass(frozen=True, slots=True)
class ObservedBroker:
    """The parts of an ApiVersions response that identify a broker."""

    ranges: Ranges
    supported_features: Mapping[str, Range] = field(default_factory=dict)
    finalized_level: int = 0
    """The finalized metadata.version of the cluster; 0 if not reported."""
    error_code: int = 0

    @property
    def metadata_version(self) -> Range | None:
        return self.supported_features.get(METADATA_VERSION)


class BrokerKind(StrEnum):
    APACHE = "apache"
    """Apache Kafka, one of the candidate lines."""
    NEWER = "newer"
    """Apache Kafka, newer than the newest line in the catalog."""
    OTHER = "other"
    """Not Apache Kafka."""
    UNKNOWN = "unknown"


class EvidenceKind(StrEnum):
    """What an inference is based on."""

    API_RANGES = "api-ranges"
    """The list of API ranges."""
    METADATA_VERSION = "metadata-version"
    """The supported metadata.version."""
    FINALIZED_LEVEL = "finalized-level"
    """The finalized metadata.version, which every broker of the cluster supports."""
    INTER_BROKER_APIS = "inter-broker-apis"
    """The inter-broker APIs, which the lookup does not compare."""
    ERROR_RESPONSE = "error-response"
    """The error code and contents of an error response."""
    NO_RESPONSE = "no-response"
    """No response to ApiVersions."""
    UNKNOWN_API = "unknown-api"
    """An API key that no release has."""
    ABOVE_NEWEST_RELEASE = "above-newest-release"
    """A version above the maximum of the newest release."""
    SUBSET_OF_RELEASE = "subset-of-release"
    """A list that a release contains, with parts missing."""
    UNKNOWN_COMBINATION = "unknown-combination"
    """A combination of versions that no release has."""
    PRODUCT_FINGERPRINT = "product-fingerprint"
    """The fingerprint of a product other than Apache Kafka."""


@dataclass(frozen=True, slots=True)
class Evidence:
    kind: EvidenceKind
    api_key: int | None = None
    observed: Range | None = None
    expected: Range | None = None


@dataclass(frozen=True, slots=True)
class LineCandidate:
    """A release line that matches, with its matching patch releases."""

    line: str
    mode: Mode | None
    patches: tuple[Release, ...]
    conditions: tuple[BrokerCondition, ...] = ()
    controllers: tuple[str, ...] = ()
    """Lines of the active controller that explain the list."""
    inter_broker_differences: tuple[Difference, ...] = ()
    """Differences in inter-broker APIs, which a proxy may hide."""


@dataclass(frozen=True, slots=True)
class ClosestRelease:
    """The closest release that is not a candidate, and how it differs."""

    line: str
    mode: Mode
    differences: tuple[Difference, ...]
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class ReleaseInference:
    kind: BrokerKind
    provenance: Provenance
    candidates: tuple[LineCandidate, ...] = ()
    other_products: tuple[OtherProduct, ...] = ()
    newer_than: str | None = None
    containing_lines: tuple[str, ...] = ()
    """Lines that contain everything listed: the broker may be one of them behind a proxy."""
    evidence: tuple[Evidence, ...] = ()
    closest: ClosestRelease | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(candidate.line for candidate in self.candidates))

    @property
    def line(self) -> str | None:
        """The line, if there is only one candidate line."""
        return self.lines[0] if len(self.lines) == 1 else None

    @property
    def mode(self) -> Mode | None:
        """The mode, if all candidates have the same."""
        modes = {candidate.mode for candidate in self.candidates}
        return modes.pop() if len(modes) == 1 else None


UNKNOWN_RELEASE = ReleaseInference(BrokerKind.UNKNOWN, Provenance.MISSING)


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """Name and version exactly as reported or configured, never inferred (885.3)."""

    provenance: Provenance
    name: str | None = None
    version: str | None = None
    inference: ReleaseInference | None = None
    """The inferred release, also next to a reported one: the two may disagree."""
