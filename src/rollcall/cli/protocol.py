"""`rollcall protocol`: the messages of the Kafka protocol, as rollcall reads and writes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.terminal.output import print_json, print_table
from rollcall.errors import ConfigError, RollcallError
from rollcall.protocol.dialects import DIALECT_NAMES, RELEASED, Dialect, dialect, load_dialect
from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.reference import (
    MessageLayout,
    change_in,
    is_deprecated,
    message_layout,
    pages,
)
from rollcall.protocol.versions import VersionRange

app = typer.Typer(no_args_is_help=True, help="Show the messages of the Kafka protocol.")

DialectOption = Annotated[
    str,
    typer.Option(
        "--dialect",
        metavar="|".join(DIALECT_NAMES),
        help="As Kafka ships it, or as the proposals print it.",
    ),
]
SchemasOption = Annotated[
    Path | None,
    typer.Option(
        "--schemas",
        exists=True,
        file_okay=False,
        metavar="DIR",
        help="A folder of Kafka's own schema files, in place of ours.",
    ),
]


def _chosen(name: str, schemas: Path | None) -> Dialect:
    with _asked_for():
        return dialect(name) if schemas is None else load_dialect(schemas.name, schemas)


@contextmanager
def _asked_for() -> Iterator[None]:
    """A dialect or a version that is not there: it was the caller who named it."""
    try:
        yield
    except LocalProtocolError as error:
        raise ConfigError(error.message, hint=error.hint) from None


@app.command("list")
def list_apis(
    dialect_name: DialectOption = RELEASED,
    schemas: SchemasOption = None,
    as_json: JsonOption = False,
) -> None:
    """List all APIs with their keys and versions.

    Example: rollcall protocol list --dialect kip
    """
    apis = _chosen(dialect_name, schemas).apis.values()
    if as_json:
        print_json(
            [
                {
                    "key": api.key,
                    "name": api.name,
                    "versions": _bounds(api.versions),
                    "flexible": _bounds(api.request.flexible),
                    "deprecated": _bounds(api.request.deprecated),
                }
                for api in apis
            ]
        )
        return
    print_table(
        ("key", "API", "versions", "flexible", "deprecated"),
        [
            (api.key, api.name, api.versions, api.request.flexible, api.request.deprecated or "")
            for api in apis
        ],
        right=("key",),
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="An API (Metadata) or a message (MetadataRequest).")],
    version: Annotated[
        int | None, typer.Option(metavar="N", help="The version; without it, all in short.")
    ] = (None),
    dialect_name: DialectOption = RELEASED,
    schemas: SchemasOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the layout of a message in one version, or what each version brought.

    Example: rollcall protocol show Metadata --version 10 --dialect kip
    """
    chosen = _chosen(dialect_name, schemas)
    names = _message_names(chosen, name)
    if version is None:
        _show_versions(chosen, names, as_json)
        return
    with _asked_for():
        layouts = [message_layout(chosen, message, version) for message in names]
    if as_json:
        print_json([_as_json(found) for found in layouts])
        return
    for found in layouts:
        _print_layout(found)


@app.command()
def reference(
    output: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write to.")],
    schemas: SchemasOption = None,
) -> None:
    """Write the reference of all messages, versions and dialects as Markdown.

    Example: rollcall protocol reference --output build/protocol
    """
    dialects = [dialect(n) for n in DIALECT_NAMES] if schemas is None else [_chosen("", schemas)]
    written = pages(dialects)
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            (output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RollcallError(
            f"the reference cannot be written to {output}: {error.strerror}",
            hint="give --output a folder that you may write to",
        ) from error
    print(f"{len(written)} pages in {output}, beginning with {output / 'index.md'}")


def _message_names(chosen: Dialect, name: str) -> list[str]:
    """Both messages of an API, or the one that was named; letter case does not matter."""
    by_folded = {message.lower(): message for message in chosen.messages}
    for api in chosen.apis.values():
        if api.name.lower() == name.lower():
            return [api.request.name, api.response.name]
    if name.lower() in by_folded:
        return [by_folded[name.lower()]]
    raise ConfigError(
        f"there is no API or message {name!r} in the dialect {chosen.name}",
        hint=f"known are {', '.join(api.name for api in chosen.apis.values())}",
    )


def _show_versions(chosen: Dialect, names: list[str], as_json: bool) -> None:
    rows = [
        (spec.name, version, is_deprecated(chosen, spec, version), change_in(spec, version))
        for spec in map(chosen.spec, names)
        for version in spec.versions
    ]
    if as_json:
        keys = ("message", "version", "deprecated", "change")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    print_table(
        ("message", "version", "", "what it brings"),
        [(name, version, "deprecated" if mark else "", text) for name, version, mark, text in rows],
        right=("version",),
    )


def _print_layout(found: MessageLayout) -> None:
    traits = ["flexible" if found.flexible else "not flexible"]
    if found.header is not None:
        traits.append(f"header {found.header}")
    if found.deprecated:
        traits.append("deprecated")
    print_table(
        ("field", "type", "null", "tag", "default", "about"),
        [
            (
                "  " * row.depth + row.name,
                row.type,
                "yes" if row.nullable else "",
                row.tag,
                row.default,
                f"(deprecated) {row.about}" if row.deprecated else row.about,
            )
            for row in found.rows
        ],
        title=f"{found.name} {found.version}, dialect {found.dialect} ({', '.join(traits)})",
    )


def _as_json(found: MessageLayout) -> dict[str, object]:
    return {
        "message": found.name,
        "version": found.version,
        "dialect": found.dialect,
        "header": found.header,
        "flexible": found.flexible,
        "deprecated": found.deprecated,
        "change": found.change,
        "fields": [vars(row) for row in found.rows],
    }


def _bounds(versions: VersionRange) -> list[int] | None:
    return [versions.lowest, versions.highest] if versions else None
