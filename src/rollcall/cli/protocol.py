"""`rollcall protocol`: APIs, message layouts and the generated protocol reference.

`rollcall.protocol` is imported inside functions (35 ms).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.terminal.output import print_json, print_table
from rollcall.errors import ConfigError, RollcallError

if TYPE_CHECKING:
    from rollcall.protocol.dialects import Dialect
    from rollcall.protocol.reference import MessageLayout
    from rollcall.protocol.versions import VersionRange

app = typer.Typer(no_args_is_help=True, help="Show the messages of the Kafka protocol.")

DialectOption = Annotated[
    str,
    typer.Option(
        "--dialect",
        metavar="released|kip",
        show_default=False,
        help="Messages as in released Kafka, or as in the proposals (default released).",
    ),
]
SchemasOption = Annotated[
    Path | None,
    typer.Option(
        "--schemas",
        exists=True,
        file_okay=False,
        metavar="DIR",
        help="Directory with Kafka's message schemas (default: the schemas of rollcall).",
    ),
]


def _load(name: str, schemas: Path | None) -> Dialect:
    from rollcall.protocol.dialects import dialect, load_dialect

    with _usage_errors():
        return dialect(name) if schemas is None else load_dialect(schemas.name, schemas)


@contextmanager
def _usage_errors() -> Iterator[None]:
    """An unknown dialect or version is a usage error."""
    from rollcall.protocol.errors import LocalProtocolError

    try:
        yield
    except LocalProtocolError as error:
        raise ConfigError(error.message, hint=error.hint) from None


@app.command("list")
def list_apis(
    dialect_name: DialectOption = "released",
    schemas: SchemasOption = None,
    as_json: JsonOption = False,
) -> None:
    """List all APIs with their keys and versions.

    Example: rollcall protocol list --dialect kip
    """
    apis = _load(dialect_name, schemas).apis.values()
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
    name: Annotated[
        str, typer.Argument(help="API (Metadata) or message (MetadataRequest), in any case.")
    ],
    version: Annotated[
        int | None,
        typer.Option(metavar="N", help="Version to show (default: a summary of all versions)."),
    ] = None,
    dialect_name: DialectOption = "released",
    schemas: SchemasOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the fields of a message in one version, or the changes of each version.

    Example: rollcall protocol show Metadata --version 10 --dialect kip
    """
    from rollcall.protocol.reference import message_layout

    dialect = _load(dialect_name, schemas)
    names = _message_names(dialect, name)
    if version is None:
        _show_versions(dialect, names, as_json)
        return
    with _usage_errors():
        layouts = [message_layout(dialect, message, version) for message in names]
    if as_json:
        print_json([_layout_json(layout) for layout in layouts])
        return
    for layout in layouts:
        _print_layout(layout)


@app.command()
def reference(
    output: Annotated[Path, typer.Option(metavar="DIR", help="Directory to write to.")],
    schemas: SchemasOption = None,
) -> None:
    """Write the reference of all messages, versions and dialects as Markdown.

    Example: rollcall protocol reference --output build/protocol
    """
    from rollcall.protocol.dialects import DIALECT_NAMES
    from rollcall.protocol.reference import pages

    names = DIALECT_NAMES if schemas is None else ("",)
    written = pages([_load(name, schemas) for name in names])
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            (output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RollcallError(
            f"cannot write the reference to {output}: {error.strerror}",
            hint="choose a writable directory with --output",
        ) from error
    print(f"{len(written)} pages written, start with {output / 'index.md'}")


def _message_names(dialect: Dialect, name: str) -> list[str]:
    """Request and response of an API, or one message; the case of letters is ignored."""
    for api in dialect.apis.values():
        if api.name.lower() == name.lower():
            return [api.request.name, api.response.name]
    for message in dialect.messages:
        if message.lower() == name.lower():
            return [message]
    raise ConfigError(
        f"the dialect {dialect.name} has no API or message {name!r}",
        hint=f"choose one of {', '.join(api.name for api in dialect.apis.values())}",
    )


def _show_versions(dialect: Dialect, names: list[str], as_json: bool) -> None:
    from rollcall.protocol.reference import change_in, is_deprecated

    rows = [
        (spec.name, version, is_deprecated(dialect, spec, version), change_in(spec, version))
        for spec in map(dialect.spec, names)
        for version in spec.versions
    ]
    if as_json:
        keys = ("message", "version", "deprecated", "change")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    print_table(
        ("message", "version", "", "change"),
        [
            (name, version, "deprecated" if deprecated else "", change)
            for name, version, deprecated, change in rows
        ],
        right=("version",),
    )


def _print_layout(layout: MessageLayout) -> None:
    traits = ["flexible" if layout.flexible else "not flexible"]
    if layout.header is not None:
        traits.append(f"header {layout.header}")
    if layout.deprecated:
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
            for row in layout.rows
        ],
        title=f"{layout.name} {layout.version}, dialect {layout.dialect} ({', '.join(traits)})",
    )


def _layout_json(layout: MessageLayout) -> dict[str, object]:
    return {
        "message": layout.name,
        "version": layout.version,
        "dialect": layout.dialect,
        "header": layout.header,
        "flexible": layout.flexible,
        "deprecated": layout.deprecated,
        "change": layout.change,
        "fields": [vars(row) for row in layout.rows],
    }


def _bounds(versions: VersionRange) -> list[int] | None:
    return [versions.lowest, versions.highest] if versions else None
