"""Imports point one way, and each trade stays in its room.

Every module under src/rollcall is parsed, not imported, so that an import inside a function counts.
"""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rollcall"

# Who may import whom. `rollcall` is the package itself (its version). All may import `errors`.
MAY_IMPORT = {
    "rollcall": set[str](),
    "errors": set[str](),
    "protocol": set[str](),
    "catalog": set[str](),
    "client": {"rollcall", "protocol", "catalog"},
    "server": {"rollcall", "protocol", "catalog"},
    "broker": {"rollcall", "server", "client", "protocol"},
    "tables": {"rollcall"},
    "pipeline": {"rollcall", "tables", "catalog"},
    "loggen": {"rollcall", "pipeline", "catalog"},
    "reports": {"rollcall", "tables", "catalog"},
    "pages": {"rollcall", "reports", "catalog"},
}
MAY_IMPORT["cli"] = MAY_IMPORT.keys() - {"cli"}

# Modules that stand before the rooms: the package itself, and where the command line is entered.
AT_THE_DOOR = {"__init__.py": "rollcall", "__main__.py": "cli"}

# Libraries that belong to one room.
ONLY_IN = {"pyspark": {"pipeline", "loggen"}, "typer": {"cli"}, "rich": {"cli"}}

# The rooms of values: bytes and facts come in, bytes and judgements go out.
PURE = {"protocol", "catalog"}
IMPURE_LIBRARIES = {
    "asyncio", "select", "selectors", "signal", "socket", "socketserver", "ssl", "subprocess",
    "threading", "time", "uvloop",
}  # fmt: skip
AWAITS = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)

# What only the command line does: print, ask, exit, read settings.
CLI_BUILTINS = {"print", "input", "exit", "quit", "SystemExit"}
CLI_ATTRIBUTES = {
    ("sys", "exit"), ("sys", "argv"),
    ("os", "environ"), ("os", "environb"), ("os", "getenv"), ("os", "_exit"),
}  # fmt: skip


def imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that is imported anywhere in a module of this package."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package.split(".")[: -(level - 1) or None] if level else []
                start = ".".join([*base, *([module] if module else [])])
                yield from ((node.lineno, f"{start}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def room_of(dotted: str) -> str:
    """The room that a dotted name under `rollcall` lies in."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else "rollcall"


def faults(source: str, room: str, package: str | None = None) -> list[str]:
    """Why this source may not stand in this room, a line each."""
    tree = ast.parse(source)
    found = []
    for line, name in imports(tree, package or f"rollcall.{room}"):
        library = name.partition(".")[0]
        if library == "rollcall" and room_of(name) not in {room, "errors"} | MAY_IMPORT[room]:
            found.append(f"{line}: {room} may not import {name}")
        if room not in ONLY_IN.get(library, {room}):
            found.append(f"{line}: only {', '.join(ONLY_IN[library])} may import {library}")
        if room in PURE and library in IMPURE_LIBRARIES:
            found.append(f"{line}: {room} may not import {library}")
        if room != "cli" and tuple(name.split(".")) in CLI_ATTRIBUTES:
            found.append(f"{line}: only cli may use {name}")
    for node in ast.walk(tree):
        if room in PURE and isinstance(node, AWAITS):
            found.append(f"{node.lineno}: nothing in {room} awaits")
        if room != "cli":
            found.extend(cli_only_uses(node))
    return found


def cli_only_uses(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) if name in CLI_BUILTINS:
            yield f"{node.lineno}: only cli may use {name}"
        case ast.Attribute(value=ast.Name(id=module), attr=name) if (
            module,
            name,
        ) in CLI_ATTRIBUTES:
            yield f"{node.lineno}: only cli may use {module}.{name}"


MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
ROOMS = sorted({module.parent for module in MODULES})


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_keeps_to_its_room(module: Path) -> None:
    room = AT_THE_DOOR.get(str(module), module.parts[0].removesuffix(".py"))
    assert room in MAY_IMPORT, f"{room} is no room: give it a line in MAY_IMPORT"
    package = ".".join(["rollcall", *module.parts[:-1]])
    assert faults((SOURCE / module).read_text(encoding="utf-8"), room, package) == []


def test_the_rooms_can_be_put_in_one_order() -> None:
    order = list(TopologicalSorter(MAY_IMPORT).static_order())
    assert order[-1] == "cli"


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_a_room_says_what_it_is(room: Path) -> None:
    opening = SOURCE / room / "__init__.py"
    assert opening.exists()
    docstring = ast.get_docstring(ast.parse(opening.read_text(encoding="utf-8")))
    assert docstring, "a room opens with what it is, what it is not, and its modules in order"


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("protocol", "import rollcall.catalog"),
        ("protocol", "from rollcall import client"),
        ("protocol", "def later():\n    from rollcall.server import Listener"),
        ("protocol", "from ..catalog import releases"),
        ("protocol", "from .. import catalog"),
        ("protocol", "import asyncio"),
        ("protocol", "from time import monotonic"),
        ("protocol", "async def read(): ..."),
        ("catalog", "from rollcall.protocol import reader"),
        ("client", "from rollcall.server.registry import Registry"),
        ("server", "importlib.import_module('rollcall.broker')"),
        ("broker", "from rollcall.catalog.releases.release import Release"),
        ("reports", "from rollcall.pipeline import parse"),
        ("reports", "if TYPE_CHECKING:\n    from pyspark.sql import DataFrame"),
        ("tables", "import pyspark.sql"),
        ("server", "from rich.table import Table"),
        ("server", "print('listening')"),
        ("server", "emit = print"),
        ("client", "sys.exit(1)"),
        ("client", "raise SystemExit(1)"),
        ("client", "from os import environ"),
        ("pipeline", "home = os.environ['SPARK_HOME']"),
        ("errors", "from rollcall.cli import main"),
        ("client", "from rollcall.cli.terminal.output import safe_text"),
    ],
)
def test_what_does_not_belong_in_a_room_is_found(room: str, source: str) -> None:
    assert len(faults(source, room)) == 1


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("protocol", "from rollcall.errors import RollcallError"),
        ("protocol", "from rollcall.protocol.framing import FrameReader"),
        ("protocol", "from .framing import FrameReader"),
        ("client", "from rollcall import __version__\nimport asyncio\nimport time"),
        ("client", "from rollcall import protocol, catalog"),
        ("pipeline", "from pyspark.sql import DataFrame"),
        ("cli", "import os, sys, rich, typer\nprint(os.environ)\nsys.exit(1)"),
        ("cli", "from rollcall.broker import node\nfrom rollcall.pipeline import parse"),
    ],
)
def test_what_belongs_in_a_room_is_left_alone(room: str, source: str) -> None:
    assert faults(source, room) == []
