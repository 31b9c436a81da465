"""What a broker is, and where that came from: reported, configured, inferred or missing."""

from __future__ import annotations

from dataclasses import dataclass

from rollcall.catalog.brokers.result import ReleaseGuess
from rollcall.catalog.provenance import Source


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """Name and version are what the broker or a setting said, as it was said; never a guess."""

    source: Source
    name: str | None = None
    version: str | None = None
    guess: ReleaseGuess | None = None
    """What its ranges say, also where it reported: the two may disagree."""


def identify_broker(
    name: str | None = None,
    version: str | None = None,
    *,
    configured: str | None = None,
    guess: ReleaseGuess | None = None,
) -> BrokerIdentity:
    """A report comes first, then a setting, then the guess."""
    if name is not None or version is not None:
        return BrokerIdentity(Source.REPORTED, name, version, guess)
    if configured is not None:
        return BrokerIdentity(Source.CONFIGURED, None, configured, guess)
    return BrokerIdentity(guess.source if guess else Source.MISSING, guess=guess)
