"""The JSON of a roll call: the form that programs rely on, so it only ever grows.

`rollcall brokers --json` prints one document; `--output FILE.jsonl` appends one line per broker,
which is the broker's object with `form`, `time_ms`, `cluster_id` and `controller_id` before it.
An address that nobody answers at and no broker has is told in the document, and no line: whose it
was is not known.
"""

from typing import Any

from rollcall.catalog import BrokerIdentity, Release
from rollcall.cli.brokers.text import iso_time, software
from rollcall.client import BrokerRow, RollCall, Via

DOCUMENT_FORM = "rollcall-brokers/1"
LINE_FORM = "rollcall-broker/1"


def document(calls: RollCall) -> dict[str, Any]:
    return {
        "form": DOCUMENT_FORM,
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
        "form": LINE_FORM,
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
        "api_versions": _versions(row),
        "seconds": round(row.seconds, 3),
    }


def identity(known: BrokerIdentity) -> dict[str, Any]:
    """Name and version are what was said; what was inferred is in `candidates` alone."""
    inference = known.inference
    return {
        "name": known.name,
        "version": known.version,
        "provenance": known.provenance,
        "kind": inference.kind if inference else None,
        "candidates": list(inference.lines) if inference else [],
        "mode": inference.mode if inference else None,
        "other_products": [other.name for other in inference.other_products] if inference else [],
        "newer_than": inference.newer_than if inference else None,
    }


def _versions(row: BrokerRow) -> dict[str, Any] | None:
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
    """The cluster at a glance: how many, and of each software from which version to which."""
    answered = [row for row in calls.rows if row.answered]
    names = dict.fromkeys(software(row.identity) for row in answered)
    return {
        "brokers": len(calls.rows) + len(calls.unlisted),
        "answered": len(answered),
        "mixed": len({_kind(row) for row in answered}) > 1,
        "software": [
            _spread(name, [row for row in answered if software(row.identity) == name])
            for name in names
        ],
    }


def _spread(name: str | None, rows: list[BrokerRow]) -> dict[str, Any]:
    releases = [release for row in rows for release in row.releases]
    return {
        "name": name,
        "brokers": len(rows),
        "lowest": str(min(releases)) if releases else None,
        "highest": str(max(releases)) if releases else None,
    }


def _kind(row: BrokerRow) -> tuple[str | None, str | None, tuple[Release, ...]]:
    return row.identity.name, row.identity.version, row.releases
