"""The words of the reports: the sentence that leads each, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rollcall.cli.terminal.text import plural
from rollcall.reports.clients import Clients
from rollcall.reports.complaints import Trouble
from rollcall.reports.impact.findings import Verdict
from rollcall.reports.impact.report import Impact
from rollcall.reports.query.basis import Basis, Limit
from rollcall.reports.starts import Restarts

OWNERS = 10
BROKERS = 20
NOBODY = {None: "no principal", "User:ANONYMOUS": "clients that do not log in"}
LIMITS = {
    Limit.RAW_SASL: "SASL without a handshake, and all that comes before authentication on a SASL "
    "listener, is never logged: clients that do nothing else are not in here.",
    Limit.INFO_ONLY: "THE INVENTORY IS INCOMPLETE: there are logs at INFO, which hold deprecated "
    "requests only (3.9.1 and later). Set kafka.request.logger to DEBUG to see every client.",
    Limit.NO_NAMES: "Some logs are of brokers before 2.5, whose lines tell no software names.",
    Limit.FORGEABLE: "Some logs are in a text form (before 2.8): whoever may connect can forge an "
    "identity in them.",
    Limit.NO_ERRORS: "Text forms hold no error codes that could be counted.",
    Limit.NO_ROLL_CALL: "No roll call was read: how many brokers there are is not known.",
    Limit.REJECTS: "Some lines could not be read: see `rollcall tables`, table rejects.",
}


def of_impact(report: Impact) -> str:
    counts, total = report.counts, len(report.clients)
    undecided = counts[Verdict.AT_RISK] + counts[Verdict.UNKNOWN]
    owners = len(report.breaking_owners)
    owned = f", {_owned(owners, report.has_owners)}" if owners else ""
    return (
        f"{counts[Verdict.BREAKS]} of {count(total, 'client')} "
        f"{'breaks' if counts[Verdict.BREAKS] == 1 else 'break'} at {report.target}{owned}; "
        f"{undecided} {'is' if undecided == 1 else 'are'} at risk or undecided; "
        f"{_rests_on(report.basis)}"
    )


def _owned(number: int, has_owners: bool) -> str:
    return f"owned by {count(number, 'team')}" if has_owners else f"of {count(number, 'principal')}"


def of_clients(report: Clients) -> str:
    libraries = ", ".join(f"{name} {count}" for name, count in list(report.software.items())[:5])
    return (
        f"{count(len(report.clients), 'client')} of {count(report.principals, 'principal')}"
        f"{f' ({libraries})' if libraries else ''}; {_rests_on(report.basis)}"
    )


def of_restarts(report: Restarts) -> str:
    if not report.brokers:
        return "no roll call was read: `rollcall pipeline brokers` brings them into the tables"
    brokers = report.brokers
    restarted = sum(1 for it in brokers if it.restarts)
    flapping = sum(1 for it in brokers if it.is_flapping)
    silent = sum(1 for it in brokers if it.start is None)
    since = report.up_together_since
    together = (
        f"all up together since {minute(since)}" if since else "not known to be all up together"
    )
    parts = [f"{restarted} of {count(len(brokers), 'broker')} restarted", together]
    parts += [f"{flapping} flapping"] if flapping else []
    parts += [f"{silent} {'tells' if silent == 1 else 'tell'} no start time"] if silent else []
    parts += [f"seen {minute(report.first)} to {minute(report.last)}"]
    return "; ".join(parts)


def on_restarts(report: Restarts) -> list[str]:
    told = [
        f"{len(wave.brokers)} brokers restarted one after another, {minute(wave.first)} to "
        f"{minute(wave.last)}: {', '.join(wave.brokers[:BROKERS])}{_more(wave.brokers, BROKERS)}"
        for wave in report.waves
    ]
    if report.fewest_up:
        few, time = report.fewest_up
        told.append(
            f"At {minute(time)} no more than {few} of {len(report.brokers)} answered together."
        )
    return told


def of_trouble(report: Trouble) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in report.counts.items())
    return (
        f"{count(report.clients, 'client')} in trouble{f' ({kinds})' if kinds else ''}; "
        f"{_rests_on(report.basis)}"
    )


def to_write_to(report: Impact) -> list[str]:
    """The owners of what is not safe, the worst first."""
    owners = []
    for owner, counts in report.by_owner.items():
        told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        owners.append(f"{NOBODY.get(owner, owner)} ({told})")
    if not owners:
        return []
    told = f"{', '.join(owners[:OWNERS])}{_more(owners, OWNERS)}."
    if report.has_owners:
        return [f"To write to: {told}"]
    return [f"By principal: {told} With --owners FILE, by the teams to write to."]


def _rests_on(basis: Basis) -> str:
    if basis.first is None:
        return "nothing was heard in this window"
    share = basis.unidentified_share
    some = basis.listed_requests or 0
    listed = f" of the {large(some)} listed" if some < basis.client_requests else ""
    return (
        f"seen {basis.first:%Y-%m-%d} to {basis.last:%Y-%m-%d} on {_brokers(basis)}, "
        f"{large(basis.requests)} requests"
        + (f", {share:.0%}{listed} unidentified" if share is not None else "")
    )


def _brokers(basis: Basis) -> str:
    noun = plural(basis.brokers_known, "broker")
    if Limit.NO_ROLL_CALL not in basis.limits:
        return f"{basis.brokers_heard} of {basis.brokers_known} {noun}"
    names = len(basis.heard)
    if names == basis.brokers_known:
        return f"{names} {noun}"
    return f"{basis.brokers_known} {noun} at least ({names} names in the logs)"


def on_basis(basis: Basis, min_days: int = 0) -> list[str]:
    """What the answer rests on, and where that is not enough."""
    hours = [it.hours for it in basis.heard]
    told = []
    if hours:
        told.append(
            f"Heard on {count(basis.days, 'day')}; of each broker {_span(hours)}; "
            f"{large(basis.lines)} {_lines(basis)} read, {large(basis.rejected)} of them rejected."
        )
    if basis.replica_requests or basis.forwarded_requests:
        told.append(
            f"Kept apart: {large(basis.replica_requests)} requests of brokers among themselves, "
            f"{large(basis.forwarded_requests)} forwarded to a controller."
        )
    if basis.days < min_days:
        told.append(
            f"TOO SHORT: {count(basis.days, 'day')} heard, {min_days} wanted (--min-days). "
            "A version that is used once a month does not show in a week."
        )
    if basis.not_heard:
        apart = list(dict.fromkeys(basis.not_heard))
        names = ", ".join(apart[:5]) + (", ..." if len(apart) > 5 else "")
        told.append(f"NOT HEARD: {count(len(basis.not_heard), 'broker')} ({names}).")
    return told + [LIMITS[limit] for limit in basis.limits]


def _lines(basis: Basis) -> str:
    """Those of roll calls are no requests, and would be missed among them."""
    return "lines" if Limit.NO_ROLL_CALL in basis.limits else "lines of logs and roll calls"


def _more(names: Sequence[str], shown: int) -> str:
    return f", and {len(names) - shown} more" if len(names) > shown else ""


def minute(time: datetime | None) -> str:
    return time.isoformat(" ", "minutes") if time else "unknown"


def large(number: int) -> str:
    """1.2 billion: what a reader takes in at a glance."""
    for limit, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if number >= limit:
            return f"{number / limit:.3g} {word}"
    return f"{number:,}"


def _span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return count(low, "hour") if low == high else f"{low:,} to {high:,} hours"


def count(number: int, noun: str) -> str:
    return f"{large(number)} {plural(number, noun)}"
