"""Who owns a client: its principal, or what a CSV file says of principals and client ids."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from rollcall.errors import ConfigError
from rollcall.reports.query.wildcards import ANY, fits
from rollcall.reports.values import Client

COLUMNS = ("principal", "client_id", "owner")


class Rule(NamedTuple):
    """Empty fits all; `*` and `?` stand for any text and any character."""

    principal: str
    client_id: str
    owner: str


class _Lines:
    """The rules that fit one principal. Files may have thousands of them: plain client ids are
    looked up, and only those with wildcards are tried one by one."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.plain: dict[str, int] = {}
        self.others: list[tuple[int, str]] = []
        for number, rule in enumerate(rules):
            if rule.client_id and not ANY.keys() & set(rule.client_id):
                self.plain.setdefault(rule.client_id, number)
            else:
                self.others.append((number, rule.client_id))

    def first(self, names: Collection[str]) -> Rule | None:
        plain = min((self.plain[it] for it in names if it in self.plain), default=None)
        for number, pattern in self.others:
            if plain is not None and number > plain:
                break
            if not pattern or any(fits(name, pattern) for name in names):
                return self.rules[number]
        return None if plain is None else self.rules[plain]


@dataclass(frozen=True)
class Owners:
    rules: tuple[Rule, ...] = ()

    @cached_property
    def _by_principal(self) -> dict[str | None, _Lines]:
        return {}

    def of(self, client: Client, client_ids: Collection[str] = ()) -> str | None:
        """The first rule that fits; without one, the principal. `client_ids` are all of them,
        where the client has too many to show."""
        who = client.principal
        if not self.rules:
            return who
        if who not in self._by_principal:
            fitting = [it for it in self.rules if _is_for(it, who)]
            self._by_principal[who] = _Lines(fitting)
        names = [client.application, *(client_ids or client.client_ids)]
        found = self._by_principal[who].first([name for name in names if name is not None])
        return found.owner if found else who


def _is_for(rule: Rule, principal: str | None) -> bool:
    return not rule.principal or (principal is not None and fits(principal, rule.principal))


NOBODY_SAID = Owners()


def read_owners(path: Path) -> Owners:
    """A CSV file with the columns principal, client_id and owner; a line without an owner, as
    spreadsheets leave at the end, says nothing."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise ConfigError(
                    f"{path} has no column {missing[0]}",
                    hint=f"its first line is to be {','.join(COLUMNS)}",
                )
            rows = [Rule(*((row[name] or "").strip() for name in COLUMNS)) for row in reader]
            return Owners(tuple(it for it in rows if it.owner))
    except (OSError, UnicodeError, csv.Error) as error:
        raise ConfigError(
            f"the owners cannot be read from {path}: {getattr(error, 'strerror', None) or error}",
            hint=f"--owners wants a CSV file with the columns {', '.join(COLUMNS)}",
        ) from error
