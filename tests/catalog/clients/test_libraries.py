"""The table of client libraries."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from rollcall.catalog.apis import known_apis
from rollcall.catalog.clients.libraries import (
    FILE,
    build_libraries,
    known_libraries,
    parse_version,
    software_names,
)
from rollcall.catalog.loader import TableError, read_table
from rollcall.catalog.releases.release import Release

Rows = list[dict[str, Any]]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.38.1", Release((1, 38, 1))),
        ("2.8.0", Release((2, 8, 0))),
        ("7.9.10-0-ccs", Release((7, 9, 10), "0-ccs")),
        ("2.4.1.7.1.7.0-551", Release((2, 4, 1, 7), "1.7.0-551")),
        ("dev", None),
        ("", None),
        (None, None),
    ],
)
def test_versions_are_read_in_every_form(text: str | None, version: Release | None) -> None:
    assert parse_version(text) == version


def test_every_told_name_would_pass_a_brokers_check() -> None:
    for name in software_names():
        assert name.replace("-", "").replace(".", "").isalnum()


def test_a_library_knows_since_when_it_tells_its_name() -> None:
    assert known_libraries()["apache-kafka-java"].reports_name_since == Release((2, 4, 0))
    assert known_libraries()["aiokafka"].reports_name_since is None


def first(rows: Rows, library: str) -> dict[str, Any]:
    return next(row for row in rows if row["library"] == library)


def spoil(library: str, **fields: object) -> Callable[[Rows], None]:
    return lambda rows: first(rows, library).update(fields)


NEED = {"below": None, "operation": "x", "basis": "x", "reference": "x"}
NAME = {"name": "sarama", "since": None, "example": "1.0"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.append(rows[0]), "row apache-kafka-java: is there twice"),
        (spoil("kafkajs", names=[{**NAME, "form": ".+"}]), "tells the name sarama, as sarama does"),
        (spoil("karafka", engine="nothing"), "its engine nothing has no row"),
        (spoil("kafkajs", nmaes=[]), "has the unknown field nmaes"),
        (spoil("rskafka", names=[{**NAME, "form": "("}]), "mend|unterminated|missing"),
        (spoil("rskafka", names=[{**NAME, "form": "v.+"}]), "does not fit '1.0'"),
        (spoil("rskafka", names=[{**NAME, "form": "(?P<own>.+)"}]), "has the group own"),
        (spoil("kafkajs", client_ids=[{"pattern": "a", "example": "b"}]), "'a' does not fit 'b'"),
        (spoil("kafkajs", signatures=[{"version": "1.0", "apis": {}}]), "a signature is empty"),
        (spoil("kafkajs", signatures=[{"version": "1.0", "apis": {"X": [0]}}]), "no API X"),
        (spoil("kafkajs", needs=[NEED]), "x: needs nothing"),
        (spoil("kafkajs", needs=[{**NEED, "uses": {"X": [0, 0]}}]), "there is no API X"),
        (spoil("kafkajs", needs=[{**NEED, "uses": {"Fetch": [1, 0]}}]), "Fetch has the range"),
    ],
)
def test_a_contradiction_names_the_row_and_what_to_do(
    change: Callable[[Rows], None], message: str
) -> None:
    rows = copy.deepcopy(read_table(FILE)["libraries"])
    change(rows)
    with pytest.raises(TableError, match=message) as caught:
        build_libraries(rows, known_apis())
    assert "libraries.json, row " in caught.value.message
    assert caught.value.hint
