"""The words for one client, broker or complaint: what was seen, why it matters, what to do."""

from __future__ import annotations

from rollcall.catalog import Provenance, Risk, RiskReason, api_name, known_libraries
from rollcall.cli.report.summary import count, large, minute
from rollcall.cli.terminal.text import duration
from rollcall.reports.complaints import Complaint, Kind, Unit
from rollcall.reports.impact.broker_limits import Origin
from rollcall.reports.impact.findings import Finding, Verdict, Why
from rollcall.reports.impact.remedies import Remedy, Step
from rollcall.reports.impact.report import ClientImpact
from rollcall.reports.starts import UNLISTED, BrokerStarts
from rollcall.reports.values import Client

ORIGINS = {
    Origin.LOG: "as it told in the log",
    Origin.ROLL_CALL: "as a roll call saw",
    Origin.CONFIGURED: "by the release given",
    Origin.FLOOR: "at least",
    Origin.NONE: "at a guess",
}

WHY = {
    Why.REFUSED: "{accepts}; {top}, so it will not choose a higher one by itself",
    Why.REFUSED_AT_MAXIMUM: "{accepts}; {top}: whether the client has higher ones did not show",
    Why.KNOWN_TO_HAVE: "{accepts}, and this library version has one of those",
    Why.NO_LONGER_SEEN: "no longer seen: accepted ones on 7 later days or more",
    Why.ABOVE: "{accepts}; it asks first, so it will use a lower one",
    Why.ABOVE_UNASKED: "{accepts}, and it was not seen to ask first",
    Why.NOT_THERE: "{accepts} yet",
    Why.ACCEPTED: "{accepts}",
}


def software(client: Client) -> str:
    """What it is, and how that is known."""
    told = client.versions
    versions = ", ".join(told[:4]) + (", ..." if len(told) > 4 else "")
    if client.software is not None:
        mark = " (inferred in part)" if client.inferred_requests else ""
        mark = " (inferred)" if client.named is Provenance.INFERRED else mark
        return f"{client.software} {versions}".strip() + mark
    if client.other_names:
        return f"one of {', '.join(client.other_names)} (inferred)"
    found = dict.fromkeys(
        f"{it.library} {it.version}" if it.version else it.library
        for inference in (client.inferences or {}).values()
        for it in inference.candidates
    )
    if not found:
        return "cannot tell"
    return f"{' or '.join(found)} (inferred)"


def deciding(it: ClientImpact) -> str:
    found = it.judgement.deciding
    if found is None or found.api_key is None:
        return ""
    return f"{api_name(found.api_key)} {_versions(found)}"


def evidence(it: Finding) -> str:
    """Why, in a sentence."""
    if it.why is Why.NOTHING_SEEN or it.api_key is None:
        return "nothing was seen that says which versions it will use"
    if it.risk is not None:
        return _risk(it, it.risk)
    seen = f"{api_name(it.api_key)} {_versions(it)}, {count(it.requests, 'request')}"
    seen += f" from {minute(it.first)} to {minute(it.last)}" if it.first else ""
    if it.hosts:
        seen += f" on {', '.join(it.hosts[:5])}{', ...' if len(it.hosts) > 5 else ''}"
    accepts = "the target does not have it"
    if it.accepted:
        accepts = f"the target accepts {it.accepted.low} to {it.accepted.high}"
    return f"{seen}: {WHY[it.why].format(accepts=accepts, top=_top(it))}"


def _top(it: Finding) -> str:
    if it.ceiling is None or it.ceiling.maximum is None:
        return "how much the broker had is not known"
    return f"the broker had up to {it.ceiling.maximum} ({ORIGINS[it.ceiling.origin]})"


def _risk(it: Finding, risk: Risk) -> str:
    lacks = {
        RiskReason.REFUSED: "which the target refuses",
        RiskReason.NOT_LISTED: "to be listed, which the target does not",
        RiskReason.NO_COMMON: "and has no version in common with the target",
    }
    work = f" for {risk.operation}" if risk.operation else ""
    if it.why is Why.NO_LONGER_SEEN:
        told = ", ".join(each or "the nameless one" for each in it.software_versions)
        return (
            f"{told} needs {api_name(risk.api_key)} {_versions(it)}{work}, and is no longer seen: "
            "other software on 7 later days or more"
        )
    return (
        f"not seen in the window, but this library version needs "
        f"{api_name(risk.api_key)} {_versions(it)}{work}, {lacks[risk.reason]}"
        f" ({risk.basis}{f': {risk.reference}' if risk.reference else ''})"
    )


