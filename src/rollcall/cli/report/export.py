"""A report as JSON, CSV or self-contained HTML page."""

from __future__ import annotations

import csv
import json
import sys
from functools import partial
from pathlib import Path

from rollcall import reports
from rollcall.cli.report.view import ReportView
from rollcall.cli.terminal.output import print_json
from rollcall.errors import RollcallError
from rollcall.pages import Page, render
from rollcall.reports import Reader, Restarts, VersionTimeline
from rollcall.text import safe_text

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet evaluates a cell that begins with one of these, and a client id may begin with any
character. The last four are full-width forms of the first four."""


def print_report(view: ReportView) -> None:
    """Print one JSON document."""
    head = {"report": view.name, "summary": view.headline}
    print_json({**head, **view.json_fields}, rows={view.listed: map(view.row, view.items)})


def print_csv(view: ReportView) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(view.row_columns)
    rows = map(view.row, view.items)
    writer.writerows([csv_cell(value) for value in row.values()] for row in rows)


def csv_cell(value: object) -> object:
    """A value that no spreadsheet evaluates as a formula."""
    if isinstance(value, (list, tuple)):
        return csv_cell("; ".join(_element(element) for element in value))
    if not isinstance(value, str):
        return value
    return safe_text(f"'{value}" if value.lstrip(" ").startswith(FORMULA_PREFIXES) else value)


def _element(element: object) -> str:
    if not isinstance(element, dict):
        return str(element)
    if element.keys() >= {"api", "lowest", "highest"}:
        return f"{element['api']} {element['lowest']}-{element['highest']}"
    return json.dumps({key: value for key, value in element.items() if value not in (None, [])})


def _charts(reader: Reader, *, has_clients: bool) -> tuple[VersionTimeline, Restarts]:
    timeline = reports.version_timeline(reader) if has_clients else VersionTimeline((), {})
    return timeline, reports.restarts(reader)


def write_page(view: ReportView, path: Path, reader: Reader) -> None:
    """Write the HTML page, and print the headline and the size of the page."""
    charts = reader.in_background(partial(_charts, has_clients=view.has_clients))
    cells = [view.cells(item) for item in view.items]
    has_details = view.details_on_page and view.details
    details = [view.details(item) for item in view.items] if has_details and view.details else ()
    timeline, restarts = charts.result()
    page = Page(
        title=view.title,
        headline=f"{view.headline}.",
        notes=[*view.notes, *view.coverage],
        warnings=view.warnings,
        listed=view.listed,
        columns=view.columns,
        cells=cells,
        details=details,
        timeline=timeline,
        restarts=restarts,
    )
    html = render(page)
    try:
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise RollcallError(
            f"cannot write the page to {path}: {error.strerror}",
            hint="give --html a file in a directory that you may write to",
        ) from error
    print(safe_text(f"{view.headline}."))
    print(safe_text(f"{path}: {len(html.encode()) // 1024} KB"))
