"""A group of commands whose modules are loaded when they are called, and not before.

Who asks for a report does not wait for asyncio to be imported, nor who asks a broker for DuckDB.
So that the group's own help loads none of them, its lines stand in the table; a test holds them
against what the commands say of themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

Table = Mapping[str, tuple[str, str]]
"""By name: where it is, as in `rollcall.cli.brokers.roll_call:brokers`, and its line of help."""


def lazy_group(table: Table) -> type[TyperGroup]:
    """For `typer.Typer(cls=...)`."""

    class Group(TyperGroup):
        def __init__(self, *, commands: Any = None, **attributes: Any) -> None:
            super().__init__(commands=_Commands(table, commands or {}), **attributes)  # type: ignore[arg-type]

        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Typer's call
            return list(self.commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """What a list of commands shows of it."""
            if cmd_name in table:
                return TyperCommand(cmd_name, help=table[cmd_name][1])
            return super().get_command(ctx, cmd_name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, _, rest = super().resolve_command(ctx, args)
            return name, None if name is None else self.commands[name], rest

    return Group


class _Commands(MutableMapping[str, Any]):
    """Commands by name; to look one up is to load it."""

    def __init__(self, table: Table, loaded: Mapping[str, Any]) -> None:
        self._table = table
        self._loaded = dict(loaded)

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = _load(name, self._table[name][0])
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._table, **self._loaded})

    def __len__(self) -> int:
        return len({**self._table, **self._loaded})


def _load(name: str, where: str) -> Any:
    module, _, attribute = where.partition(":")
    found = getattr(import_module(module), attribute)
    group = typer.Typer(add_completion=False)
    group.callback()(_nothing)  # with one, it stays a group whatever is in it
    if isinstance(found, typer.Typer):
        group.add_typer(found, name=name)
    else:
        group.command(name)(found)
    command = get_command(group).commands[name]  # type: ignore[attr-defined]
    _tidy(command)
    return command


def _tidy(command: Any) -> None:
    """Help as prose: paragraphs without our line ends, and no type beside what takes no value."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for parameter in command.params:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    inner = getattr(command, "commands", {})
    if not isinstance(inner, _Commands):  # those are tidied when they are loaded
        for each in inner.values():
            _tidy(each)


def _nothing() -> None: ...
