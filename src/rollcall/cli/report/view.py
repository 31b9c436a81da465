"""One report, ready to be shown in any way; and shown as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rollcall.cli.report.options import Asked
from rollcall.cli.terminal.output import print_lines, print_table
from rollcall.cli.terminal.text import grouped
from rollcall.reports.query.database import Reader

CLIENT = ("principal", "application", "software", "hosts")
RIGHT = ("hosts", "connections", "requests", "restarts")


def _all(_: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is listed becomes rows or cells when they are asked for: there may be thousands."""

    name: str
    title: str
    headline: str
    rests_on: list[str]
    beside: Mapping[str, Any]
    """What JSON has beside the list."""
    listed: str
    """What JSON calls the list."""
    things: Sequence[Any]
    flat: Callable[[Any], dict[str, Any]]
    """A thing for JSON and CSV."""
    fields: Iterable[str]
    """What such a row has, for a list without any."""
    columns: tuple[str, ...]
    cells: Callable[[Any], Sequence[object]]
    """A thing as text and on the page."""
    cluster_of: Callable[[Any], str | None]
    """Which cluster a thing is of."""
    details: Callable[[Any], list[str]] | None = None
    """Lines about a thing, the first a heading; empty when there are none."""
    is_shown: Callable[[Any], bool] = _all
    """Whether the text lists it."""
    about_clients: bool = True
    """Whether a chart of their libraries belongs on the page."""


def show(answer: Answer, asked: Asked, reader: Reader) -> None:
    if len(set(map(answer.cluster_of, answer.things))) > 1:
        answer = _with_clusters(answer)
    if asked.as_json or asked.as_csv or asked.html is not None:
        from rollcall.cli.report.export import print_csv, print_report, write_page

        if asked.html is not None:
            write_page(answer, asked.html, reader)
        elif asked.as_json:
            print_report(answer)
        else:
            print_csv(answer)
    else:
        _print_text(answer)


def _with_clusters(answer: Answer) -> Answer:
    """What lists things of several clusters says which."""

    def cells(it: Any) -> Sequence[object]:
        return (answer.cluster_of(it), *answer.cells(it))

    def details(it: Any) -> list[str]:
        told = answer.details(it) if answer.details else []
        where = answer.cluster_of(it) or "no cluster named"
        return [f"{line} ({where})" if not number else line for number, line in enumerate(told)]

    return replace(
        answer,
        columns=("cluster", *answer.columns),
        cells=cells,
        details=details if answer.details else None,
    )


def _print_text(answer: Answer) -> None:
    headline = answer.headline[0].upper() + answer.headline[1:] + "."
    print_lines([headline, *(f"  {line}" for line in answer.rests_on)])
    shown = [it for it in answer.things if answer.is_shown(it)]
    if shown:
        print()
        print_table(answer.columns, map(grouped, map(answer.cells, shown)), right=RIGHT)
    for rest, titles in _alike(filter(None, map(answer.details, shown) if answer.details else ())):
        print_lines(["", *titles, *(f"  {line}" for line in rest)])


def _alike(details: Iterable[list[str]]) -> Iterable[tuple[tuple[str, ...], list[str]]]:
    """What is true of several is said once, below all of them."""
    found: dict[tuple[str, ...], list[str]] = {}
    for title, *rest in details:
        found.setdefault(tuple(rest), []).append(title)
    return found.items()
