"""Who owns a client: its principal, or what a CSV file says of principals and client ids."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rollcall.errors import RollcallError
from rollcall.reports.values import Client

COLUMNS = ("principal", "client_id", "owner")


@dataclass(frozen=True, slots=True)
class Rule:
    """Empty fits all; `*` and `?` stand for any text and any character."""

    principal: str
    client_id: str
    owner: str

    def fits(self, client: Client) -> bool:
        return _fits(self.principal, [client.principal]) and _fits(
            self.client_id, [client.application, *client.client_ids]
        )


@dataclass(frozen=True, slots=True)
class Owners:
    rules: tuple[Rule, ...] = ()

    def of(self, client: Client) -> str | None:
        """The first rule that fits; without one, the principal."""
        return next((it.owner for it in self.rules if it.fits(client)), client.principal)


NOBODY_SAID = Owners()


def read_owners(path: Path) -> Owners:
    """A CSV file with the columns principal, client_id and owner."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise RollcallError(
                    f"{path} has no column {missing[0]}",
                    hint=f"its first line is to be {','.join(COLUMNS)}",
                )
            return Owners(
                tuple(Rule(*((row[name] or "").strip() for name in COLUMNS)) for row in reader)
            )
    except (OSError, UnicodeError, csv.Error) as error:
        raise RollcallError(
            f"the owners cannot be read from {path}: {error}",
            hint=f"--owners wants a CSV file with the columns {', '.join(COLUMNS)}",
        ) from error


def _fits(pattern: str, texts: Iterable[str | None]) -> bool:
    return not pattern or any(fnmatchcase(text, pattern) for text in texts if text is not None)
