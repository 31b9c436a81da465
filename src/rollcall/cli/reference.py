"""Generate docs/commands.md from the commands: the text of --help as Markdown.

`python -m rollcall.cli.reference` prints the page; a test compares it with docs/commands.md.
"""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

INTRODUCTION = """# Command reference

This page is generated from the commands (`make docs`); `rollcall COMMAND --help` prints the same.
See [brokers.md](brokers.md) for the commands that query brokers and their settings file,
[cluster.md](cluster.md) for the embedded cluster, and [tables.md](tables.md) for the tables.

Exit codes of all commands: 0 success, 1 failure, 2 wrong usage or settings, 130 interrupted
(Ctrl-C), 143 terminated (SIGTERM). Further exit codes are listed with the command. Errors and
warnings are printed on standard error, an error with a hint.

`rollcall --install-completion` installs completion of commands and options for your shell;
`rollcall --show-completion` prints the script. `rollcall --version` prints the version.

| variable | meaning |
| --- | --- |
| `ROLLCALL_CONFIG` | Settings file, as `--config`. |
| `ROLLCALL_SASL_PASSWORD` | Password of the SASL user. Secrets are never options. |
| `ROLLCALL_TLS_KEY_PASSWORD` | Password of the TLS key. |
| `ROLLCALL_CACHE` | Cache directory (default `~/.cache/rollcall`, [170 MB](install.md)); empty disables the cache. |
| `JAVA_HOME` | Java 17 or newer for Spark. |
| `NO_COLOR` | Disable colours. |
"""  # noqa: E501 - a row of a Markdown table is one line


def reference() -> str:
    """The page as Markdown."""
    from rollcall.cli.app import app

    parts = [INTRODUCTION]
    for name, command in sorted(leaf_commands(get_command(app), "rollcall")):
        parts.extend(_section(name, command))
    return "\n".join(parts)


def leaf_commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """All commands that are not groups, with their full names."""
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        yield name, command
        return
    for word, subcommand in subcommands.items():
        yield from leaf_commands(subcommand, f"{name} {word}")


def _section(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}\n"
    yield _prose(command.help or "") + "\n"
    parameters = [parameter for parameter in command.params if "--help" not in parameter.opts]
    if parameters:
        yield "| argument, option | meaning |\n| --- | --- |"
        yield from map(_row, parameters)
        yield ""


def _prose(text: str) -> str:
    """One line per paragraph; the example as a code block."""
    paragraphs = (" ".join(part.split()) for part in text.replace("\f", "").split("\n\n"))
    return "\n\n".join(
        f"```console\n$ {paragraph.removeprefix('Example: ')}\n```"
        if paragraph.startswith("Example: ")
        else paragraph
        for paragraph in paragraphs
    )


def _row(parameter: Any) -> str:
    value = "" if getattr(parameter, "is_flag", False) else _metavar(parameter)
    names = value if _is_argument(parameter) else f"{parameter.opts[0]} {value}".strip()
    required = " Required." if parameter.required and not _is_argument(parameter) else ""
    return f"| `{_cell(names)}` | {_cell((parameter.help or '') + required)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _is_argument(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


if __name__ == "__main__":
    print(reference(), end="")
