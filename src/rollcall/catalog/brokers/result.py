"""What a judgement about a broker's release is made of; making it prose is the caller's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.fingerprints import BrokerCondition
from rollcall.catalog.brokers.other_products import OtherProduct
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Difference, Range
from rollcall.catalog.releases.release import Release


class BrokerKind(StrEnum):
    APACHE = "apache"
    """Apache Kafka, of one of the candidate lines."""
    NEWER = "newer"
    """Apache Kafka, newer than the tables."""
    OTHER = "other"
    """Not Apache Kafka."""
    UNKNOWN = "unknown"


class EvidenceKind(StrEnum):
    """What a judgement rests on."""

    API_RANGES = "api-ranges"
    """The list of APIs."""
    METADATA_VERSION = "metadata-version"
    """The supported metadata.version."""
    FINALIZED_LEVEL = "finalized-level"
    """The finalized metadata.version, which every broker supports."""
    INTER_BROKER_APIS = "inter-broker-apis"
    """Keys that only brokers use, and that are otherwise left aside."""
    ERROR_RESPONSE = "error-response"
    """How the answer with an error is made."""
    NO_RESPONSE = "no-response"
    """ApiVersions is not answered."""
    UNKNOWN_API = "unknown-api"
    """An API that no release has."""
    ABOVE_NEWEST_RELEASE = "above-newest-release"
    """A version beyond the newest release."""
    SUBSET_OF_RELEASE = "subset-of-release"
    """Less than a release lists, and nothing else."""
    UNKNOWN_COMBINATION = "unknown-combination"
    """A mix of versions that no release has."""
    PRODUCT_FINGERPRINT = "product-fingerprint"
    """The marks of another broker."""


@dataclass(frozen=True, slots=True)
class Evidence:
    kind: EvidenceKind
    api_key: int | None = None
    observed: Range | None = None
    expected: Range | None = None


@dataclass(frozen=True, slots=True)
class LineCandidate:
    """A release line that fits, and the patch releases of it that do."""

    line: str
    mode: Mode | None
    patches: tuple[Release, ...]
    conditions: tuple[BrokerCondition, ...] = ()
    controllers: tuple[str, ...] = ()
    """Lines of the active controller that explain the list."""
    inter_broker_differences: tuple[Difference, ...] = ()
    """Keys that only brokers use and in which the list differs, as a proxy may hide them."""


@dataclass(frozen=True, slots=True)
class ClosestRelease:
    """The closest release that is no candidate, and what speaks against it."""

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
    """Lines that have all it lists: one of them may stand behind a proxy."""
    evidence: tuple[Evidence, ...] = ()
    closest: ClosestRelease | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(candidate.line for candidate in self.candidates))

    @property
    def line(self) -> str | None:
        """The line, where only one is possible."""
        return self.lines[0] if len(self.lines) == 1 else None

    @property
    def mode(self) -> Mode | None:
        modes = {candidate.mode for candidate in self.candidates}
        return modes.pop() if len(modes) == 1 else None


NOTHING_KNOWN = ReleaseInference(BrokerKind.UNKNOWN, Provenance.MISSING)
