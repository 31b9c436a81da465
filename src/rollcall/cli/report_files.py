"""A report for other programs: JSON, CSV, or one page that can be mailed."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rollcall.cli.output import print_json, safe_text
from rollcall.cli.page import page
from rollcall.errors import RollcallError
from rollcall.reports import restarts
from rollcall.reports.over_time import versions_over_time
from rollcall.reports.question import Question

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet, and anyone may choose a client id."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One report, ready to be shown in any way."""

    name: str
    title: str
    headline: str
    rests_on: list[str]
    value: Mapping[str, Any]
    """For JSON."""
    rows: Sequence[Mapping[str, Any]]
    """For CSV."""
    columns: tuple[str, ...]
    cells: Sequence[Sequence[object]]
    details: Sequence[Sequence[str]] = field(default=())
    """Lines for each row of cells, the first a heading; empty when there are none."""


def put_out(
    answer: Answer, as_json: bool, html: Path | None, folder: Path, asked: Question
) -> None:
    if html is not None:
        _write_page(answer, html, folder, asked)
    elif as_json:
        print_json({"report": answer.name, "summary": answer.headline, **answer.value})
    else:
        _print_csv(answer.rows)


def _print_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([csv_cell(value) for value in row.values()] for row in rows)


def csv_cell(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return csv_cell("; ".join(_item(item) for item in value))
    if not isinstance(value, str):
        return value
    return safe_text(f"'{value}" if value.startswith(FORMULAS) else value)


def _item(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    if item.keys() >= {"api", "lowest", "highest"}:
        return f"{item['api']} {item['lowest']}-{item['highest']}"
    return json.dumps({key: value for key, value in item.items() if value not in (None, [])})


def _write_page(answer: Answer, html: Path, folder: Path, asked: Question) -> None:
    starts = restarts(folder, question=Question(since=asked.since, until=asked.until))
    text = page(
        title=answer.title,
        headline=answer.headline,
        rests_on=answer.rests_on,
        columns=answer.columns,
        cells=answer.cells,
        details=answer.details,
        over_time=versions_over_time(folder, question=asked),
        restarts=starts,
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