def remedy(it: Remedy, client: Client) -> str:
    library = _title(it.library)
    match it.step:
        case Step.LOOK_BEHIND_PROXY:
            kind = "a suspected proxy" if it.suspected else "a proxy"
            return f"look behind {it.host}, {kind}: its clients share that address"
        case Step.UPGRADE if it.version is not None:
            inside = f"one with {_title(it.engine)} " if it.engine else ""
            return f"upgrade {library} to {inside}{it.version} or later"
        case Step.UPGRADE:
            return f"upgrade {library}; which version is enough is not known"
        case Step.UNPIN:
            return (
                f"lift {it.setting} if it is set: a newer {library} is not enough while that "
                "setting holds its versions down"
            )
        case Step.REPLACE:
            return f"replace {library}: no version of it is known to work"
        case Step.OTHER_TARGET:
            return f"or upgrade the brokers to {it.version}, which accepts it"
        case Step.FIND_OUT:
            told = "no name" if client.software is None else f"the name {client.software}"
            return f"ask its owner which library it is: it told {told}"
        case Step.TEST:
            return "try it against the target before the upgrade"
        case Step.WATCH:
            return "watch it for longer"


def notes(it: ClientImpact) -> list[str]:
    """What does not decide, and is good to know."""
    told = [
        f"{_title(look.library)} {look.version or 'that tells no name'} is below the minimum "
        f"{look.minimum.version} ({look.minimum.reference}); what was seen outranks that"
        for look in it.judgement.compatibilities.values()
        if look.below_minimum and look.minimum and it.verdict is Verdict.SAFE
    ]
    return told + [evidence(found) for found in it.judgement.no_longer_seen]


def complaint(it: Complaint) -> str:
    at = f" at {it.broker}" if it.broker else ""
    of = f" from {it.host}" if it.host else ""
    api = f", most of them {api_name(it.api_key)}" if it.api_key is not None else ""
    match it.kind, it.unit:
        case (Kind.RECONNECTS, _):
            return f"{it.rate:,.0f} connections per hour{of}{at}, {large(it.count)} in all"
        case (_, Unit.PER_HOUR):
            return f"{it.rate:,.0f} requests per hour{of}{at}, {large(it.count)} in all"
        case (_, Unit.PER_CONNECTION):
            return f"{it.rate:,.0f} requests for every connection{of}, {large(it.count)} in all"
        case (Kind.ASKS_ONCE, _):
            return (
                f"{large(it.count)} of {large(it.of or 0)} connections asked once ({it.rate:.0%})"
            )
        case (Kind.ERRORS, _):
            return (
                f"{large(it.count)} of {large(it.of or 0)} answers are errors ({it.rate:.1%}){api}"
            )
        case (Kind.THROTTLED, _):
            return (
                f"{large(it.count)} of {large(it.of or 0)} requests throttled ({it.rate:.1%}){api}"
            )
        case _:
            return f"{it.count} versions on one day: {', '.join(it.versions[:8])}"


def on_broker(it: BrokerStarts) -> list[str]:
    told = []
    for episode in it.episodes:
        first, last = episode.starts[0], episode.starts[-1]
        if episode.is_flapping:
            told.append(
                f"flapping: {len(episode.starts)} starts from {minute(first.time)} "
                f"to {minute(last.time)}"
            )
        if last.moved_from:
            told.append(f"came back on a new address, before it was {last.moved_from}")
        if last.is_earlier:
            told.append("its start time is earlier than the one before: look at its clock")
    if it.episodes and (off := int(it.episodes[-1].starts[-1].clock_off.total_seconds())):
        told.append(f"its clock is {'ahead' if off > 0 else 'behind'} by {duration(off)} at least")
    if it.failure == UNLISTED:
        told.append(f"down or gone: no roll call names it after {minute(it.last_seen)}")
    elif it.failure:
        told.append(f"did not answer: {it.failure}")
    return list(dict.fromkeys(told))


def _versions(it: Finding) -> str:
    if it.versions is None:
        return ""
    low, high = it.versions
    return str(low) if low == high else f"{low} to {high}"


def _title(library: str | None) -> str:
    row = known_libraries().get(library or "")
    return row.title if row else library or "the library"
