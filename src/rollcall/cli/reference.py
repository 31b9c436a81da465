"""The page of all commands, made from the commands themselves: what --help says, as Markdown.

`python -m rollcall.cli.reference` prints it; `docs/commands.md` holds it, and a test compares them.
"""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

OPENING = """# The commands

This page is made from the commands themselves (`make docs`); `rollcall COMMAND --help` says the
same. [brokers.md](brokers.md) has more about the commands that ask brokers, and the settings file
that they read; [cluster.md](cluster.md) about the embedded cluster; [tables.md](tables.md) about
the tables.

Exit codes of all commands: 0 done, 1 it failed, 2 it was called in a wrong way or with settings
that cannot be used, 130 interrupted (Ctrl-C), 143 told to end (SIGTERM). A command with others says
so below. Errors go to standard error, as a message and a hint.

`rollcall --install-completion` teaches your shell to complete commands and options;
`rollcall --show-completion` prints what it would add. `rollcall --version` prints the version.

| variable | |
| --- | --- |
| `ROLLCALL_CONFIG` | the settings file, as `--config` |
| `ROLLCALL_SASL_PASSWORD` | the password of the settings' user: a secret is never an option |
| `ROLLCALL_TLS_KEY_PASSWORD` | the password of the settings' TLS key |
| `ROLLCALL_CACHE` | in place of `~/.cache/rollcall` ([170 MB](install.md)); empty: nowhere |
| `JAVA_HOME` | the Java that Spark runs on, 17 or newer |
| `NO_COLOR` | no colours, also on a terminal |
"""


def reference() -> str:
    from rollcall.cli.app import app

    parts = [OPENING]
    for name, command in sorted(commands_of(get_command(app), "rollcall")):
        parts.extend(_page(name, command))
    return "\n".join(parts)


def commands_of(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Those that do something, with the words that lead to them."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for word, each in inner.items():
        yield from commands_of(each, f"{name} {word}")


def _page(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}\n"
    yield _prose(command.help or "") + "\n"
    shown = [each for each in command.params if "--help" not in each.opts]
    if shown:
        yield "| argument, option | |\n| --- | --- |"
        yield from map(_row, shown)
        yield ""


def _prose(text: str) -> str:
    """Paragraphs on a line each; the example as code."""
    paragraphs = (" ".join(each.split()) for each in text.replace("\f", "").split("\n\n"))
    return "\n\n".join(
        f"```console\n$ {each.removeprefix('Example: ')}\n```"
        if each.startswith("Example: ")
        else each
        for each in paragraphs
    )


def _row(parameter: Any) -> str:
    value = _value(parameter)
    names = value if _is_argument(parameter) else f"{parameter.opts[0]} {value}".strip()
    text = (parameter.help or "") + _default(parameter)
    return f"| `{_cell(names)}` | {_cell(text)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _is_argument(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


def _value(parameter: Any) -> str:
    """What to write after the option."""
    if parameter.metavar or _is_argument(parameter):
        return str(parameter.metavar or parameter.name.upper())
    return "|".join(getattr(parameter.type, "choices", ()))


def _default(parameter: Any) -> str:
    if parameter.required and not _is_argument(parameter):
        return " Required."
    default = getattr(parameter.default, "value", parameter.default)
    return "" if default is None or default is False else f" By default `{default}`."


if __name__ == "__main__":
    print(reference(), end="")
