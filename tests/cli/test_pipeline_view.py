import io

import pytest

from rollcall.cli.pipeline_view import (
    ProgressLine,
    print_roll_calls,
    progress_text,
    roll_calls_json,
)
from rollcall.pipeline.progress import Progress
from rollcall.pipeline.run import Result
from rollcall.tables.manifests import Counts


class Screen(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


def shown(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, quiet: bool = False) -> str:
    screen = Screen(is_terminal=is_terminal)
    monkeypatch.setattr("sys.stderr", screen)
    with ProgressLine("starting Spark", quiet=quiet) as line:
        line.show(Progress(1, 4, 50_000, 5.0, 0.25))
    return screen.getvalue()


def test_a_terminal_tells_at_once_what_is_waited_for_and_is_clean_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shown(monkeypatch, is_terminal=True) == (
        "\r\x1b[Kstarting Spark"
        "\r\x1b[K1 of 4 files (25%), 50,000 lines, 10,000 lines/s, 15 s left\r\x1b[K"
    )


@pytest.mark.parametrize(("is_terminal", "quiet"), [(False, False), (True, True)])
def test_a_file_and_a_program_are_spared_it(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, quiet: bool
) -> None:
    assert shown(monkeypatch, is_terminal=is_terminal, quiet=quiet) == ""


def test_lines_of_roll_calls_are_told_as_rows_and_not_as_skipped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = Result(Counts(1, 5, 0, 3, 2, {"not a line of a roll call": 2}))
    told = roll_calls_json(result, 0.5)
    assert told["roll_call_rows"] + told["rejected"] == told["lines"] == 5
    assert told.keys().isdisjoint({"skipped", "requests"})
    print_roll_calls(result, 0.5)
    first = "5 lines of 1 files: 3 rows of roll calls, 2 rejected"
    assert capsys.readouterr().out.splitlines()[0] == first


def test_the_last_seconds_are_told_as_what_they_are() -> None:
    told = progress_text(Progress(4, 4, 200_000, 20.0, 1.0, writing=True))
    assert told == "4 of 4 files (100%), 200,000 lines, 10,000 lines/s, writing the tables"
