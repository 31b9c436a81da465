"""`rollcall report impact`: what breaks at an upgrade."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rollcall import reports
from rollcall.catalog import release_line
from rollcall.cli.report import details as say
from rollcall.cli.report import summary as words
from rollcall.cli.report.options import AskedOfClients, with_options
from rollcall.cli.report.view import CLIENT, Answer, show
from rollcall.cli.terminal.output import DISK_FULL, discard_output, disk_full_error
from rollcall.errors import ConfigError, RollcallError
from rollcall.reports import shapes
from rollcall.reports.export import flat_basis, flat_impact
from rollcall.reports.impact.findings import Verdict
from rollcall.reports.impact.report import MIN_DAYS, ClientImpact, Impact
from rollcall.reports.query.database import Reader, open_tables


@contextmanager
def telling_apart() -> Iterator[None]:
    """A report that cannot be made is a wrong call: 1 would tell a gate that something breaks."""
    try:
        yield
    except RollcallError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        discard_output()
        told = disk_full_error(error)
        raise ConfigError(told.message, hint=told.hint) from error


@with_options
@telling_apart()
def report_impact(
    asked: AskedOfClients,
    target: Annotated[
        str, typer.Option(metavar="RELEASE", help="The release to upgrade to, as in 4.0.1.")
    ],
    running: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--broker-release",
            metavar="RELEASE",
            help="What the brokers run now; else it is inferred.",
        ),
    ] = None,
    owners: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV with the columns principal, client_id and owner; else principals are owners.",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST", help="A host that many clients stand behind; may be repeated."
        ),
    ] = None,
    min_days: Annotated[
        int, typer.Option(metavar="N", min=0, help="Days to hear before anything is safe.")
    ] = (MIN_DAYS),
    show_all: Annotated[bool, typer.Option("--all", help="List the safe ones too.")] = False,
) -> None:
    """Tell which clients break when the brokers are upgraded, why, and what to do about it.

    Exit code: 1 something breaks; 3 something is at risk or undecided, or too little was heard;
    2 it could not be told; 0 otherwise.

    Example: rollcall report impact --tables tables --target 4.0.1
    """
    for name in filter(None, (target, running)):
        release_line(name)  # a slip is told before the tables are read
    reader = open_tables(asked.folder, asked.question)
    report = reports.impact(
        reader,
        target,
        broker_release=running,
        owners=reports.read_owners(owners) if owners else reports.Owners(),
        proxies=proxy or (),
        min_days=min_days,
    )
    answer = Answer(
        name="impact",
        title=f"What breaks at {report.target}",
        headline=words.of_impact(report),
        rests_on=[*words.to_write_to(report), *words.on_basis(report.basis, report.min_days)],
        beside=_beside(report),
        listed="clients",
        things=report.clients,
        flat=flat_impact,
        fields=shapes.IMPACT,
        # without owners, theirs would be the principal once more
        columns=(
            "verdict",
            *(["owner"] if report.has_owners else []),
            *CLIENT,
            "decided by",
            "requests",
        ),
        cells=partial(_cells, has_owners=report.has_owners),
        cluster_of=lambda it: it.judgement.client.cluster,
        details=_detail,
        is_shown=lambda it: show_all or it.verdict is not Verdict.SAFE,
    )
    _show(answer, asked, reader)
    raise typer.Exit(report.exit_code)


def _show(answer: Answer, asked: AskedOfClients, reader: Reader) -> None:
    """All of it, before the exit code: who has read enough of it still wants that."""
    try:
        show(answer, asked, reader)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def _beside(report: Impact) -> dict[str, object]:
    return {
        "target": str(report.target),
        "running": list(report.running),
        "exit_code": report.exit_code,
        "counts": {str(verdict): count for verdict, count in report.counts.items()},
        "owners": [
            {"owner": owner, **{str(verdict): n for verdict, n in counts.items()}}
            for owner, counts in report.by_owner.items()
        ],
        "proxies": list(report.proxies),
        "basis": flat_basis(report.basis),
    }


def _cells(it: ClientImpact, *, has_owners: bool) -> tuple[object, ...]:
    client = it.judgement.client
    return (
        it.verdict,
        *([it.owner] if has_owners else []),
        client.principal,
        client.application,
        say.software(client),
        client.host_count,
        say.deciding(it),
        client.requests,
    )


def _detail(it: ClientImpact) -> list[str]:
    client = it.judgement.client
    name = f"{client.principal or 'no principal'}, {client.application or 'no client id'}"
    lines = [say.evidence(found) for found in it.judgement.findings if found.verdict is it.verdict]
    lines += [f"-> {say.remedy(step, client)}" for step in it.remedies]
    lines += [f"note: {note}" for note in say.notes(it) if note not in lines]
    return [f"{it.verdict}: {name}, {say.software(client)}", *lines] if lines else []
