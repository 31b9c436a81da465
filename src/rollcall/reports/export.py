"""Values as plain rows: what JSON, CSV and Arrow show. Times are UTC, lists stay lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rollcall.catalog import api_name
from rollcall.errors import RollcallError
from rollcall.reports.query.basis import Basis
from rollcall.reports.shapes import Shape
from rollcall.reports.values import Client

if TYPE_CHECKING:
    from rollcall.reports.complaints import Complaint
    from rollcall.reports.impact.findings import Finding
    from rollcall.reports.impact.remedies import Remedy
    from rollcall.reports.impact.report import ClientImpact
    from rollcall.reports.starts import BrokerStarts

Row = dict[str, Any]


def flat_client(client: Client) -> Row:
    inferences = (client.inferences or {}).values()
    candidates = [it.library for inference in inferences for it in inference.candidates]
    return {
        "cluster": client.cluster,
        "principal": client.principal,
        "application": client.application,
        "software_name": client.software,
        "software_versions": list(client.versions),
        "software_source": str(client.named),
        "inferred_requests": client.inferred_requests,
        "library": client.library,
        "library_source": _library_source(client),
        "candidates": list(dict.fromkeys(candidates)),
        "other_names": list(client.other_names),
        "hosts": list(client.hosts),
        "host_count": client.host_count,
        "client_ids": list(client.client_ids),
        "client_id_count": client.client_id_count,
        "connections": client.connections,
        "requests": client.requests,
        "first_seen": when(client.first),
        "last_seen": when(client.last),
        "apis": _flat_apis(tuple(client.apis.items())),
    }


@cache
def _flat_apis(apis: tuple[tuple[int, tuple[int, int]], ...]) -> list[Row]:
    """Many clients use the same."""
    return [
        {"api": api_name(key), "api_key": key, "lowest": low, "highest": high}
        for key, (low, high) in apis
    ]


def flat_impact(it: ClientImpact) -> Row:
    deciding = it.judgement.deciding
    row = flat_client(it.judgement.client)
    for name in ("connections", "first_seen", "last_seen"):  # `clients` tells them
        del row[name]
    return {
        "verdict": str(it.verdict),
        "owner": it.owner,
        "api": api_name(deciding.api_key) if deciding and deciding.api_key is not None else None,
        "lowest_version": deciding.versions.low if deciding and deciding.versions else None,
        "highest_version": deciding.versions.high if deciding and deciding.versions else None,
        "why": str(deciding.why) if deciding else "accepted",
        **row,
        "findings": [_flat_finding(finding) for finding in it.judgement.findings],
        "remedies": [_flat_remedy(remedy) for remedy in it.remedies],
        "below_minimum": [
            str(compatibility.minimum.version)
            for compatibility in it.judgement.compatibilities.values()
            if compatibility.below_minimum and compatibility.minimum
        ],
    }


def flat_broker(it: BrokerStarts) -> Row:
    start = it.start
    return {
        "cluster": it.cluster,
        "node_id": it.node_id,
        "address": it.address,
        "software_name": it.software_name,
        "software_version": it.software_version,
        "software_source": it.software_source,
        "started": when(start.told) if start else None,
        "clock_ahead_s": start.clock_off.total_seconds() if start else None,
        "restarts": it.restarts,
        "flapping": it.is_flapping,
        "failure": it.failure,
        "last_seen": when(it.last_seen),
        "episodes": [
            {
                "first": when(episode.starts[0].told),
                "last": when(episode.starts[-1].told),
                "starts": len(episode.starts),
                "flapping": episode.is_flapping,
                "seen": when(episode.starts[0].seen),
                "moved_from": episode.starts[-1].moved_from,
                "earlier_than_before": episode.starts[-1].is_earlier,
            }
            for episode in it.episodes
        ],
    }


def flat_complaint(it: Complaint) -> Row:
    return {
        "trouble": str(it.kind),
        "cluster": it.client.cluster,
        "principal": it.client.principal,
        "application": it.client.application,
        "software_name": it.client.software,
        "software_versions": list(it.versions),
        "host": it.host,
        "broker": it.broker,
        "api": api_name(it.api_key) if it.api_key is not None else None,
        "count": it.count,
        "of": it.of,
        "rate": it.rate,
        "unit": str(it.unit),
        "limit": it.limit,
    }


def flat_basis(basis: Basis) -> Row:
    return {
        "first": when(basis.first),
        "last": when(basis.last),
        "days": basis.days,
        "brokers_heard": basis.brokers_heard,
        "brokers_known": basis.brokers_known,
        "brokers_not_heard": list(basis.not_heard),
        "hours_heard": [
            {"cluster": it.cluster, "broker": it.broker, "hours": it.hours, "requests": it.requests}
            for it in basis.heard
        ],
        "lines": basis.lines,
        "rejected": basis.rejected,
        "requests": basis.requests,
        "replica_requests": basis.replica_requests,
        "forwarded_requests": basis.forwarded_requests,
        "listed_requests": basis.listed_requests,
        "unidentified_share": basis.unidentified_share,
        "limits": [str(limit) for limit in basis.limits],
    }


def when(time: datetime | None) -> str | None:
    return f"{time.isoformat(timespec='milliseconds')}Z" if time else None


def to_arrow(rows: Iterable[Row], shape: Shape) -> Any:
    """A `pyarrow.Table`: with `to_pandas()` it is a frame."""
    try:
        arrow = import_module("pyarrow")
    except ImportError:
        raise RollcallError(
            "there is no pyarrow to make a table with",
            hint="install it with `pip install 'rollcall[notebook]'`",
        ) from None
    schema = arrow.schema({name: _arrow_type(arrow, kind) for name, kind in shape.items()})
    return arrow.Table.from_pylist(list(rows), schema=schema)


def _arrow_type(arrow: Any, kind: Any) -> Any:
    if isinstance(kind, list):
        return arrow.list_(_arrow_type(arrow, kind[0]))
    if isinstance(kind, Mapping):
        return arrow.struct({name: _arrow_type(arrow, it) for name, it in kind.items()})
    return getattr(arrow, kind)()


def _library_source(client: Client) -> str:
    sources = {inference.provenance for inference in (client.inferences or {}).values()}
    return str(sources.pop()) if len(sources) == 1 else "missing"


def _flat_finding(it: Finding) -> Row:
    return {
        "verdict": str(it.verdict),
        "why": str(it.why),
        "api": api_name(it.api_key) if it.api_key is not None else None,
        "api_key": it.api_key,
        "versions": list(it.versions) if it.versions else None,
        "accepted": list(it.accepted) if it.accepted else None,
        "software_versions": list(it.software_versions),
        "requests": it.requests,
        "first_seen": when(it.first),
        "last_seen": when(it.last),
        "hosts": list(it.hosts),
        "broker_maximum": it.ceiling.maximum if it.ceiling else None,
        "broker_maximum_from": str(it.ceiling.origin) if it.ceiling else None,
        "work": it.risk.operation if it.risk else None,
        "lack": str(it.risk.reason) if it.risk else None,
        "basis": it.risk.basis if it.risk else None,
        "source": it.risk.reference if it.risk else None,
    }


def _flat_remedy(it: Remedy) -> Row:
    return {
        "step": str(it.step),
        "library": it.library,
        "version": str(it.version) if it.version else None,
        "engine": it.engine,
        "setting": it.setting,
        "host": it.host,
        "suspected": it.suspected,
    }
