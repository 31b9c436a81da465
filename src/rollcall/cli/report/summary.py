"""The headline of each report, its coverage and its warnings as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rollcall.cli.terminal.text import plural
from rollcall.reports import (
    Clients,
    Coverage,
    CoverageLimit,
    Impact,
    Problems,
    Restarts,
    Verdict,
)

OWNERS_SHOWN = 10
BROKERS_SHOWN = 20
LIBRARIES_SHOWN = 5
PRINCIPAL_NAMES = {None: "no principal", "User:ANONYMOUS": "clients without authentication"}
LIMIT_WARNINGS = {
    CoverageLimit.INFO_ONLY: "some logs are at INFO and hold deprecated requests only, so clients "
    "are missing; set kafka.request.logger to DEBUG",
    CoverageLimit.NO_NAMES: "some logs are of brokers before 2.5, which do not log software names",
    CoverageLimit.FORGEABLE: "some logs are in a text format (before 2.8), in which a client can "
    "forge its identity",
    CoverageLimit.NO_ERRORS: "logs in a text format have no error codes",
    CoverageLimit.NO_ROLL_CALL: "the number of brokers is unknown; load a roll call with "
    "`rollcall pipeline brokers`",
    CoverageLimit.REJECTS: "some lines could not be parsed; see the table `rejects`",
}


def impact_headline(report: Impact) -> str:
    counts = report.counts
    breaks = counts[Verdict.BREAKS]
    open_verdicts = counts[Verdict.AT_RISK] + counts[Verdict.UNKNOWN]
    owners = len(report.breaking_owners)
    owned = (
        f" ({rounded_count(owners, 'owner' if report.has_owners else 'principal')})"
        if owners
        else ""
    )
    return (
        f"{breaks} of {rounded_count(len(report.clients), 'client')} "
        f"{'breaks' if breaks == 1 else 'break'} at {report.target}{owned}, "
        f"{open_verdicts} {'is' if open_verdicts == 1 else 'are'} at risk or unknown"
    )


def clients_headline(report: Clients) -> str:
    libraries = [f"{name} {number}" for name, number in report.software.items()]
    shown = f" ({some(libraries, LIBRARIES_SHOWN)})" if libraries else ""
    principals = rounded_count(report.principals, "principal")
    return f"{rounded_count(len(report.clients), 'client')} of {principals}{shown}"


def problems_headline(report: Problems) -> str:
    if not report.problems:
        return "No client has a problem"
    kinds = ", ".join(f"{kind} {number}" for kind, number in report.counts.items())
    has = "has" if report.clients == 1 else "have"
    return f"{rounded_count(report.clients, 'client')} {has} problems ({kinds})"


def restarts_headline(report: Restarts) -> str:
    brokers = report.brokers
    if not brokers:
        return "No roll call in this window; load roll calls with `rollcall pipeline brokers`"
    restarted = sum(1 for broker in brokers if broker.restarts)
    flapping = sum(1 for broker in brokers if broker.is_flapping)
    unknown = sum(1 for broker in brokers if broker.start is None)
    since = report.up_together_since
    parts = [f"{restarted} of {rounded_count(len(brokers), 'broker')} restarted"]
    parts += [f"all up since {minute(since)}"] if since else ["not all are known to be up"]
    parts += [f"{flapping} flapping"] if flapping else []
    parts += [f"{rounded_count(unknown, 'start time')} unknown"] if unknown else []
    return ", ".join(parts)


def owner_lines(report: Impact) -> list[str]:
    """The owners of the clients that are not safe, the worst first."""
    owners = []
    for owner, counts in report.by_owner.items():
        verdicts = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        owners.append(f"{PRINCIPAL_NAMES.get(owner, owner)} ({verdicts})")
    if not owners:
        return []
    if report.has_owners:
        return [f"By owner: {some(owners, OWNERS_SHOWN)}."]
    return [f"By principal (--owners FILE for owners): {some(owners, OWNERS_SHOWN)}."]


def restart_notes(report: Restarts) -> list[str]:
    notes = [
        f"Rolling restart of {len(rolling.brokers)} brokers from {minute(rolling.first)} to "
        f"{minute(rolling.last)}: {some(rolling.brokers, BROKERS_SHOWN)}."
        for rolling in report.rolling_restarts
    ]
    if report.fewest_up:
        few, time = report.fewest_up
        notes.append(f"At {minute(time)} only {few} of {len(report.brokers)} brokers responded.")
    return notes


def roll_call_lines(report: Restarts) -> list[str]:
    if report.first is None:
        return []
    return [f"Coverage: roll calls from {minute(report.first)} to {minute(report.last)}."]


def coverage_lines(coverage: Coverage) -> list[str]:
    """Window, brokers, requests and lines on which the report is based."""
    if coverage.first is None or coverage.last is None:
        return ["Coverage: no logs in this window."]
    hours = [broker.hours for broker in coverage.observed]
    share, listed = coverage.unidentified_share, coverage.listed_requests or 0
    of_listed = f" of {large(listed)} listed" if listed < coverage.client_requests else ""
    lines = [
        f"Coverage: {coverage.first:%Y-%m-%d} to {coverage.last:%Y-%m-%d} "
        f"({rounded_count(coverage.days, 'day')}), {_brokers(coverage)}, "
        f"{_hours(hours)} per broker, {rounded_count(coverage.requests, 'request')}"
        + (f", {share:.0%}{of_listed} unidentified." if share is not None else "."),
    ]
    files = "log" if CoverageLimit.NO_ROLL_CALL in coverage.limits else "log and roll call"
    read = f"Read: {large(coverage.lines)} {files} lines, {large(coverage.rejected)} rejected"
    if coverage.replica_requests or coverage.forwarded_requests:
        read += (
            f"; not from clients: {large(coverage.replica_requests)} replica and "
            f"{large(coverage.forwarded_requests)} forwarded requests"
        )
    never = "Never logged: requests before SASL authentication, SASL without a handshake."
    return [*lines, f"{read}.", never]


def warnings(coverage: Coverage, min_days: int = 0) -> list[str]:
    """Why the report may be incomplete, one line each."""
    lines = []
    if coverage.days < min_days:
        lines.append(
            f"only {rounded_count(coverage.days, 'day')} of logs; at least {min_days} recommended "
            "(--min-days)"
        )
    if coverage.not_observed:
        names = list(dict.fromkeys(coverage.not_observed))
        lines.append(
            f"no logs of {rounded_count(len(coverage.not_observed), 'broker')}: {some(names, 5)}"
        )
    return lines + [LIMIT_WARNINGS[limit] for limit in coverage.limits if limit in LIMIT_WARNINGS]


def _brokers(coverage: Coverage) -> str:
    noun = plural(coverage.brokers_known, "broker")
    if CoverageLimit.NO_ROLL_CALL not in coverage.limits:
        return f"{coverage.brokers_observed} of {coverage.brokers_known} {noun}"
    names = len(coverage.observed)
    if names == coverage.brokers_known:
        return f"{names} {noun}"
    return f"at least {coverage.brokers_known} {noun} ({names} names in the logs)"


def _hours(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return rounded_count(low, "hour") if low == high else f"{low:,} to {high:,} hours"


def some(names: Sequence[str], shown: int) -> str:
    """The first names and the number of the others: `a, b and 5 more`."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def minute(time: datetime | None) -> str:
    return time.isoformat(" ", "minutes") if time else "unknown"


def large(number: int) -> str:
    """A rounded number: `1.2 billion`, `12,345`."""
    for limit, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if number >= limit:
            return f"{number / limit:.3g} {word}"
    return f"{number:,}"


def rounded_count(number: int, noun: str) -> str:
    """`1 request`, `1.2 billion requests`."""
    return f"{large(number)} {plural(number, noun)}"
