import io

import pytest

from rollcall.cli.pipeline_view import ProgressLine, print_roll_calls, roll_calls_json
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
    with ProgressLine("starting Spark", quiet=quiet):
        pass
    return screen.getvalue()


def test_a_terminal_tells_at_once_what_is_waited_for_and_is_clean_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shown(monkeypatch, is_terminal=True) == "\r\x1b[Kstarting Spark\r\x1b[K"


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
