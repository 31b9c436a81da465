"""The options that reports share, each declared once."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime, timedelta
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from rollcall.errors import ConfigError, RollcallError
from rollcall.pipeline.sources.paths import is_local, local_path
from rollcall.reports.query.filters import Question

AGE = re.compile(r"(\d+)([dh])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What every report takes."""

    tables: Annotated[
        str, typer.Option("--tables", metavar="DIR", help="The folder of the tables.")
    ]
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="From this UTC time (2026-10-01T12:00) or age (30d)."
        ),
    ] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Up to this UTC time or age.")
    ] = None
    cluster: Annotated[str | None, typer.Option(metavar="NAME", help="Only this cluster.")] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")] = False
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write one page that can be mailed."),
    ] = None

    def __post_init__(self) -> None:
        if sum((self.as_json, self.as_csv, self.html is not None)) > 1:
            raise ConfigError(
                "--json, --csv and --html are different answers", hint="give one of them"
            )

    @property
    def folder(self) -> Path:
        if not is_local(self.tables):
            raise RollcallError(
                f"reports read tables from a local folder, and {self.tables} is none",
                hint="copy the folder, or mount it",
            )
        return Path(local_path(self.tables))

    @property
    def question(self) -> Question:
        return self._question()

    def _question(self, **whose: Any) -> Question:
        since, until = _time("--since", self.since), _time("--until", self.until)
        return Question(since=since, until=until, cluster=self.cluster, **whose)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfClients(Asked):
    """What the reports about clients take beside it."""

    principal: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only principals that fit, as in 'User:pay*'."),
    ] = None
    client_id: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only client ids that fit, as in 'app-*'."),
    ] = None
    software: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only software names that fit, as in 'librdkafka*'."),
    ] = None
    raw_ids: Annotated[
        bool, typer.Option("--raw-ids", help="List client ids one by one, and not by application.")
    ] = False

    @property
    def question(self) -> Question:
        return self._question(
            principal=self.principal,
            client_id=self.client_id,
            software=self.software,
            raw_ids=self.raw_ids,
        )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its first parameter, `asked`, as options of their own."""
    asked, *own = signature(command, eval_str=True).parameters.values()
    hints = get_type_hints(asked.annotation, include_extras=True)
    shared = [
        Parameter(
            it.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if it.default is MISSING else it.default,
            annotation=hints[it.name],
        )
        for it in fields(asked.annotation)
    ]
    own = [it.replace(kind=Parameter.KEYWORD_ONLY) for it in own]

    def call(**given: Any) -> None:
        of_all = {it.name: given.pop(it.name) for it in shared}
        with _without_garbage():
            command(asked.annotation(**of_all), **given)

    every = [shared[0], *own, *shared[1:]]
    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__signature__ = Signature(every)  # type: ignore[attr-defined]
    call.__annotations__ = {it.name: it.annotation for it in every}
    return call


@contextmanager
def _without_garbage() -> Iterator[None]:
    """A report makes a million values and keeps them all to its end: looking for those that
    nobody needs any more would be a tenth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _time(option: str, text: str | None) -> datetime | None:
    """A UTC time without its zone, as the tables hold it."""
    try:
        return None if text is None else _parsed(text)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{option} {text!r} is no time",
            hint="use 2026-10-01, 2026-10-01T12:00 or an age such as 30d",
        ) from None


def _parsed(text: str) -> datetime:
    if age := AGE.fullmatch(text):
        hours = int(age[1]) * (24 if age[2] == "d" else 1)
        return datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=hours)
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
