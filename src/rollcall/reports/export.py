"""Reports as rows of plain values, for JSON, CSV and Arrow. Times are text in UTC.

The columns of each kind of row are declared with their pyarrow types, so that a table without rows
has the same schema. `[type]` is a list and a dict is a struct.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rollcall.catalog import Provenance, api_name
from rollcall.errors import RollcallError

if TYPE_CHECKING:
    from rollcall.reports.clients import Client
    from rollcall.reports.impact.findings import Finding
    from rollcall.reports.impact.remedies import Remedy
    from rollcall.reports.impact.report import ClientImpact
    from rollcall.reports.problems import Problem
    from rollcall.reports.query.coverage import Coverage
    from rollcall.reports.restarts import BrokerStarts, StartEpisode

Row = dict[str, Any]
Columns = Mapping[str, Any]

TEXT, NUMBER, REAL, BOOLEAN = "string", "int64", "float64", "bool_"
TEXTS, NUMBERS = [TEXT], [NUMBER]

_KEY = {"cluster": TEXT, "principal": TEXT, "application": TEXT, "software_name": TEXT}
_IDENTITY = {
    **_KEY,
    "software_versions": TEXTS,
    "software_provenance": TEXT,
    "inferred_requests": NUMBER,
    "library": TEXT,
    "library_provenance": TEXT,
    "candidates": TEXTS,
    "name_candidates": TEXTS,
    "hosts": TEXTS,
    "host_count": NUMBER,
    "client_ids": TEXTS,
    "client_id_count": NUMBER,
}
_APIS = [{"api": TEXT, "api_key": NUMBER, "lowest": NUMBER, "highest": NUMBER}]
CLIENT: Columns = {
    **_IDENTITY,
    "connections": NUMBER,
    "requests": NUMBER,
    "first_seen": TEXT,
    "last_seen": TEXT,
    "apis": _APIS,
}
FINDING: Columns = {
    "verdict": TEXT,
    "reason": TEXT,
    "api": TEXT,
    "api_key": NUMBER,
    "versions": NUMBERS,
    "accepted": NUMBERS,
    "software_versions": TEXTS,
    "requests": NUMBER,
    "first_seen": TEXT,
    "last_seen": TEXT,
    "hosts": TEXTS,
    "broker_maximum": NUMBER,
    "broker_maximum_provenance": TEXT,
    "operation": TEXT,
    "risk_reason": TEXT,
    "risk_basis": TEXT,
    "reference": TEXT,
}
REMEDY: Columns = {
    "kind": TEXT,
    "library": TEXT,
    "version": TEXT,
    "engine": TEXT,
    "setting": TEXT,
    "host": TEXT,
    "suspected": BOOLEAN,
}
IMPACT: Columns = {
    "verdict": TEXT,
    "owner": TEXT,
    "api": TEXT,
    "lowest_version": NUMBER,
    "highest_version": NUMBER,
    "reason": TEXT,
    **_IDENTITY,
    "requests": NUMBER,
    "apis": _APIS,
    "findings": [FINDING],
    "remedies": [REMEDY],
    "below_minimum": TEXTS,
}
EPISODE: Columns = {
    "first": TEXT,
    "last": TEXT,
    "starts": NUMBER,
    "flapping": BOOLEAN,
    "observed": TEXT,
    "moved_from": TEXT,
    "earlier_than_before": BOOLEAN,
}
BROKER: Columns = {
    "cluster": TEXT,
    "node_id": NUMBER,
    "address": TEXT,
    "software_name": TEXT,
    "software_version": TEXT,
    "software_provenance": TEXT,
    "started": TEXT,
    "clock_ahead_s": REAL,
    "restarts": NUMBER,
    "flapping": BOOLEAN,
    "failure": TEXT,
    "last_seen": TEXT,
    "episodes": [EPISODE],
}
PROBLEM: Columns = {
    "kind": TEXT,
    **_KEY,
    "software_versions": TEXTS,
    "host": TEXT,
    "broker": TEXT,
    "api": TEXT,
    "count": NUMBER,
    "of": NUMBER,
    "rate": REAL,
    "unit": TEXT,
    "limit": REAL,
}


def client_row(client: Client) -> Row:
    inferences = (client.inferences or {}).values()
    candidates = [known.library for inference in inferences for known in inference.candidates]
    provenances = {inference.provenance for inference in inferences}
    return {
        "cluster": client.cluster,
        "principal": client.principal,
        "application": client.application,
        "software_name": client.software,
        "software_versions": list(client.versions),
        "software_provenance": str(client.software_provenance),
        "inferred_requests": client.inferred_requests,
        "library": client.library,
        "library_provenance": str(
            provenances.pop() if len(provenances) == 1 else Provenance.MISSING
        ),
        "candidates": list(dict.fromkeys(candidates)),
        "name_candidates": list(client.name_candidates),
        "hosts": list(client.hosts),
        "host_count": client.host_count,
        "client_ids": list(client.client_ids),
        "client_id_count": client.client_id_count,
        "connections": client.connections,
        "requests": client.requests,
        "first_seen": time_text(client.first),
        "last_seen": time_text(client.last),
        "apis": _api_rows(tuple(client.apis.items())),
    }


@cache
def _api_rows(apis: tuple[tuple[int, tuple[int, int]], ...]) -> list[Row]:
    """Cached: many clients use the same versions."""
    return [
        {"api": api_name(key), "api_key": key, "lowest": low, "highest": high}
        for key, (low, high) in apis
    ]


def impact_row(client: ClientImpact) -> Row:
    judgement, deciding = client.judgement, client.judgement.deciding
    versions = deciding.versions if deciding else None
    row = client_row(judgement.client)
    for column in ("connections", "first_seen", "last_seen"):
        del row[column]
    return {
        "verdict": str(client.verdict),
        "owner": client.owner,
        "api": _api_name(deciding.api_key) if deciding else None,
        "lowest_version": versions.low if versions else None,
        "highest_version": versions.high if versions else None,
        "reason": str(deciding.reason) if deciding else "accepted",
        **row,
        "findings": [_finding_row(finding) for finding in judgement.findings],
        "remedies": [_remedy_row(remedy) for remedy in client.remedies],
        "below_minimum": [
            str(compatibility.minimum.version)
            for compatibility in judgement.compatibilities.values()
            if compatibility.below_minimum and compatibility.minimum
        ],
    }


def _finding_row(finding: Finding) -> Row:
    risk, maximum = finding.risk, finding.broker_maximum
    return {
        "verdict": str(finding.verdict),
        "reason": str(finding.reason),
        "api": _api_name(finding.api_key),
        "api_key": finding.api_key,
        "versions": list(finding.versions) if finding.versions else None,
        "accepted": list(finding.accepted) if finding.accepted else None,
        "software_versions": list(finding.software_versions),
        "requests": finding.requests,
        "first_seen": time_text(finding.first),
        "last_seen": time_text(finding.last),
        "hosts": list(finding.hosts),
        "broker_maximum": maximum.version if maximum else None,
        "broker_maximum_provenance": str(maximum.provenance) if maximum else None,
        "operation": risk.operation if risk else None,
        "risk_reason": str(risk.reason) if risk else None,
        "risk_basis": risk.basis if risk else None,
        "reference": risk.reference if risk else None,
    }


def _remedy_row(remedy: Remedy) -> Row:
    return {
        "kind": str(remedy.kind),
        "library": remedy.library,
        "version": str(remedy.version) if remedy.version else None,
        "engine": remedy.engine,
        "setting": remedy.setting,
        "host": remedy.host,
        "suspected": remedy.suspected,
    }


def broker_row(broker: BrokerStarts) -> Row:
    start = broker.start
    return {
        "cluster": broker.cluster,
        "node_id": broker.node_id,
        "address": broker.address,
        "software_name": broker.software_name,
        "software_version": broker.software_version,
        "software_provenance": broker.software_provenance,
        "started": time_text(start.reported) if start else None,
        "clock_ahead_s": start.clock_ahead.total_seconds() if start else None,
        "restarts": broker.restarts,
        "flapping": broker.is_flapping,
        "failure": broker.failure,
        "last_seen": time_text(broker.last_seen),
        "episodes": [_episode_row(episode) for episode in broker.episodes],
    }


def _episode_row(episode: StartEpisode) -> Row:
    first, last = episode.starts[0], episode.starts[-1]
    return {
        "first": time_text(first.reported),
        "last": time_text(last.reported),
        "starts": len(episode.starts),
        "flapping": episode.is_flapping,
        "observed": time_text(first.observed),
        "moved_from": last.moved_from,
        "earlier_than_before": last.is_earlier,
    }


def problem_row(problem: Problem) -> Row:
    return {
        "kind": str(problem.kind),
        "cluster": problem.client.cluster,
        "principal": problem.client.principal,
        "application": problem.client.application,
        "software_name": problem.client.software,
        "software_versions": list(problem.versions),
        "host": problem.host,
        "broker": problem.broker,
        "api": _api_name(problem.api_key),
        "count": problem.count,
        "of": problem.of,
        "rate": problem.rate,
        "unit": str(problem.unit),
        "limit": problem.limit,
    }


def coverage_row(coverage: Coverage) -> Row:
    return {
        "first": time_text(coverage.first),
        "last": time_text(coverage.last),
        "days": coverage.days,
        "brokers_observed": coverage.brokers_observed,
        "brokers_known": coverage.brokers_known,
        "brokers_not_observed": list(coverage.not_observed),
        "observed": [
            {
                "cluster": broker.cluster,
                "broker": broker.broker,
                "hours": broker.hours,
                "requests": broker.requests,
            }
            for broker in coverage.observed
        ],
        "lines": coverage.lines,
        "rejected": coverage.rejected,
        "requests": coverage.requests,
        "replica_requests": coverage.replica_requests,
        "forwarded_requests": coverage.forwarded_requests,
        "listed_requests": coverage.listed_requests,
        "unidentified_share": coverage.unidentified_share,
        "limits": [str(limit) for limit in coverage.limits],
    }


def time_text(time: datetime | None) -> str | None:
    return f"{time.isoformat(timespec='milliseconds')}Z" if time else None


def _api_name(api_key: int | None) -> str | None:
    return None if api_key is None else api_name(api_key)


def to_arrow(rows: Iterable[Row], columns: Columns) -> Any:
    """A `pyarrow.Table` of the rows."""
    try:
        arrow = import_module("pyarrow")
    except ImportError:
        raise RollcallError(
            "pyarrow is not installed",
            hint="install it with `pip install 'rollcall[notebook]'`",
        ) from None
    schema = arrow.schema({name: _arrow_type(arrow, kind) for name, kind in columns.items()})
    return arrow.Table.from_pylist(list(rows), schema=schema)


def _arrow_type(arrow: Any, kind: Any) -> Any:
    if isinstance(kind, list):
        return arrow.list_(_arrow_type(arrow, kind[0]))
    if isinstance(kind, Mapping):
        return arrow.struct({name: _arrow_type(arrow, of) for name, of in kind.items()})
    return getattr(arrow, kind)()
