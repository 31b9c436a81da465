import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.cli.terminal.output import (
    print_error,
    print_json,
    print_lines,
    print_table,
    print_warning,
)
from rollcall.errors import RollcallError
from rollcall.text import safe_text

HOSTILE = "\x1b]0;gone\x07\x1b[2J\r\u202egnp.exe\u2066\x9b31m\x7f\u2028\ud800 [red]x[/red]"


@given(st.text(st.characters()))
def test_safe_text_is_printable(text: str) -> None:
    assert safe_text(text).isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders-é-漢字 [1]", "orders-é-漢字 [1]"),
        ("a\x1b[31m", r"a\x1b[31m"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x9b", r"\x9b"),
        ("\u202e", r"\u202e"),
        ("\U000e0001", r"\U000e0001"),
        ("\udc80", r"\udc80"),
        (42, "42"),
    ],
)
def test_safe_text_escapes_other_characters(text: object, shown: str) -> None:
    assert safe_text(text) == shown


def test_table_escapes_hostile_cells(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["client", HOSTILE], [[HOSTILE, None]], title=HOSTILE)
    shown = capsys.readouterr().out
    assert shown.count("[red]x[/red]") == 3
    assert all(line.isprintable() for line in shown.splitlines())


def test_piped_table_has_one_line_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(
        ["id", "name", "requests"], [[1, "x" * 500, 7], [22, "y", 1234]], right=["requests"]
    )
    head, _, first, second = capsys.readouterr().out.strip().splitlines()
    assert head.split() == ["id", "name", "requests"]
    assert first.split() == ["1", "x" * 500, "7"]
    assert second.split() == ["22", "y", "1234"]
    assert len(head) == len(first) == len(second)  # numbers are aligned to the right


def test_table_on_a_terminal_fits_and_omits_empty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    print_table(["id", "note", "name"], [[1, None, "x" * 12], [2, "", "y"]])
    assert _without_style(capsys.readouterr().out).split()[:2] == ["id", "name"]
    print_table(["id", "name", "note"], [[1, "x" * 12, "late " * 10]])
    out = _without_style(capsys.readouterr().out)
    assert max(map(len, out.splitlines())) <= 30
    assert out.count("late") == 10


def test_lines_are_wrapped_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["short", "  a sentence that goes on and on \x1b[2J"]
    print_lines(lines)
    assert capsys.readouterr().out == "short\n  a sentence that goes on and on \\x1b[2J\n"
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "20")
    print_lines(lines)
    assert capsys.readouterr().out == "short\n  a sentence that\n    goes on and on\n    \\x1b[2J\n"


def _without_style(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


@given(st.recursive(st.none() | st.integers() | st.text(st.characters()), st.lists))
def test_json_is_printable_and_keeps_the_value(value: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("builtins.print", written.append)
        print_json(value)
    assert all(line.isprintable() for line in written[0].split("\n"))
    assert json.loads(written[0]) == value


def test_json_rows_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"report": "x"}, rows={"clients": [{"a": 1}, {"a": "\x1b"}], "owners": []})
    text = capsys.readouterr().out
    assert text == (
        '{\n  "report": "x",\n  "clients": [\n    {"a": 1},\n    {"a": "\\u001b"}\n  ],\n'
        '  "owners": []\n}\n'
    )
    assert json.loads(text) == {"report": "x", "clients": [{"a": 1}, {"a": "\x1b"}], "owners": []}


def test_json_rows_may_be_the_only_key(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({}, rows={"clients": []})
    assert json.loads(capsys.readouterr().out) == {"clients": []}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_rejects_numbers_that_json_does_not_have(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json([value])


def test_warning_is_one_safe_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_warning("clock\x1b[2J")
    assert capsys.readouterr() == ("", "warning: clock\\x1b[2J\n")


def test_error_is_printed_on_stderr_with_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(RollcallError("port is 99999 [bold]", hint="use 1 to 65535"))
    assert capsys.readouterr() == ("", "error: port is 99999 [bold]\nhint: use 1 to 65535\n")


def test_error_without_hint_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(RollcallError("no response " * 50 + "\nhint: not this"))
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("encoding", "rule"), [("utf-8", "─────────"), ("latin-1", "---------")])
def test_rule_of_a_table_follows_the_encoding(
    monkeypatch: pytest.MonkeyPatch, encoding: str, rule: str
) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", screen)
    print_table(["id", "name"], [[1, "rack"]])
    screen.seek(0)
    assert screen.read().splitlines() == ["id   name", rule, "1    rack"]
