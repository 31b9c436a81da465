"""Options that the reports share, declared once as fields of a dataclass."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime, timedelta
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from rollcall.errors import ConfigError, RollcallError

if TYPE_CHECKING:
    from rollcall.reports.query.filters import Filters

AGE = re.compile(r"(\d+)([dh])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Options of every report."""

    tables: Annotated[str, typer.Option("--tables", metavar="DIR", help="Directory of the tables.")]
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Start of the window: UTC time (2026-10-01T12:00) or age (30d, 12h).",
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="End of the window: UTC time or age."),
    ] = None
    cluster: Annotated[str | None, typer.Option(metavar="NAME", help="Only this cluster.")] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a self-contained HTML report."),
    ] = None

    def __post_init__(self) -> None:
        if sum((self.as_json, self.as_csv, self.html is not None)) > 1:
            raise ConfigError(
                "--json, --csv and --html exclude each other", hint="give only one of them"
            )

    @property
    def directory(self) -> Path:
        from rollcall.pipeline.sources.paths import is_local, local_path

        if not is_local(self.tables):
            raise RollcallError(
                f"{self.tables} is not a local directory",
                hint="copy the directory to this machine, or mount it",
            )
        return Path(local_path(self.tables))

    @property
    def filters(self) -> Filters:
        return self._filters()

    def _filters(self, **names: Any) -> Filters:
        from rollcall.reports.query.filters import Filters

        since, until = _parse_time("--since", self.since), _parse_time("--until", self.until)
        return Filters(since=since, until=until, cluster=self.cluster, **names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReportOptions(ReportOptions):
    """Options of the reports about clients."""

    principal: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only matching principals, such as 'User:pay*'."),
    ] = None
    client_id: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only matching client ids, such as 'app-*'."),
    ] = None
    software: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN", help="Only matching software names, such as 'librdkafka*'."
        ),
    ] = None
    raw_ids: Annotated[
        bool, typer.Option("--raw-ids", help="List client ids instead of applications.")
    ] = False

    @property
    def filters(self) -> Filters:
        return self._filters(
            principal=self.principal,
            client_id=self.client_id,
            software=self.software,
            raw_ids=self.raw_ids,
        )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the first parameter of a command, a dataclass of options, into one option per field."""
    options, *own = signature(command, eval_str=True).parameters.values()
    hints = get_type_hints(options.annotation, include_extras=True)
    shared = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(options.annotation)
    ]
    own = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own]

    def call(**arguments: Any) -> None:
        values = {parameter.name: arguments.pop(parameter.name) for parameter in shared}
        command(options.annotation(**values), **arguments)

    parameters = [shared[0], *own, *shared[1:]]
    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parse_time(option: str, text: str | None) -> datetime | None:
    """A time or an age as UTC time without a zone, as in the tables."""
    try:
        return None if text is None else _time(text)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{option} {text!r} is not a valid time",
            hint="use 2026-10-01, 2026-10-01T12:00 or an age such as 30d",
        ) from None


def _time(text: str) -> datetime:
    from rollcall.reports.query.filters import in_utc

    if age := AGE.fullmatch(text):
        hours = int(age[1]) * (24 if age[2] == "d" else 1)
        return datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=hours)
    return in_utc(datetime.fromisoformat(text))
