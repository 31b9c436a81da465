"""Names that were asked for and nobody has: a slip, told with the names that there are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from rollcall.errors import ConfigError
from rollcall.reports.query.database import Reader
from rollcall.reports.query.wildcards import like

SHOWN = 5
COMPARED = 2000
CLUSTERS = "SELECT DISTINCT cluster FROM {brokers} UNION SELECT DISTINCT cluster FROM {files}"
NAMES = "SELECT DISTINCT {column} FROM identities WHERE {column} IS NOT NULL ORDER BY 1"
FITS = "SELECT 1 FROM identities WHERE {fits} LIMIT 1"
COLUMNS = {"principal": "principal", "client_id": "client_id", "software": "software_name"}
WORDS = {"principal": "principal", "client_id": "client id", "software": "software name"}


class UnknownNameError(ConfigError):
    """Nobody in the tables has a name that was asked for."""


def check_cluster(reader: Reader) -> None:
    """A cluster must be one that something was ever read of."""
    asked = reader.question.cluster
    if asked is None:
        return
    tables = {name: reader.table(name) for name in ("brokers", "files")}
    known = [row[0] for row in reader.rows(CLUSTERS.format(**tables))]
    if known and asked not in known:
        named = [name for name in known if name is not None]
        raise _unknown("cluster", asked, named, "in the tables")


def check_names(reader: Reader) -> None:
    """Somebody in the window must fit each name that was asked for; nothing heard is no slip."""
    for field, column in COLUMNS.items():
        asked = getattr(reader.question, field)
        if asked is None or reader.rows(FITS.format(fits=like(column, asked))):
            continue
        if known := [row[0] for row in reader.rows(NAMES.format(column=column))]:
            raise _unknown(WORDS[field], asked, known, "in this window")


def _unknown(what: str, asked: str, known: Sequence[str], where: str) -> UnknownNameError:
    message = f"there is no {what} {asked!r} {where}"
    if not known:
        hint = "none was named when the logs were read (`rollcall pipeline run --cluster`)"
        return UnknownNameError(message, hint=hint)
    near = sorted(known[:COMPARED], key=lambda name: (-_alike(name, asked), name))
    more = f", and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return UnknownNameError(message, hint=f"there is {', '.join(near[:SHOWN])}{more}")


def _alike(name: str, asked: str) -> float:
    return SequenceMatcher(None, name.lower(), asked.lower().strip("*?")).ratio()
