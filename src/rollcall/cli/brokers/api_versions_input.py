"""Parse an ApiVersions response in JSON.

Accepted are: the response as a request log or a tool prints it (`apiKeys` with `apiKey`,
`minVersion`, `maxVersion`, also in snake case), a request log line with it under `response`, a
broker of `rollcall brokers --json`, and `{"0": [0, 11], "3": [0, 13]}`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rollcall.catalog import Range
from rollcall.errors import RollcallError


@dataclass(frozen=True)
class ApiVersionsResponse:
    """Version ranges and features; features are None before ApiVersions 3."""

    ranges: Mapping[int, Range]
    supported: Mapping[str, Range] | None
    finalized: Mapping[str, int] | None
    error_code: int


def parse_response(text: str) -> ApiVersionsResponse:
    try:
        document = _unwrap(json.loads(text))
        return ApiVersionsResponse(
            ranges=dict(_ranges(document)),
            supported=_features(_field(document, "supportedFeatures")),
            finalized=_levels(_field(document, "finalizedFeatures")),
            error_code=int(_field(document, "errorCode") or 0),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise RollcallError(
            "the input is not an ApiVersions response in JSON",
            hint='give {"apiKeys": [{"apiKey": 0, "minVersion": 0, "maxVersion": 11}, ...]}, '
            "for example from a Kafka request log",
        ) from None


def _unwrap(value: Any) -> Mapping[str, Any]:
    """The object with the list of APIs."""
    if isinstance(value, list):
        return {"apiKeys": value}
    for name in ("response", "api_versions"):
        if isinstance(value.get(name), dict):
            return dict(value[name])
    if not value:
        raise ValueError("empty document")
    return dict(value)


def _field(document: Mapping[str, Any], name: str) -> Any:
    """A field by its Kafka name, or by the same name in snake case."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return document.get(name, document.get(snake))


def _ranges(document: Mapping[str, Any]) -> Iterator[tuple[int, Range]]:
    rows = _field(document, "apiKeys")
    if isinstance(rows, list):
        for row in rows:
            key = _field(row, "apiKey")
            lowest, highest = _field(row, "minVersion"), _field(row, "maxVersion")
            yield int(key), Range(int(lowest), int(highest))
        return
    for key, (low, high) in document.get("ranges", document).items():
        yield int(key), Range(int(low), int(high))


def _features(rows: Any) -> dict[str, Range] | None:
    if isinstance(rows, dict):
        return {str(name): Range(int(low), int(high)) for name, (low, high) in rows.items()}
    if rows is None:
        return None
    return {
        str(row["name"]): Range(int(_field(row, "minVersion")), int(_field(row, "maxVersion")))
        for row in rows
    }


def _levels(rows: Any) -> dict[str, int] | None:
    if isinstance(rows, dict):
        return {str(name): int(level) for name, level in rows.items()}
    if rows is None:
        return None
    return {str(row["name"]): int(_field(row, "maxVersionLevel")) for row in rows}
