import io

import pytest

from rollcall.cli.pipeline_view import ProgressLine


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
