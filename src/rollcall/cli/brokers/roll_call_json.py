"""JSON format of a roll call. Programs rely on it: keys are only added.

`rollcall brokers --json` prints one document. `--output FILE` appends one line per broker: the
broker's object preceded by `format`, `time_ms`, `cluster_id` and `controller_id`. A bootstrap
address that does not respond and belongs to no known broker is part of the document, but has no
line, because its broker id is unknown.
"""

from typing import Any

from rollcall.catalog import BrokerIdentity, Release
from rollcall.cli.brokers.text import iso_time, software
from rollcall.client import BrokerRow, RollCall, Via

DOCUMENT_FORMAT = "rollcall-brokers/2"
LINE_FORMAT = "rollcall-broker/2"


def document(calls: RollCall) -> dict[str, Any]:
    return {
        "format": DOCUMENT_FORMAT,
        "time_ms": calls.taken_at_ms,
        "time": iso_time(calls.taken_at_ms),
        "cluster_id": calls.cluster.cluster_id,
        "controller_id": calls.cluster.controller_id,
        "queried": str(calls.cluster.queried),
        "via": _via(calls.cluster.via),
        "brokers": [broker(row) for row in (*calls.rows, *calls.unlisted)],
        "summary": summary(calls),
    }


def lines(calls: RollCall) -> list[dict[str, Any]]:
    head = {
        "format": LINE_FORMAT,
        "time_ms": calls.taken_at_ms,
        "cluster_id": calls.cluster.cluster_id,
        "controller_id": calls.cluster.controller_id,
    }
    return [{**head, **broker(row)} for row in calls.rows]


def broker(row: BrokerRow) -> dict[str, Any]:
    return {
        "id": row.node.id,
        "host": row.node.host,
        "port": row.node.port,
        "rack": row.node.rack,
        "controller": row.is_controller,
        "fenced": row.node.fenced,
        "answered": row.answered,
        "failure": row.failure,
        "reason": row.reason,
        "software": identity(row.identity),
        "start_time": {
            "ms": row.start_time_ms or None,
            "time": iso_time(row.start_time_ms),
            "provenance": row.start_time_provenance,
        },
        "clock_ahead_ms": row.clock_ahead_ms or None,
        "via": _via(row.via),
        "api_versions": _api_versions(row),
        "seconds": round(row.seconds, 3),
    }


def identity(known: BrokerIdentity) -> dict[str, Any]:
    """`name` and `version` are never inferred; inferred releases are in `candidates` only."""
    inference = known.inference
    return {
        "name": known.name,
        "version": known.version,
        "provenance": known.provenance,
        "kind": inference.kind if inference else None,
        "candidates": list(inference.lines) if inference else [],
        "mode": inference.mode if inference else None,
        "other_products": [product.name for product in inference.other_products]
        if inference
        else [],
        "newer_than": inference.newer_than if inference else None,
    }


def _api_versions(row: BrokerRow) -> dict[str, Any] | None:
    versions = row.versions
    if versions is None:
        return None
    return {
        "provenance": versions.provenance,
        "outcome": versions.outcome.name.lower(),
        "version": versions.api_versions,
        "dialect": versions.dialect,
        "ranges": {str(key): list(range_) for key, range_ in sorted(versions.ranges.items())},
        "supported_features": _pairs(versions.supported_features),
        "finalized_features": dict(versions.finalized_features)
        if versions.finalized_features is not None
        else None,
    }


def _pairs(features: Any) -> dict[str, list[int]] | None:
    return None if features is None else {name: list(pair) for name, pair in features.items()}


def _via(via: Via | None) -> dict[str, Any] | None:
    if via is None:
        return None
    return {"api": via.api, "version": via.version, "dialect": via.dialect}


def summary(calls: RollCall) -> dict[str, Any]:
    """Number of brokers, and the lowest and highest version of each software."""
    answered = [row for row in calls.rows if row.answered]
    names = dict.fromkeys(software(row.identity) for row in answered)
    return {
        "brokers": len(calls.rows) + len(calls.unlisted),
        "answered": len(answered),
        "mixed": len({_software_key(row) for row in answered}) > 1,
        "software": [
            _version_span(name, [row for row in answered if software(row.identity) == name])
            for name in names
        ],
    }


def _version_span(name: str | None, rows: list[BrokerRow]) -> dict[str, Any]:
    releases = [release for row in rows for release in row.releases]
    return {
        "name": name,
        "brokers": len(rows),
        "lowest": str(min(releases)) if releases else None,
        "highest": str(max(releases)) if releases else None,
    }


def _software_key(row: BrokerRow) -> tuple[str | None, str | None, tuple[Release, ...]]:
    return row.identity.name, row.identity.version, row.releases
