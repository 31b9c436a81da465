"""Text about one client, broker or problem: software, evidence, remedies, notes."""

from __future__ import annotations

from datetime import datetime

from rollcall.catalog import Provenance, Release, Risk, RiskReason, api_name, known_libraries
from rollcall.cli.report.summary import large, minute, rounded_count, some
from rollcall.cli.terminal.text import duration, range_text
from rollcall.reports import (
    BrokerStarts,
    Client,
    ClientImpact,
    Finding,
    MaximumProvenance,
    Problem,
    ProblemKind,
    RateUnit,
    Reason,
    Remedy,
    RemedyKind,
    Verdict,
)
from rollcall.reports.restarts import UNLISTED

VERSIONS_SHOWN = 1
CANDIDATES_SHOWN = 3
PROVENANCES = {
    MaximumProvenance.LOG: "reported",
    MaximumProvenance.ROLL_CALL: "reported in a roll call",
    MaximumProvenance.CONFIGURED: "configured",
    MaximumProvenance.FLOOR: "at least",
    MaximumProvenance.UNKNOWN: "inferred",
}
REASONS = {
    Reason.REFUSED: "{accepts}; {maximum}, so the client will not use a higher version by itself",
    Reason.REFUSED_AT_BROKER_MAXIMUM: "{accepts}; {maximum}, so the client may support a higher "
    "version",
    Reason.LIBRARY_SUPPORTS_ACCEPTED: "{accepts}, and this library version supports one of these",
    Reason.SUPERSEDED: "superseded, accepted versions were used on 7 or more later days",
    Reason.ABOVE_MAXIMUM: "{accepts}; the client sends ApiVersions and will use a lower version",
    Reason.ABOVE_MAXIMUM_NOT_NEGOTIATED: "{accepts}, and the client was not observed to send "
    "ApiVersions",
    Reason.API_NOT_AVAILABLE: "{accepts} yet",
}
RISK_REASONS = {
    RiskReason.REFUSED: "which {target} refuses",
    RiskReason.NOT_LISTED: "which {target} does not list",
    RiskReason.NO_COMMON: "and has no version in common with {target}",
}


def software(client: Client) -> str:
    """Name and versions, with the provenance; or the candidates."""
    if client.software is not None:
        mark = " (inferred)" if client.software_provenance is Provenance.INFERRED else ""
        return f"{client.software} {some(client.versions, VERSIONS_SHOWN)}".strip() + mark
    candidates = list(client.name_candidates) or list(
        dict.fromkeys(
            f"{candidate.library} {candidate.version}" if candidate.version else candidate.library
            for inference in (client.inferences or {}).values()
            for candidate in inference.candidates
        )
    )
    if not candidates:
        return "unknown"
    if len(candidates) > CANDIDATES_SHOWN:
        return f"unknown ({len(candidates)} candidates)"
    return f"{' or '.join(candidates)} (inferred)"


def deciding(impact: ClientImpact) -> str:
    finding = impact.judgement.deciding
    return _api_versions(finding) if finding else ""


def evidence(finding: Finding, target: Release) -> str:
    """What was observed, and why it leads to the verdict."""
    if finding.reason is Reason.NO_EVIDENCE or finding.api_key is None:
        return "no request shows which versions the client will use"
    if finding.risk is not None:
        return _risk(finding, finding.risk, target)
    observed = [_api_versions(finding), rounded_count(finding.requests, "request")]
    if finding.first and finding.last:
        observed.append(_time_span(finding.first, finding.last))
    if finding.hosts:
        observed.append(f"from {some(finding.hosts, 1)}")
    accepts = f"{target} does not have this API"
    if finding.accepted:
        accepts = f"{target} accepts {range_text(finding.accepted)}"
    reason = REASONS[finding.reason].format(accepts=accepts, maximum=_maximum(finding))
    return f"{', '.join(observed)}: {reason}"


def _time_span(first: datetime, last: datetime) -> str:
    end = f"{last:%H:%M}" if first.date() == last.date() else minute(last)
    return f"{minute(first)} to {end}"


def _maximum(finding: Finding) -> str:
    maximum = finding.broker_maximum
    if maximum is None or maximum.version is None:
        return "the broker's maximum version is unknown"
    return f"the broker offered up to {maximum.version} ({PROVENANCES[maximum.provenance]})"


def _risk(finding: Finding, risk: Risk, target: Release) -> str:
    needs = _api_versions(finding) + (f" for {risk.operation}" if risk.operation else "")
    if finding.reason is Reason.SUPERSEDED:
        versions = ", ".join(version or "unknown" for version in finding.software_versions)
        return (
            f"version {versions} needs {needs}: superseded, other software was used on 7 or more "
            "later days"
        )
    reference = f": {risk.reference}" if risk.reference else ""
    reason = RISK_REASONS[risk.reason].format(target=target)
    return (
        f"not observed, but this library version needs {needs}, {reason} ({risk.basis}{reference})"
    )


