"""`rollcall report`: who is on the cluster, what breaks, who restarted, who misbehaves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from rollcall import reports
from rollcall.catalog import UnknownReleaseError, api_name, line_of
from rollcall.cli import report_evidence as say
from rollcall.cli import report_words as words
from rollcall.cli.output import print_table, safe_text
from rollcall.cli.report_files import Answer, put_out
from rollcall.errors import ConfigError, RollcallError
from rollcall.reports.findings import Verdict
from rollcall.reports.flat import flat_basis, flat_broker, flat_client, flat_complaint, flat_impact
from rollcall.reports.impact import MIN_DAYS, ClientImpact
from rollcall.reports.question import Question

app = typer.Typer(no_args_is_help=True, help="Answer from the tables, without starting Spark.")

TablesOption = Annotated[
    str, typer.Option("--tables", metavar="DIR", help="The folder of the tables.")
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="From this UTC time (2026-10-01T12:00) or age (30d)."
    ),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Up to this UTC time or age.")
]
ClusterOption = Annotated[str | None, typer.Option(help="Only this cluster.")]
PrincipalOption = Annotated[
    str | None, typer.Option(help="Only principals that fit, as in 'User:pay*'.")
]
ClientIdOption = Annotated[
    str | None, typer.Option("--client-id", help="Only client ids that fit, as in 'app-*'.")
]
SoftwareOption = Annotated[
    str | None, typer.Option(help="Only software names that fit, as in 'librdkafka*'.")
]
RawIdsOption = Annotated[
    bool, typer.Option("--raw-ids", help="Keep client ids apart instead of by application.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write one page that can be mailed.")
]

CLIENT = ("principal", "application", "software", "hosts")
CLIENT_COLUMNS = (*CLIENT, "connections", "requests", "first seen", "last seen", "APIs")
IMPACT_COLUMNS = ("verdict", "owner", *CLIENT, "decided by", "requests")


@dataclass(frozen=True, slots=True)
class Output:
    json: bool
    csv: bool
    html: Path | None

    def __post_init__(self) -> None:
        if sum((self.json, self.csv, self.html is not None)) > 1:
            raise typer.BadParameter("give one of --json, --csv and --html")


@app.command("clients")
def report_clients(
    tables: TablesOption,
    since: SinceOption = None,
    until: UntilOption = None,
    cluster: ClusterOption = None,
    principal: PrincipalOption = None,
    client_id: ClientIdOption = None,
    software: SoftwareOption = None,
    raw_ids: RawIdsOption = False,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    html: HtmlOption = None,
) -> None:
    """List who is on the cluster: principal, application, software, hosts, requests, APIs.

    Example: rollcall report clients --tables tables --software 'librdkafka*'
    """
    output = Output(as_json, as_csv, html)
    asked = _question(since, until, cluster, principal, client_id, software, raw_ids)
    report = reports.clients(_folder(tables), question=asked)
    rows = [flat_client(client) for client in report.clients]
    answer = Answer(
        "clients",
        "Who is on the cluster",
        words.of_clients(report),
        words.on_basis(report.basis),
        {"basis": flat_basis(report.basis), "running": list(report.running), "clients": rows},
        rows,
        columns=CLIENT_COLUMNS,
        cells=[
            (
                client.principal,
                client.application,
                say.software(client),
                client.host_count,
                client.connections,
                client.requests,
                words.minute(client.first),
                words.minute(client.last),
                ", ".join(
                    f"{api_name(key)} {low}" + (f"-{high}" if high > low else "")
                    for key, (low, high) in client.apis.items()
                ),
            )
            for client in report.clients
        ],
    )
    _show(answer, output, _folder(tables), asked)


@app.command("impact")
def report_impact(
    tables: TablesOption,
    target: Annotated[str, typer.Option(help="The release to upgrade to, as in 4.0.1.")],
    running: Annotated[
        str | None,
        typer.Option(
            "--from", "--broker-release", help="What the brokers run now; else it is inferred."
        ),
    ] = None,
    owners: Annotated[
        Path | None,
        typer.Option(help="CSV with principal,client_id,owner; else the principal is the owner."),
    ] = None,
    proxy: Annotated[
        list[str] | None, typer.Option(help="A host that many clients stand behind.")
    ] = None,
    min_days: Annotated[int, typer.Option(help="Days to hear before anything is safe.", min=0)] = (
        MIN_DAYS
    ),
    show_all: Annotated[bool, typer.Option("--all", help="List the safe ones too.")] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    cluster: ClusterOption = None,
    principal: PrincipalOption = None,
    client_id: ClientIdOption = None,
    software: SoftwareOption = None,
    raw_ids: RawIdsOption = False,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    html: HtmlOption = None,
) -> None:
    """Tell which clients break when the brokers are upgraded, why, and what to do about it.

    Exit code: 1 something breaks; 3 something is at risk or undecided, or too little was heard;
    0 otherwise.

    Example: rollcall report impact --tables tables --target 4.0.1
    """
    output = Output(as_json, as_csv, html)
    asked = _question(since, until, cluster, principal, client_id, software, raw_ids)
    for name in filter(None, (target, running)):
        _check_release(name)
    report = reports.impact(
        _folder(tables),
        target,
        question=asked,
        broker_release=running,
        owners=reports.read_owners(owners) if owners else reports.Owners(),
        proxies=proxy or (),
        min_days=min_days,
    )
    rows = [flat_impact(it) for it in report.clients]
    shown = [it for it in report.clients if show_all or it.verdict is not Verdict.SAFE]
    answer = Answer(
        "impact",
        f"What breaks at {report.target}",
        words.of_impact(report),
        [*words.to_write_to(report), *words.on_basis(report.basis, report.min_days)],
        {
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
            "clients": rows,
        },
        rows,
        columns=IMPACT_COLUMNS,
        cells=[_impact_cells(it) for it in (report.clients if output.html else shown)],
        details=[_detail(it) for it in (report.clients if output.html else shown)],
    )
    _show(answer, output, _folder(tables), asked)
    raise typer.Exit(report.exit_code)


@app.command("restarts")
def report_restarts(
    tables: TablesOption,
    since: SinceOption = None,
    until: UntilOption = None,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    html: HtmlOption = None,
) -> None:
    """Tell when each broker started, which were up together, and which are flapping.

    Example: rollcall report restarts --tables tables --since 7d
    """
    output = Output(as_json, as_csv, html)
    asked = _question(since, until, cluster)
    report = reports.restarts(_folder(tables), question=asked)
    rows = [flat_broker(it) for it in report.brokers]
    told = [
        f"{len(wave.brokers)} brokers restarted one after another, {words.minute(wave.first)} to "
        f"{words.minute(wave.last)}: {', '.join(wave.brokers[:20])}"
        for wave in report.waves
    ]
    if report.fewest_up:
        told.append(
            f"At {words.minute(report.fewest_up[1])} no more than {report.fewest_up[0]} of "
            f"{len(report.brokers)} answered together."
        )
    answer = Answer(
        "restarts",
        "When brokers started",
        words.of_restarts(report),
        told,
        {"brokers": rows},
        rows,
        columns=("broker", "address", "software", "started", "restarts", "what else"),
        cells=[
            (
                it.node_id,
                it.address,
                " ".join(filter(None, (it.software_name, it.software_version)))
                + (f" ({it.software_source})" if it.software_version else ""),
                words.minute(it.start.told if it.start else None),
                it.restarts,
                "; ".join(say.on_broker(it)),
            )
            for it in report.brokers
        ],
    )
    _show(answer, output, _folder(tables), asked)


@app.command("trouble")
def report_trouble(
    tables: TablesOption,
    since: SinceOption = None,
    until: UntilOption = None,
    cluster: ClusterOption = None,
    principal: PrincipalOption = None,
    client_id: ClientIdOption = None,
    software: SoftwareOption = None,
    raw_ids: RawIdsOption = False,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    html: HtmlOption = None,
) -> None:
    """Tell which clients misbehave: storms, floods, errors, throttling, mixed versions.

    Example: rollcall report trouble --tables tables --since 24h
    """
    output = Output(as_json, as_csv, html)
    asked = _question(since, until, cluster, principal, client_id, software, raw_ids)
    report = reports.trouble(_folder(tables), question=asked)
    rows = [flat_complaint(it) for it in report.complaints]
    answer = Answer(
        "trouble",
        "Who misbehaves",
        words.of_trouble(report),
        words.on_basis(report.basis),
        {"basis": flat_basis(report.basis), "complaints": rows},
        rows,
        columns=("trouble", "principal", "application", "software", "what was seen"),
        cells=[
            (
                it.kind,
                it.client.principal,
                it.client.application,
                " ".join(filter(None, (it.client.software, ", ".join(it.versions[:4])))),
                say.complaint(it),
            )
            for it in report.complaints
        ],
    )
    _show(answer, output, _folder(tables), asked)


RIGHT = ("hosts", "connections", "requests", "restarts")


def _show(answer: Answer, output: Output, folder: Path, asked: Question) -> None:
    if output.json or output.csv or output.html is not None:
        put_out(answer, output.json, output.html, folder, asked)
        return
    print(safe_text(answer.headline[0].upper() + answer.headline[1:]) + ".")
    for line in answer.rests_on:
        print(f"  {safe_text(line)}")
    if answer.cells:
        print()
        print_table(answer.columns, answer.cells, right=RIGHT)
    for lines in filter(None, answer.details):
        print()
        print(safe_text(lines[0]))
        for line in lines[1:]:
            print(f"  {safe_text(line)}")


def _impact_cells(it: ClientImpact) -> Sequence[object]:
    client = it.judgement.client
    return (
        it.verdict,
        it.owner,
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
    lines += [f"-> {say.remedy(step)}" for step in it.remedies]
    lines += [f"note: {note}" for note in say.notes(it) if note not in lines]
    return [f"{it.verdict}: {name}, {say.software(client)}", *lines] if lines else []


def _question(
    since: str | None,
    until: str | None,
    cluster: str | None,
    principal: str | None = None,
    client_id: str | None = None,
    software: str | None = None,
    raw_ids: bool = False,
) -> Question:
    try:
        return Question(
            since=_time("--since", since),
            until=_time("--until", until),
            cluster=cluster,
            principal=principal,
            client_id=client_id,
            software=software,
            raw_ids=raw_ids,
        )
    except ConfigError as error:
        raise typer.BadParameter(f"{error.message}: {error.hint}") from error


AGE = re.compile(r"(\d+)([dh])")


def _time(option: str, text: str | None) -> datetime | None:
    """A UTC time without its zone, as the tables hold it."""
    if text is None:
        return None
    if age := AGE.fullmatch(text):
        hours = int(age[1]) * (24 if age[2] == "d" else 1)
        return datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=hours)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} {text!r} is no time: use 2026-10-01, 2026-10-01T12:00 or an age such as 30d"
        ) from None
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def _check_release(name: str) -> None:
    try:
        line_of(name)
    except UnknownReleaseError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}") from error


def _folder(tables: str) -> Path:
    if "://" in tables:
        raise RollcallError(
            f"reports read tables from a local folder, and {tables} is none",
            hint="copy the folder, or mount it",
        )
    return Path(tables)
