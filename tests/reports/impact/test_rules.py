"""The rules of the impact report as tables of plain values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rollcall.catalog import Acceptance, Range, Risk, RiskReason
from rollcall.reports import BrokerMaximum, Finding, MaximumProvenance, Reason, Verdict, VersionUse
from rollcall.reports.impact.rules import (
    EXCLUDED_RISK_RULES,
    NEEDED_VERSION_RULES,
    USED_VERSION_RULES,
    NeededVersion,
    UsedVersion,
    first_finding,
)

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)
FETCH, SASL_HANDSHAKE, API_VERSIONS = 1, 17, 18
REACHED = BrokerMaximum(3, MaximumProvenance.LOG, is_reached=True)
HIGHER = BrokerMaximum(12, MaximumProvenance.LOG)


def used(
    acceptance: Acceptance, api_key: int = FETCH, version: int = 3, **facts: Any
) -> UsedVersion:
    use = VersionUse(api_key, version, "1.0", 10, NOON, NOON)
    accepted = Range(4, 17)
    return replace(UsedVersion(use=use, acceptance=acceptance, accepted=accepted), **facts)


def reason(finding: Finding | None) -> Reason | None:
    return finding.reason if finding else None


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (used(Acceptance.ACCEPTED), Reason.ACCEPTED),
        # fallback versions of every client
        (used(Acceptance.ACCEPTED, SASL_HANDSHAKE, 0), Reason.UNINFORMATIVE),
        (used(Acceptance.TOO_OLD, SASL_HANDSHAKE, 0), Reason.UNINFORMATIVE),
        (used(Acceptance.ACCEPTED, SASL_HANDSHAKE, 1), Reason.ACCEPTED),
        (used(Acceptance.TOO_NEW, API_VERSIONS, 9), Reason.UNINFORMATIVE),
        (used(Acceptance.ACCEPTED, API_VERSIONS, 3), Reason.ACCEPTED),
        # above the target
        (used(Acceptance.NOT_YET), Reason.API_NOT_AVAILABLE),
        (used(Acceptance.TOO_NEW), Reason.ABOVE_MAXIMUM),
        (used(Acceptance.TOO_NEW, negotiates=False), Reason.ABOVE_MAXIMUM_NOT_NEGOTIATED),
        # refused
        (used(Acceptance.TOO_OLD), Reason.REFUSED),
        (used(Acceptance.TOO_OLD, broker_maximum=HIGHER), Reason.REFUSED),
        (used(Acceptance.TOO_OLD, broker_maximum=REACHED), Reason.REFUSED_AT_BROKER_MAXIMUM),
        (used(Acceptance.REMOVED, accepted=None, broker_maximum=REACHED), Reason.REFUSED),
        (
            used(Acceptance.TOO_OLD, library_supports_accepted=True, broker_maximum=REACHED),
            Reason.LIBRARY_SUPPORTS_ACCEPTED,
        ),
        (
            used(Acceptance.TOO_OLD, library_supports_accepted=True, broker_maximum=HIGHER),
            Reason.LIBRARY_SUPPORTS_ACCEPTED,
        ),
        (
            used(Acceptance.TOO_OLD, is_superseded=True, library_supports_accepted=True),
            Reason.SUPERSEDED,
        ),
    ],
)
def test_the_first_rule_that_applies_decides_about_a_used_version(
    case: UsedVersion, expected: Reason
) -> None:
    assert reason(first_finding(USED_VERSION_RULES, case)) is expected


def needed(risk_reason: RiskReason = RiskReason.REFUSED, **facts: Any) -> NeededVersion:
    only_with_sasl = facts.pop("only_with_sasl", False)
    risk = Risk(FETCH, Range(0, 3), risk_reason, only_with_sasl=only_with_sasl)
    return replace(NeededVersion(risk=risk), **facts)


@pytest.mark.parametrize(
    ("case", "is_excluded"),
    [
        (needed(), False),
        (needed(is_api_observed=True), True),
        (needed(RiskReason.NO_COMMON, is_api_observed=True), True),
        # an observed version does not show whether the library also needs another one listed
        (needed(RiskReason.NOT_LISTED, is_api_observed=True), False),
        (needed(only_with_sasl=True, listeners=frozenset({"PLAINTEXT", "SSL"})), True),
        (needed(only_with_sasl=True, listeners=frozenset({"PLAINTEXT", "CLIENTS"})), False),
        (needed(only_with_sasl=True, listeners=frozenset({None})), False),
        (needed(only_with_sasl=True), False),
        (needed(listeners=frozenset({"PLAINTEXT"})), False),
    ],
)
def test_a_risk_is_excluded_by_an_observed_api_or_a_listener_without_sasl(
    case: NeededVersion, is_excluded: bool
) -> None:
    assert (first_finding(EXCLUDED_RISK_RULES, case) is not None) is is_excluded


@pytest.mark.parametrize(
    ("case", "expected"),
    [(needed(), Reason.NEEDED_BY_LIBRARY), (needed(is_replaced=True), Reason.SUPERSEDED)],
)
def test_a_needed_version_is_at_risk_unless_the_software_was_replaced(
    case: NeededVersion, expected: Reason
) -> None:
    assert reason(first_finding(NEEDED_VERSION_RULES, case)) is expected


@pytest.mark.parametrize(
    ("verdict", "reasons"),
    [
        (Verdict.BREAKS, {Reason.REFUSED}),
        (Verdict.AT_RISK, {Reason.NEEDED_BY_LIBRARY}),
        (
            Verdict.UNKNOWN,
            {
                Reason.REFUSED_AT_BROKER_MAXIMUM,
                Reason.ABOVE_MAXIMUM_NOT_NEGOTIATED,
                Reason.API_NOT_AVAILABLE,
                Reason.NO_EVIDENCE,
            },
        ),
        (
            Verdict.SAFE,
            {
                Reason.LIBRARY_SUPPORTS_ACCEPTED,
                Reason.SUPERSEDED,
                Reason.ABOVE_MAXIMUM,
                Reason.UNINFORMATIVE,
                Reason.ACCEPTED,
            },
        ),
    ],
)
def test_every_reason_has_one_verdict(verdict: Verdict, reasons: set[Reason]) -> None:
    assert {reason for reason in Reason if reason.verdict is verdict} == reasons


def test_a_finding_on_a_refused_version_has_hosts_and_broker_maximum() -> None:
    case = used(Acceptance.TOO_OLD, hosts=("10.0.0.1",), broker_maximum=HIGHER)
    finding = first_finding(USED_VERSION_RULES, case)
    assert finding == Finding(
        Reason.REFUSED,
        FETCH,
        Range(3, 3),
        Range(4, 17),
        ("1.0",),
        10,
        NOON,
        NOON,
        ("10.0.0.1",),
        HIGHER,
    )
