"""What a broker is, and where that came from: reported, configured, inferred or missing."""

from __future__ import annotations

from dataclasses import dataclass

from rollcall.catalog.brokers.result import ReleaseInference
from rollcall.catalog.provenance import Provenance


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """Name and version are what the broker or a setting said, as it was said; never a inference."""

    provenance: Provenance
    name: str | None = None
    version: str | None = None
    inference: ReleaseInference | None = None
    """What its ranges say, also where it reported: the two may disagree."""


def identify_broker(
    name: str | None = None,
    version: str | None = None,
    *,
    configured: str | None = None,
    inference: ReleaseInference | None = None,
) -> BrokerIdentity:
    """A report comes first, then a setting, then the inference."""
    if name is not None or version is not None:
        return BrokerIdentity(Provenance.REPORTED, name, version, inference)
    if configured is not None:
        return BrokerIdentity(Provenance.CONFIGURED, None, configured, inference)
    return BrokerIdentity(
        inference.provenance if inference else Provenance.MISSING, inference=inference
    )
