"""Formats of the request log by release."""

import copy
from typing import Any

import pytest

from rollcall.catalog.loader import CatalogError, TableError, read_table
from rollcall.catalog.releases.log_formats import FILE, build_log_formats, log_format, log_format_of
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import known_release_lines

PATCHES = [patch for line in known_release_lines() for patch in line.patches]


@pytest.mark.parametrize(
    ("release", "letter"),
    [
        ("0.8.0", "A"), ("0.8.2.2", "B"), ("0.10.1.1", "C"), ("0.10.2.0", "D"), ("0.11.0.3", "E"),
        ("1.0.2", "F"), ("2.4.1", "F"), ("2.5.1", "G"), ("2.8.2", "H"), ("3.6.2", "H"),
        ("3.7.0", "I"), ("3.9.0", "I"), ("3.9.1", "J"), ("3.9", "J"), ("4.3.0", "J"),
        ("4.0.99", "J"), ("0.9.0", "C"),
    ],
)  # fmt: skip
def test_log_format_of_finds_the_format_of_a_release(release: str, letter: str) -> None:
    assert log_format_of(release).letter == letter


def test_log_format_has_the_oldest_release_that_writes_it() -> None:
    assert log_format("J").since == Release((3, 9, 1))
    assert log_format("H").kind == "json"
    assert not log_format("F").has_client_software
    with pytest.raises(CatalogError, match="no request log format 'Z'"):
        log_format("Z")


@pytest.mark.parametrize(
    ("index", "change", "message"),
    [
        (0, {"since": "0.8.1"}, "row B: is a duplicate or out of order"),
        (3, {"since": "0.10.2.9"}, "row D: 0.10.2.9 is not a patch release"),
        (3, {"since": "0.8.1"}, "row D: is a duplicate or out of order"),
        (3, {"letter": "A"}, "row A: is a duplicate or out of order"),
        (3, {"levle": "INFO"}, "row D: has the unknown field levle"),
    ],
)
def test_build_log_formats_names_an_invalid_row(
    index: int, change: dict[str, Any], message: str
) -> None:
    rows = copy.deepcopy(read_table(FILE)["formats"])
    rows[index] = {**rows[index], **change}
    with pytest.raises(TableError, match=message):
        build_log_formats(rows, PATCHES)
