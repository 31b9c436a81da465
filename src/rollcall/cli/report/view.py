"""A report ready to be printed, and its text form: headline, table, details, coverage, warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

from rollcall.cli.report.options import ReportOptions
from rollcall.cli.terminal.output import print_lines, print_table
from rollcall.cli.terminal.text import grouped
from rollcall.reports import Reader

CLIENT_COLUMNS = ("principal", "application", "software", "hosts")
NUMBER_COLUMNS = ("hosts", "connections", "requests", "restarts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """A report with functions that turn its items (clients, brokers, problems) into rows.

    The rows are made when they are needed: there may be thousands."""

    name: str
    title: str
    headline: str
    notes: Sequence[str] = ()
    """Sentences below the headline."""
    coverage: Sequence[str] = ()
    warnings: Sequence[str] = ()
    json_fields: Mapping[str, Any]
    """Keys of the JSON document next to the list."""
    listed: str
    """Key of the list in the JSON document."""
    items: Sequence[Any]
    row: Callable[[Any], dict[str, Any]]
    """An item as row for JSON and CSV."""
    row_columns: Iterable[str]
    columns: tuple[str, ...]
    """Columns of the table in text and HTML."""
    page_only: Sequence[str] = ()
    """Columns that the text omits, to fit into 100 characters."""
    cells: Callable[[Any], Sequence[object]]
    """An item as row of that table."""
    cluster_of: Callable[[Any], str | None]
    details: Callable[[Any], list[str]] | None = None
    """Lines about an item, of which the first is a heading; empty if there is nothing to say."""
    is_shown: Callable[[Any], bool] = lambda _: True
    """Whether the text lists an item."""
    details_on_page: bool = True
    """Whether the page has the details; false if its table has them in a column."""
    has_clients: bool = True
    """Whether the page has a chart of client libraries."""


def show(view: ReportView, options: ReportOptions, reader: Reader) -> None:
    """Print the report in the format given by the options."""
    if len(set(map(view.cluster_of, view.items))) > 1:
        view = _with_clusters(view)
    if not (options.as_json or options.as_csv or options.html is not None):
        _print_text(view)
        return
    from rollcall.cli.report.export import print_csv, print_report, write_page

    if options.html is not None:
        write_page(view, options.html, reader)
    elif options.as_json:
        print_report(view)
    else:
        print_csv(view)


def _with_clusters(view: ReportView) -> ReportView:
    """The view with the cluster in each row and in each heading of details."""

    def cells(item: Any) -> Sequence[object]:
        return (view.cluster_of(item), *view.cells(item))

    def details(item: Any) -> list[str]:
        lines = view.details(item) if view.details else []
        cluster = view.cluster_of(item) or "no cluster name"
        return [f"{lines[0]} ({cluster})", *lines[1:]] if lines else []

    return replace(
        view,
        columns=("cluster", *view.columns),
        cells=cells,
        details=details if view.details else None,
    )


def _print_text(view: ReportView) -> None:
    print_lines([f"{view.headline}.", *view.notes])
    shown = [item for item in view.items if view.is_shown(item)]
    if shown:
        print()
        in_text = [column not in view.page_only for column in view.columns]
        rows = (list(compress(grouped(view.cells(item)), in_text)) for item in shown)
        print_table(tuple(compress(view.columns, in_text)), rows, right=NUMBER_COLUMNS)
    for lines, headings in _grouped_details(view, shown):
        print_lines(["", *headings, *(f"  {line}" for line in lines)])
    if view.coverage or view.warnings:
        print_lines(["", *view.coverage, *(f"warning: {warning}" for warning in view.warnings)])


def _grouped_details(
    view: ReportView, items: Iterable[Any]
) -> Iterable[tuple[tuple[str, ...], list[str]]]:
    """Lines that several items share are printed once, below the headings of all of them."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for item in items if view.details else ():
        if view.details and (lines := view.details(item)):
            groups.setdefault(tuple(lines[1:]), []).append(lines[0])
    return groups.items()
