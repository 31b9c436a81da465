"""The owner of a client: its principal, or what a CSV file assigns to principals and client ids."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from rollcall.errors import ConfigError
from rollcall.reports.clients import Client
from rollcall.reports.query.filters import WILDCARDS, matches

COLUMNS = ("principal", "client_id", "owner")


class OwnerRule(NamedTuple):
    """A line of the file. An empty pattern matches everything; `*` and `?` are wildcards."""

    principal: str
    client_id: str
    owner: str


class _PrincipalRules:
    """The rules of one principal.

    A file may have thousands of lines: literal client ids are looked up, only patterns are tried
    one by one."""

    def __init__(self, rules: Sequence[OwnerRule]) -> None:
        self.rules = rules
        self.literals: dict[str, int] = {}
        self.patterns: list[tuple[int, str]] = []
        for number, rule in enumerate(rules):
            if rule.client_id and not WILDCARDS.keys() & set(rule.client_id):
                self.literals.setdefault(rule.client_id, number)
            else:
                self.patterns.append((number, rule.client_id))

    def first(self, names: Collection[str]) -> OwnerRule | None:
        """The first rule in the order of the file."""
        literal = min(
            (self.literals[name] for name in names if name in self.literals), default=None
        )
        for number, pattern in self.patterns:
            if literal is not None and number > literal:
                break
            if not pattern or any(matches(name, pattern) for name in names):
                return self.rules[number]
        return None if literal is None else self.rules[literal]


@dataclass(frozen=True)
class Owners:
    rules: tuple[OwnerRule, ...] = ()

    @cached_property
    def _by_principal(self) -> dict[str | None, _PrincipalRules]:
        return {}

    def of(self, client: Client, client_ids: Collection[str] = ()) -> str | None:
        """The owner in the first rule that matches, otherwise the principal.

        `client_ids` are all ids of the client, if it has more than `Client.client_ids`."""
        principal = client.principal
        if not self.rules:
            return principal
        if principal not in self._by_principal:
            rules = [rule for rule in self.rules if _is_for(rule, principal)]
            self._by_principal[principal] = _PrincipalRules(rules)
        names = [client.application, *(client_ids or client.client_ids)]
        rule = self._by_principal[principal].first([name for name in names if name is not None])
        return rule.owner if rule else principal


def _is_for(rule: OwnerRule, principal: str | None) -> bool:
    return not rule.principal or (principal is not None and matches(principal, rule.principal))


NO_OWNERS = Owners()


def read_owners(path: Path) -> Owners:
    """Read a CSV file with the columns principal, client_id and owner.

    Lines without an owner are ignored; spreadsheets write such lines at the end."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise ConfigError(
                    f"{path} has no column {missing[0]}",
                    hint=f"begin the file with the line {','.join(COLUMNS)}",
                )
            rules = [OwnerRule(*((row[name] or "").strip() for name in COLUMNS)) for row in reader]
            return Owners(tuple(rule for rule in rules if rule.owner))
    except (OSError, UnicodeError, csv.Error) as error:
        raise ConfigError(
            f"cannot read the owners from {path}: {getattr(error, 'strerror', None) or error}",
            hint=f"give --owners a CSV file with the columns {', '.join(COLUMNS)}",
        ) from error
