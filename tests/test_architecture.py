"""Imports between packages point one way, and each package keeps to what it is for.

Modules under src/rollcall are parsed, not imported, so that imports inside functions count.
"""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rollcall"

# Modules that every package may import.
SHARED = {"errors", "text"}

# The packages that each package may import. `rollcall` is the top level (its version).
MAY_IMPORT = {
    "rollcall": set[str](),
    "errors": set[str](),
    "text": set[str](),
    "protocol": set[str](),
    "catalog": set[str](),
    "client": {"rollcall", "protocol", "catalog"},
    "server": {"rollcall", "protocol", "catalog"},
    "broker": {"rollcall", "server", "client", "protocol", "catalog"},
    "tables": {"rollcall"},
    "pipeline": {"rollcall", "tables", "catalog"},
    "loggen": {"rollcall", "pipeline", "catalog"},
    "reports": {"rollcall", "tables", "catalog"},
    "pages": {"rollcall", "reports", "catalog"},
}
MAY_IMPORT["cli"] = MAY_IMPORT.keys() - {"cli"}

# Modules at the top level that belong to a package.
TOP_LEVEL = {"__init__.py": "rollcall", "__main__.py": "cli"}

# Libraries that only some packages may import.
ONLY_IN = {"pyspark": {"pipeline", "loggen"}, "typer": {"cli"}, "rich": {"cli"}}

# Packages without sockets, clocks and event loops.
PURE = {"protocol", "catalog"}
IMPURE_LIBRARIES = {
    "asyncio", "select", "selectors", "signal", "socket", "socketserver", "ssl", "subprocess",
    "threading", "time", "uvloop",
}  # fmt: skip
AWAITS = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)

# Only the command line prints, exits and reads settings.
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


def package_of(dotted: str) -> str:
    """The package that a dotted name under `rollcall` belongs to."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else "rollcall"


def violations(source: str, package: str, parent: str | None = None) -> list[str]:
    """Each rule that a module with this source breaks in this package."""
    tree = ast.parse(source)
    found = []
    for line, name in imports(tree, parent or f"rollcall.{package}"):
        library = name.partition(".")[0]
        if (
            library == "rollcall"
            and package_of(name) not in {package, *SHARED} | MAY_IMPORT[package]
        ):
            found.append(f"{line}: {package} may not import {name}")
        if package not in ONLY_IN.get(library, {package}):
            found.append(f"{line}: only {', '.join(ONLY_IN[library])} may import {library}")
        if package in PURE and library in IMPURE_LIBRARIES:
            found.append(f"{line}: {package} may not import {library}")
        if package != "cli" and tuple(name.split(".")) in CLI_ATTRIBUTES:
            found.append(f"{line}: only cli may use {name}")
    for node in ast.walk(tree):
        if package in PURE and isinstance(node, AWAITS):
            found.append(f"{node.lineno}: nothing in {package} awaits")
        if package != "cli":
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
PACKAGES = sorted({module.parent for module in MODULES})


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_module_keeps_to_its_package(module: Path) -> None:
    package = TOP_LEVEL.get(str(module), module.parts[0].removesuffix(".py"))
    assert package in MAY_IMPORT, f"{package} has no row in MAY_IMPORT"
    parent = ".".join(["rollcall", *module.parts[:-1]])
    assert violations((SOURCE / module).read_text(encoding="utf-8"), package, parent) == []


def test_packages_have_one_order() -> None:
    order = list(TopologicalSorter(MAY_IMPORT).static_order())
    assert order[-1] == "cli"


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_package_has_a_docstring(package: Path) -> None:
    opening = SOURCE / package / "__init__.py"
    assert opening.exists()
    docstring = ast.get_docstring(ast.parse(opening.read_text(encoding="utf-8")))
    assert docstring, "say what the package is, what it is not, and its modules in reading order"


@pytest.mark.parametrize(
    ("package", "source"),
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
        ("pages", "from rollcall.pipeline import run"),
        ("loggen", "from rollcall.reports import impact"),
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
        ("errors", "from rollcall.__main__ import main"),
        ("client", "from rollcall.cli.terminal.output import print_table"),
    ],
)
def test_violation_is_found(package: str, source: str) -> None:
    assert len(violations(source, package)) == 1


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("protocol", "from rollcall.errors import RollcallError"),
        ("protocol", "from rollcall.protocol.framing import FrameReader"),
        ("protocol", "from .framing import FrameReader"),
        ("client", "from rollcall import __version__\nimport asyncio\nimport time"),
        ("client", "from rollcall import protocol, catalog"),
        ("pipeline", "from pyspark.sql import DataFrame"),
        ("loggen", "from pyspark.sql import DataFrame"),
        ("broker", "from rollcall.catalog import Release"),
        ("cli", "import os, sys, rich, typer\nprint(os.environ)\nsys.exit(1)"),
        ("cli", "from rollcall.broker import node\nfrom rollcall.pipeline import parse"),
    ],
)
def test_allowed_import_is_accepted(package: str, source: str) -> None:
    assert violations(source, package) == []
