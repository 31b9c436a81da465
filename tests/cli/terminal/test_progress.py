import io
import os

import pytest

from rollcall.cli.terminal.progress import ProgressLine

CLEAR = "\r\x1b[K"


class Screen(io.StringIO):
    """A terminal of 40 columns, or none."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal

    def fileno(self) -> int:
        return 2


def screen(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool = True) -> Screen:
    shown = Screen(is_terminal=is_terminal)
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((40, 24)))
    monkeypatch.setenv("TERM", "xterm")
    return shown


def test_a_terminal_tells_at_once_what_is_waited_for_and_is_clean_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = screen(monkeypatch)
    with ProgressLine("starting Spark") as line:
        line.tell("1 of 4 files (25%)")
    assert shown.getvalue() == f"{CLEAR}starting Spark{CLEAR}1 of 4 files (25%){CLEAR}"


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "term"),
    [(False, False, "xterm"), (True, True, "xterm"), (True, False, "dumb")],
)
def test_a_file_a_program_and_a_dumb_terminal_are_spared_it(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, quiet: bool, term: str
) -> None:
    shown = screen(monkeypatch, is_terminal=is_terminal)
    monkeypatch.setenv("TERM", term)
    with ProgressLine("starting Spark", quiet=quiet) as line:
        line.tell("1 of 4 files (25%)")
        line.last_words("ending after this batch")
    assert shown.getvalue() == ""


def test_it_never_goes_over_two_lines_which_could_not_be_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = screen(monkeypatch)
    with ProgressLine() as line:
        line.tell("x" * 100)
    assert max(map(len, shown.getvalue().split(CLEAR))) == 39


def test_what_is_to_stay_has_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch)
    with ProgressLine() as line:
        line.rest("waiting")
        line.tell("2 of 2 files (100%)")
        with line.aside():
            print("5 lines of 2 files", file=shown)
        line.last_words("ending")
    assert shown.getvalue().split(CLEAR) == [
        *["", "", "waiting", "2 of 2 files (100%)"],
        *["5 lines of 2 files\n", "waiting", "ending\n", "", ""],
    ]
