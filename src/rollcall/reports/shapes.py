"""The columns of the plain rows, with their types: the same whatever is in them, or nothing.

A type is what pyarrow calls it; in a list it is a list of such, and a dict is a struct.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Shape = Mapping[str, Any]

TEXT, NUMBER, REAL, YES_NO = "string", "int64", "float64", "bool_"
TEXTS, NUMBERS = [TEXT], [NUMBER]

_WHO = {"cluster": TEXT, "principal": TEXT, "application": TEXT, "software_name": TEXT}
_IS = {
    **_WHO,
    "software_versions": TEXTS,
    "software_source": TEXT,
    "inferred_requests": NUMBER,
    "library": TEXT,
    "library_source": TEXT,
    "candidates": TEXTS,
    "other_names": TEXTS,
    "hosts": TEXTS,
    "host_count": NUMBER,
    "client_ids": TEXTS,
    "client_id_count": NUMBER,
}
_APIS = [{"api": TEXT, "api_key": NUMBER, "lowest": NUMBER, "highest": NUMBER}]
CLIENT: Shape = {
    **_IS,
    "connections": NUMBER,
    "requests": NUMBER,
    "first_seen": TEXT,
    "last_seen": TEXT,
    "apis": _APIS,
}
FINDING: Shape = {
    "verdict": TEXT,
    "why": TEXT,
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
    "broker_maximum_from": TEXT,
    "work": TEXT,
    "lack": TEXT,
    "basis": TEXT,
    "source": TEXT,
}
REMEDY: Shape = {
    "step": TEXT,
    "library": TEXT,
    "version": TEXT,
    "engine": TEXT,
    "setting": TEXT,
    "host": TEXT,
    "suspected": YES_NO,
}
IMPACT: Shape = {
    "verdict": TEXT,
    "owner": TEXT,
    "api": TEXT,
    "lowest_version": NUMBER,
    "highest_version": NUMBER,
    "why": TEXT,
    **_IS,
    "requests": NUMBER,
    "apis": _APIS,
    "findings": [FINDING],
    "remedies": [REMEDY],
    "below_minimum": TEXTS,
}
EPISODE: Shape = {
    "first": TEXT,
    "last": TEXT,
    "starts": NUMBER,
    "flapping": YES_NO,
    "seen": TEXT,
    "moved_from": TEXT,
    "earlier_than_before": YES_NO,
}
BROKER: Shape = {
    "cluster": TEXT,
    "node_id": NUMBER,
    "address": TEXT,
    "software_name": TEXT,
    "software_version": TEXT,
    "software_source": TEXT,
    "started": TEXT,
    "clock_ahead_s": REAL,
    "restarts": NUMBER,
    "flapping": YES_NO,
    "failure": TEXT,
    "last_seen": TEXT,
    "episodes": [EPISODE],
}
COMPLAINT: Shape = {
    "trouble": TEXT,
    **_WHO,
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
