"""What a judgement about a broker's release is made of; making it prose is the caller's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.fingerprints import Circumstance
from rollcall.catalog.brokers.other_products import OtherCandidate
from rollcall.catalog.provenance import Source
from rollcall.catalog.ranges import Difference, Range
from rollcall.catalog.releases.release import Release


class Verdict(StrEnum):
    APACHE = "apache"
    """Apache Kafka, of one of the candidate lines."""
    NEWER = "newer"
    """Apache Kafka, newer than the tables."""
    OTHER = "other"
    """Not Apache Kafka."""
    CANNOT_TELL = "cannot-tell"


class Sign(StrEnum):
    """What a judgement rests on."""

    LIST = "list"
    """The list of APIs."""
    METADATA_VERSION = "metadata-version"
    """The supported metadata.version."""
    FINALIZED_LEVEL = "finalized-level"
    """The finalized metadata.version, which every broker supports."""
    BROKER_KEYS = "broker-keys"
    """Keys that only brokers use, and that are otherwise left aside."""
    ERROR_ANSWER = "error-answer"
    """How the answer with an error is made."""
    NO_ANSWER = "no-answer"
    """ApiVersions is not answered."""
    UNKNOWN_KEY = "unknown-key"
    """An API that no release has."""
    BEYOND = "beyond"
    """A version beyond the newest release."""
    BELOW = "below"
    """Less than a release lists, and nothing else."""
    MIX = "mix"
    """A mix of versions that no release has."""
    MARKS = "marks"
    """The marks of another broker."""


@dataclass(frozen=True, slots=True)
class Evidence:
    sign: Sign
    api_key: int | None = None
    seen: Range | None = None
    expected: Range | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A release line that fits, and the patch releases of it that do."""

    line: str
    mode: Mode | None
    patches: tuple[Release, ...]
    circumstances: tuple[Circumstance, ...] = ()
    controllers: tuple[str, ...] = ()
    """Lines of the active controller that explain the list."""
    aside: tuple[Difference, ...] = ()
    """Keys that only brokers use and in which the list differs, as a proxy may hide them."""


@dataclass(frozen=True, slots=True)
class NextBest:
    """The closest release that is no candidate, and what speaks against it."""

    line: str
    mode: Mode
    against: tuple[Difference, ...]
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class ReleaseGuess:
    verdict: Verdict
    source: Source
    candidates: tuple[Candidate, ...] = ()
    others: tuple[OtherCandidate, ...] = ()
    newer_than: str | None = None
    behind: tuple[str, ...] = ()
    """Lines that have all it lists: one of them may stand behind a proxy."""
    evidence: tuple[Evidence, ...] = ()
    next_best: NextBest | None = None

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


NOTHING_KNOWN = ReleaseGuess(Verdict.CANNOT_TELL, Source.MISSING)
