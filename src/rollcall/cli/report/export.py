"""A report for other programs: JSON, CSV, or one page that can be mailed."""

from __future__ import annotations

import csv
import json
import sys
from functools import partial
from pathlib import Path

from rollcall import reports
from rollcall.cli.report.view import Answer
from rollcall.cli.terminal.output import print_json
from rollcall.errors import RollcallError
from rollcall.pages import page
from rollcall.reports.query.database import Reader
from rollcall.reports.starts import Restarts
from rollcall.reports.timeline import OverTime, versions_over_time
from rollcall.text import safe_text

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A cell that begins so is a formula to a spreadsheet, and anyone may choose a client id. The last
four are the first in full width, which is the same to some."""


def print_report(answer: Answer) -> None:
    head = {"report": answer.name, "summary": answer.headline}
    print_json({**head, **answer.beside}, rows={answer.listed: map(answer.flat, answer.things)})


def print_csv(answer: Answer) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.fields)
    rows = map(answer.flat, answer.things)
    writer.writerows([csv_cell(value) for value in row.values()] for row in rows)


def csv_cell(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return csv_cell("; ".join(_item(item) for item in value))
    if not isinstance(value, str):
        return value
    return safe_text(f"'{value}" if value.lstrip(" ").startswith(FORMULAS) else value)


def _item(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    if item.keys() >= {"api", "lowest", "highest"}:
        return f"{item['api']} {item['lowest']}-{item['highest']}"
    return json.dumps({key: value for key, value in item.items() if value not in (None, [])})


def _charts(reader: Reader, *, about_clients: bool) -> tuple[OverTime, Restarts]:
    over_time = versions_over_time(reader) if about_clients else OverTime((), {})
    return over_time, reports.restarts(reader)


def write_page(answer: Answer, html: Path, reader: Reader) -> None:
    charts = reader.beside(partial(_charts, about_clients=answer.about_clients))
    cells = [answer.cells(it) for it in answer.things]
    details = [answer.details(it) for it in answer.things] if answer.details else ()
    over_time, restarts = charts.result()
    text = page(
        title=answer.title,
        headline=answer.headline,
        rests_on=answer.rests_on,
        columns=answer.columns,
        cells=cells,
        details=details,
        listed=answer.listed,
        over_time=over_time,
        restarts=restarts,
    )
    try:
        html.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RollcallError(
            f"the page cannot be written to {html}: {error.strerror}",
            hint="give --html a file in a folder that you may write to",
        ) from error
    print(safe_text(answer.headline))
    print(safe_text(f"{html}: {len(text.encode()) // 1024} KB"))