def remedy(remedy: Remedy, client: Client) -> str:
    """An imperative; for an inferred library with the condition `if this is`."""
    text = _remedy(remedy, client)
    is_inferred = client.software is None and remedy.library is not None
    return f"if this is {_title(remedy.library)}, {text}" if is_inferred else text


def _remedy(remedy: Remedy, client: Client) -> str:
    library = _title(remedy.library)
    match remedy.kind:
        case RemedyKind.LOOK_BEHIND_PROXY:
            kind = "a suspected proxy" if remedy.suspected else "a proxy"
            return f"find the client behind {remedy.host}, {kind}"
        case RemedyKind.UPGRADE if remedy.version is not None:
            engine = f"a version with {_title(remedy.engine)} " if remedy.engine else ""
            return f"upgrade {library} to {engine}{remedy.version} or later"
        case RemedyKind.UPGRADE:
            return f"upgrade {library} (the version needed is unknown)"
        case RemedyKind.UNPIN:
            return f"remove {remedy.setting} if it is set, it pins {library} to old versions"
        case RemedyKind.REPLACE:
            return f"replace {library}, of which no version is known to work"
        case RemedyKind.OTHER_TARGET:
            return f"or upgrade the brokers to {remedy.version}, which accepts it"
        case RemedyKind.IDENTIFY:
            name = "no name" if client.software is None else f"the name {client.software}"
            return f"ask the owner for the library, the client reports {name}"
        case RemedyKind.TEST:
            return "test the client with the target"
        case RemedyKind.OBSERVE_LONGER:
            return "collect logs for longer"


def notes(impact: ClientImpact, target: Release) -> list[str]:
    """Facts that do not decide the verdict."""
    lines = [
        f"{_title(known.library)} {known.version or 'of unknown version'} is below the documented "
        f"minimum {known.minimum.version} ({known.minimum.reference}), but only accepted versions "
        "were observed"
        for known in impact.judgement.compatibilities.values()
        if known.below_minimum and known.minimum and impact.verdict is Verdict.SAFE
    ]
    return lines + [evidence(finding, target) for finding in impact.judgement.superseded]


def client_name(principal: str | None, application: str | None) -> str:
    return f"{principal or 'no principal'}, {application or 'no client id'}"


def problem_software(problem: Problem) -> str:
    versions = some(problem.versions, VERSIONS_SHOWN)
    return " ".join(filter(None, (problem.client.software, versions)))


def problem(problem: Problem) -> str:
    """What was observed."""
    host = f" from {problem.host}" if problem.host else ""
    broker = f" to {problem.broker}" if problem.broker else ""
    api = f", mostly {api_name(problem.api_key)}" if problem.api_key is not None else ""
    total = f"{large(problem.count)} in all"
    share = f"{large(problem.count)} of {large(problem.of or 0)}"
    match problem.kind, problem.unit:
        case (ProblemKind.RECONNECT_STORM, _):
            return f"{problem.rate:,.0f} connections per hour{host}{broker}, {total}"
        case (_, RateUnit.PER_HOUR):
            return f"{problem.rate:,.0f} requests per hour{host}{broker}, {total}"
        case (_, RateUnit.PER_CONNECTION):
            return f"{problem.rate:,.0f} requests per connection{host}, {total}"
        case (ProblemKind.SINGLE_REQUEST_CONNECTIONS, _):
            return f"{share} connections with one request ({problem.rate:.0%})"
        case (ProblemKind.ERRORS, _):
            return f"{share} responses with an error ({problem.rate:.1%}){api}"
        case (ProblemKind.THROTTLED, _):
            return f"{share} requests throttled ({problem.rate:.1%}){api}"
        case _:
            return f"{problem.count} versions on one day: {some(problem.versions, 8)}"


def broker_notes(broker: BrokerStarts) -> list[str]:
    lines = []
    for episode in broker.episodes:
        first, last = episode.starts[0], episode.starts[-1]
        if episode.is_flapping:
            lines.append(
                f"flapping: {len(episode.starts)} starts from {minute(first.time)} "
                f"to {minute(last.time)}"
            )
        if last.moved_from:
            lines.append(f"moved from {last.moved_from}")
        if last.is_earlier:
            lines.append("start time earlier than the previous one; check its clock")
    if broker.start and (ahead := int(broker.start.clock_ahead.total_seconds())):
        lines.append(f"clock at least {duration(ahead)} {'ahead' if ahead > 0 else 'behind'}")
    if broker.failure == UNLISTED:
        lines.append(f"down or removed, not in roll calls after {minute(broker.last_seen)}")
    elif broker.failure:
        lines.append(f"no response: {broker.failure}")
    return list(dict.fromkeys(lines))


def _api_versions(finding: Finding) -> str:
    if finding.api_key is None or finding.versions is None:
        return ""
    return f"{api_name(finding.api_key)} {range_text(finding.versions)}"


def _title(library: str | None) -> str:
    known = known_libraries().get(library or "")
    return known.title if known else library or "the library"
