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


def test_it_is_told_how_far_a_run_is_and_how_fast() -> None:
    told = progress_text(Progress(1, 4, 50_000, 5.0, 0.25))
    assert told == "1 of 4 files (25%), 50,000 lines, 10,000 lines/s, 15 s left"


def test_lines_that_spark_has_not_told_yet_are_not_told_as_none() -> None:
    assert progress_text(Progress(1, 4, 0, 5.0, 0.25)) == "1 of 4 files (25%), 15 s left"
    assert progress_text(Progress(0, 1, 0, 0.0, 0.0)) == "0 of 1 file (0%)"


def test_how_long_it_takes_is_not_told_from_the_first_bytes() -> None:
    assert progress_text(Progress(0, 4, 0, 5.0, 0.002)) == "0 of 4 files (0%)"


def test_lines_of_roll_calls_are_told_as_rows_and_not_as_skipped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = RunResult(Counts(1, 5, 0, 3, 2, {"not a line of a roll call": 2}))
    told = roll_calls_json(result, 0.5)
    assert told["roll_call_rows"] + told["rejected"] == told["lines"] == 5
    assert told.keys().isdisjoint({"skipped", "requests"})
    print_roll_calls(result, 0.5)
    first = "5 lines of 1 file: 3 rows of roll calls, 2 rejected"
    assert capsys.readouterr().out.splitlines()[0] == first


def test_the_last_seconds_are_told_as_what_they_are() -> None:
    told = progress_text(Progress(4, 4, 200_000, 20.0, 1.0, writing=True))
    assert told == "4 of 4 files (100%), 200,000 lines, 10,000 lines/s, writing the tables"


def test_one_is_told_as_one() -> None:
    told = counts_text(Counts(1, 1, 1, 0, 0, {}))
    assert told == "1 line of 1 file: 1 request, 0 skipped, 0 rejected"
