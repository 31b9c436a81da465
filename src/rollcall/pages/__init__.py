"""ONE PAGE: a report as HTML that needs nothing but itself.

It is not where a report is made or worded: it is handed the sentences and the cells. Everything
that came from a log goes into the page as JSON and is put on the screen as text; nothing of it is
ever read as HTML. The policy in its head lets no script run but the two that are written here, and
nothing load from anywhere.

    chart.js   Chart.js 4.6.1, MIT licence (chart.js.LICENSE), unchanged but for its source map line
    page.js    tables that sort and filter, and the two charts
    page.css   how it looks, on paper too
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from datetime import UTC
from html import escape
from importlib.resources import files

from rollcall.reports.starts import Restarts
from rollcall.reports.timeline import OverTime
from rollcall.text import safe_text

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {scripts}; \
style-src {styles}; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<main id="page"><noscript>This page needs JavaScript for its tables and charts.</noscript></main>
<script type="application/json" id="data">{data}</script>
<script>{chart}</script>
<script>{script}</script>
</body>
</html>
"""


def page(
    *,
    title: str,
    headline: str,
    rests_on: Sequence[str],
    listed: str,
    columns: Sequence[str],
    cells: Sequence[Sequence[object]],
    details: Sequence[Sequence[str]],
    over_time: OverTime,
    restarts: Restarts,
) -> str:
    data = {
        "title": title,
        "headline": safe_text(headline),
        "rests_on": [safe_text(line) for line in rests_on],
        "listed": listed.capitalize(),
        "columns": list(columns),
        "rows": [[_cell(value) for value in row] for row in cells],
        "details": [[safe_text(line) for line in lines] for lines in details],
        "over_time": {
            "days": [f"{day:%Y-%m-%d}" for day in over_time.days],
            "series": [
                {"label": safe_text(name), "data": counts}
                for name, counts in over_time.series.items()
            ],
        },
        "starts": _starts(restarts),
    }
    css, chart, script = _asset("page.css"), _asset("chart.js"), _asset("page.js")
    return PAGE.format(
        title=escape(title),
        scripts=f"{_hash(chart)} {_hash(script)}",
        styles=_hash(css),
        css=css,
        data=_in_script(data),
        chart=chart,
        script=script,
    )


def _starts(restarts: Restarts) -> dict[str, object]:
    """The brokers in order of their ids, and a point for each start."""
    brokers = sorted(restarts.brokers, key=lambda it: (it.cluster or "", it.node_id or 0))
    points = [
        {
            "x": int(start.time.replace(tzinfo=UTC).timestamp() * 1000),
            "y": row,
            "flapping": episode.is_flapping,
        }
        for row, it in enumerate(brokers)
        for episode in it.episodes
        for start in episode.starts
    ]
    return {
        "brokers": [safe_text(f"{it.node_id} ({it.address})") for it in brokers],
        "points": points,
    }


def _cell(value: object) -> object:
    return value if value is None or isinstance(value, (int, float)) else safe_text(value)


def _in_script(data: object) -> str:
    """JSON that cannot end the element it stands in, nor begin a comment there."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
