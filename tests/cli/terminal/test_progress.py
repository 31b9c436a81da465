import io
import os

import pytest

from rollcall.cli.terminal.progress import ProgressLine

CLEAR = "\r\x1b[K"


class Screen(io.StringIO):
    """A terminal of 40 columns, or a file."""

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


def test_progress_line_is_shown_at_once_and_cleared_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = screen(monkeypatch)
    with ProgressLine("starting Spark") as line:
        line.update("1 of 4 files (25%)")
    assert shown.getvalue() == f"{CLEAR}starting Spark{CLEAR}1 of 4 files (25%){CLEAR}"


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "term"),
    [(False, False, "xterm"), (True, True, "xterm"), (True, False, "dumb")],
)
def test_progress_line_is_hidden_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, quiet: bool, term: str
) -> None:
    shown = screen(monkeypatch, is_terminal=is_terminal)
    monkeypatch.setenv("TERM", term)
    with ProgressLine("starting Spark", quiet=quiet) as line:
        line.update("1 of 4 files (25%)")
        line.finish("ending after this batch")
    assert shown.getvalue() == ""


def test_progress_line_is_cut_to_the_width_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = screen(monkeypatch)
    with ProgressLine() as line:
        line.update("x" * 100)
    assert max(map(len, shown.getvalue().split(CLEAR))) == 39


def test_output_in_a_hidden_block_stays_above_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch)
    with ProgressLine() as line:
        line.set_idle("waiting")
        line.update("2 of 2 files (100%)")
        with line.hidden():
            print("5 lines of 2 files", file=shown)
        line.finish("ending")
    assert shown.getvalue().split(CLEAR) == [
        *["", "", "waiting", "2 of 2 files (100%)"],
        *["5 lines of 2 files\n", "waiting", "ending\n", "", ""],
    ]
