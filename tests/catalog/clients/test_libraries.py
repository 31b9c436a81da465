"""Client libraries."""

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
def test_parse_version_accepts_the_formats_of_all_libraries(
    text: str | None, version: Release | None
) -> None:
    assert parse_version(text) == version


def test_every_software_name_is_valid_for_kafka() -> None:
    for name in software_names():
        assert name.replace("-", "").replace(".", "").isalnum()


def test_reports_name_since_is_the_first_version_with_a_name() -> None:
    assert known_libraries()["apache-kafka-java"].reports_name_since == Release((2, 4, 0))
    assert known_libraries()["aiokafka"].reports_name_since is None


def first(rows: Rows, library: str) -> dict[str, Any]:
    return next(row for row in rows if row["library"] == library)


def change(library: str, **fields: object) -> Callable[[Rows], None]:
    return lambda rows: first(rows, library).update(fields)


REQUIREMENT = {"below": None, "operation": "x", "basis": "x", "reference": "x"}
NAME = {"name": "sarama", "since": None, "example": "1.0"}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda rows: rows.append(rows[0]), "row apache-kafka-java: duplicate library"),
        (
            change("kafkajs", names=[{**NAME, "version_pattern": ".+"}]),
            "reports the name sarama of sarama",
        ),
        (change("karafka", engine="nothing"), "its engine nothing has no row"),
        (change("kafkajs", nmaes=[]), "has the unknown field nmaes"),
        (change("rskafka", names=[{**NAME, "version_pattern": "("}]), "unterminated|missing"),
        (change("rskafka", names=[{**NAME, "version_pattern": "v.+"}]), "does not match '1.0'"),
        (
            change("rskafka", names=[{**NAME, "version_pattern": "(?P<own>.+)"}]),
            "has the unknown group own",
        ),
        (
            change("kafkajs", client_ids=[{"pattern": "a", "example": "b"}]),
            "'a' does not match 'b'",
        ),
        (change("kafkajs", signatures=[{"version": "1.0", "apis": {}}]), "a signature is empty"),
        (change("kafkajs", signatures=[{"version": "1.0", "apis": {"X": [0]}}]), "no API X"),
        (change("kafkajs", requirements=[REQUIREMENT]), "x: requires nothing"),
        (
            change("kafkajs", requirements=[{**REQUIREMENT, "uses": {"X": [0, 0]}}]),
            "there is no API X",
        ),
        (
            change("kafkajs", requirements=[{**REQUIREMENT, "uses": {"Fetch": [1, 0]}}]),
            "Fetch has the range",
        ),
    ],
)
def test_build_libraries_names_the_file_and_row_of_an_invalid_row(
    edit: Callable[[Rows], None], message: str
) -> None:
    rows = copy.deepcopy(read_table(FILE)["libraries"])
    edit(rows)
    with pytest.raises(TableError, match=message) as caught:
        build_libraries(rows, known_apis())
    assert "libraries.json, row " in caught.value.message
    assert caught.value.hint
