"""The HTML page of a report: its content as plain values, and its rendering."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from html import escape
from importlib.resources import files
from string import Template

from rollcall.reports import Restarts, VersionTimeline
from rollcall.text import safe_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    title: str
    headline: str
    notes: Sequence[str]
    warnings: Sequence[str]
    listed: str
    """What the table lists, such as `clients`."""
    columns: Sequence[str]
    cells: Sequence[Sequence[object]]
    details: Sequence[Sequence[str]]
    """Lines per row that a click shows; empty if no row has any."""
    timeline: VersionTimeline
    restarts: Restarts


def render(page: Page) -> str:
    """The HTML document."""
    css, chart, script = _asset("page.css"), _asset("chart.js"), _asset("page.js")
    return Template(_asset("page.html")).substitute(
        title=escape(page.title),
        scripts=f"{_csp_hash(chart)} {_csp_hash(script)}",
        styles=_csp_hash(css),
        css=css,
        data=_json_for_script(_data(page)),
        chart=chart,
        script=script,
    )


def _data(page: Page) -> dict[str, object]:
    return {
        "title": page.title,
        "headline": safe_text(page.headline),
        "notes": [safe_text(line) for line in page.notes],
        "warnings": [safe_text(line) for line in page.warnings],
        "listed": page.listed.capitalize(),
        "columns": list(page.columns),
        "rows": [[_cell(value) for value in row] for row in page.cells],
        "details": [[safe_text(line) for line in lines] for lines in page.details],
        "timeline": {
            "days": [f"{day:%Y-%m-%d}" for day in page.timeline.days],
            "series": [
                {"label": safe_text(name), "data": counts}
                for name, counts in page.timeline.series.items()
            ],
        },
        "starts": _starts(page.restarts),
    }


def _starts(restarts: Restarts) -> dict[str, object]:
    """Brokers in order of their ids, and a point per start."""
    brokers = sorted(
        restarts.brokers, key=lambda broker: (broker.cluster or "", broker.node_id or 0)
    )
    points = [
        {
            "x": int(start.time.replace(tzinfo=UTC).timestamp() * 1000),
            "y": index,
            "flapping": episode.is_flapping,
        }
        for index, broker in enumerate(brokers)
        for episode in broker.episodes
        for start in episode.starts
    ]
    return {
        "brokers": [safe_text(f"{broker.node_id} ({broker.address})") for broker in brokers],
        "points": points,
    }


def _cell(value: object) -> object:
    return value if value is None or isinstance(value, (int, float)) else safe_text(value)


def _json_for_script(data: object) -> str:
    """JSON that can neither end its script element nor start a comment in it."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
