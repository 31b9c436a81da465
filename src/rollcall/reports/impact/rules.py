"""The rules of `report impact`: ordered lists of functions from plain values to findings.

1. Observed versions decide. A version that the target accepts is safe for that API: a client that
   negotiates will use it or a higher one, a pinned client the same one. One refused version counts
   even next to accepted ones, because two instances may share a client id. Deprecated is not
   refused.
2. A refused version below the broker's maximum is the client's own maximum or a pin: it breaks. At
   the broker's maximum the client may support higher ones: unknown. A library version that is known
   to support accepted ones is safe, unless a setting can pin it to a lower one.
3. A refused version is superseded if the same client used accepted ones on 7 later days.
4. If nothing refused was observed, a library that is known to need a refused version for another
   operation is at risk, unless other software replaced it on 7 later days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rollcall.catalog import Acceptance, Range, Risk, RiskReason
from rollcall.reports.impact.broker_limits import BrokerMaximum
from rollcall.reports.impact.findings import Finding, Reason
from rollcall.reports.query.usage import VersionUse

API_VERSIONS = 18
SASL = frozenset({17, 36})
LISTENERS_WITHOUT_SASL = frozenset({"PLAINTEXT", "SSL"})
"""A listener with the name of a security protocol uses that protocol."""

Case = TypeVar("Case")
Rule = Callable[[Case], Finding | None]


def first_finding(rules: Sequence[Rule[Case]], case: Case) -> Finding | None:
    """The finding of the first rule that applies."""
    return next((finding for rule in rules if (finding := rule(case))), None)


# Rules for a version that a client used


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedVersion:
    """A version of an API that a client used, with the facts that decide about it."""

    use: VersionUse
    acceptance: Acceptance
    """What the target does with the version."""
    accepted: Range | None = None
    """The versions that the target accepts; None if it does not have the API."""
    negotiates: bool = True
    """Whether the client sends ApiVersions."""
    is_superseded: bool = False
    library_supports_accepted: bool = False
    broker_maximum: BrokerMaximum = BrokerMaximum()  # noqa: RUF009 - it is frozen
    hosts: tuple[str, ...] = ()

    def finding(self, reason: Reason) -> Finding:
        use = self.use
        return Finding(
            reason,
            use.api_key,
            Range(use.api_version, use.api_version),
            self.accepted,
            (use.software_version,),
            use.requests,
            use.first,
            use.last,
            self.hosts if self.acceptance.refused else (),
            self.broker_maximum if self.acceptance.refused else None,
        )


def is_uninformative(api_key: int, api_version: int, acceptance: Acceptance) -> bool:
    """Whether a version is no evidence of the versions that a client will use.

    SASL's version 0 is the fallback of every client. To ApiVersions in an unknown version the
    target responds with the versions that it knows, and the client tries again (KIP-511)."""
    if api_key == API_VERSIONS:
        return acceptance is not Acceptance.ACCEPTED
    return api_key in SASL and api_version == 0


def uninformative_version(used: UsedVersion) -> Finding | None:
    if is_uninformative(used.use.api_key, used.use.api_version, used.acceptance):
        return used.finding(Reason.UNINFORMATIVE)
    return None


def accepted_version(used: UsedVersion) -> Finding | None:
    return used.finding(Reason.ACCEPTED) if used.acceptance is Acceptance.ACCEPTED else None


def api_not_available(used: UsedVersion) -> Finding | None:
    is_later = used.acceptance is Acceptance.NOT_YET
    return used.finding(Reason.API_NOT_AVAILABLE) if is_later else None


def version_above_maximum(used: UsedVersion) -> Finding | None:
    if used.acceptance is not Acceptance.TOO_NEW:
        return None
    if used.negotiates:
        return used.finding(Reason.ABOVE_MAXIMUM)
    return used.finding(Reason.ABOVE_MAXIMUM_NOT_NEGOTIATED)


def superseded_version(used: UsedVersion) -> Finding | None:
    return used.finding(Reason.SUPERSEDED) if used.is_superseded else None


def library_supports_accepted(used: UsedVersion) -> Finding | None:
    """The client will use a version that the target accepts, as its library supports one."""
    if used.library_supports_accepted:
        return used.finding(Reason.LIBRARY_SUPPORTS_ACCEPTED)
    return None


def refused_at_broker_maximum(used: UsedVersion) -> Finding | None:
    """A refused version equal to the broker's maximum is `unknown`: the client may support more."""
    if used.broker_maximum.is_reached and used.accepted is not None:
        return used.finding(Reason.REFUSED_AT_BROKER_MAXIMUM)
    return None


def refused_version(used: UsedVersion) -> Finding | None:
    """The version is below the broker's maximum, or the target has removed the API: `breaks`."""
    return used.finding(Reason.REFUSED)


# From `superseded_version` on, the target refuses the version.
USED_VERSION_RULES: tuple[Rule[UsedVersion], ...] = (
    uninformative_version,
    accepted_version,
    api_not_available,
    version_above_maximum,
    superseded_version,
    library_supports_accepted,
    refused_at_broker_maximum,
    refused_version,
)


# Rules for a version that a library needs


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededVersion:
    """A version of an API that a library version needs and the target lacks."""

    risk: Risk
    software_version: str | None = None
    accepted: Range | None = None
    is_api_observed: bool = False
    """Whether this software version used the API in the window."""
    listeners: frozenset[str | None] = frozenset()
    is_replaced: bool = False
    """Whether other software was used on 7 later days."""

    def finding(self, reason: Reason) -> Finding:
        return Finding(
            reason,
            self.risk.api_key,
            self.risk.versions,
            self.accepted,
            (self.software_version,),
            risk=self.risk,
        )


def observed_api(needed: NeededVersion) -> Finding | None:
    """What was observed outranks what is documented, except that a version must be listed."""
    if needed.is_api_observed and needed.risk.reason is not RiskReason.NOT_LISTED:
        return needed.finding(Reason.ACCEPTED)
    return None


def sasl_on_listener_without_sasl(needed: NeededVersion) -> Finding | None:
    listeners = needed.listeners
    if needed.risk.only_with_sasl and listeners and listeners <= LISTENERS_WITHOUT_SASL:
        return needed.finding(Reason.ACCEPTED)
    return None


def replaced_software(needed: NeededVersion) -> Finding | None:
    return needed.finding(Reason.SUPERSEDED) if needed.is_replaced else None


def needed_version(needed: NeededVersion) -> Finding | None:
    return needed.finding(Reason.NEEDED_BY_LIBRARY)


EXCLUDED_RISK_RULES: tuple[Rule[NeededVersion], ...] = (observed_api, sasl_on_listener_without_sasl)
NEEDED_VERSION_RULES: tuple[Rule[NeededVersion], ...] = (replaced_software, needed_version)
