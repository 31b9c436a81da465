import pytest

from rollcall.cli.pipeline.view import (
    counts_text,
    print_roll_calls,
    progress_text,
    roll_calls_json,
)
from rollcall.pipeline.jobs.progress import Progress
from rollcall.pipeline.jobs.run import RunResult
from rollcall.tables.manifests import Counts


def test_progress_text_has_files_lines_rate_and_remaining_time() -> None:
    text = progress_text(Progress(1, 4, 50_000, 5.0, 0.25))
    assert text == "1 of 4 files (25%), 50,000 lines, 10,000 lines/s, 15 s left"


def test_progress_text_omits_lines_while_they_are_unknown() -> None:
    assert progress_text(Progress(1, 4, 0, 5.0, 0.25)) == "1 of 4 files (25%), 15 s left"
    assert progress_text(Progress(0, 1, 0, 0.0, 0.0)) == "0 of 1 file (0%)"


def test_progress_text_omits_the_remaining_time_at_the_beginning() -> None:
    assert progress_text(Progress(0, 4, 0, 5.0, 0.002)) == "0 of 4 files (0%)"


def test_roll_call_lines_are_counted_as_rows_and_not_as_skipped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = RunResult(Counts(1, 5, 0, 3, 2, {"not a line of a roll call": 2}))
    document = roll_calls_json(result, 0.5)
    assert document["roll_call_rows"] + document["rejected"] == document["lines"] == 5
    assert document.keys().isdisjoint({"skipped", "requests"})
    print_roll_calls(result, 0.5)
    first = "5 lines of 1 file: 3 rows of roll calls, 2 rejected"
    assert capsys.readouterr().out.splitlines()[0] == first


def test_progress_text_names_the_writing_of_the_tables() -> None:
    text = progress_text(Progress(4, 4, 200_000, 20.0, 1.0, writing=True))
    assert text == "4 of 4 files (100%), 200,000 lines, 10,000 lines/s, writing the tables"


def test_counts_text_uses_the_singular() -> None:
    text = counts_text(Counts(1, 1, 1, 0, 0, {}))
    assert text == "1 line of 1 file: 1 request, 0 skipped, 0 rejected"
