"""The table of API keys."""

from typing import Any

import pytest

from rollcall.catalog.apis import (
    FILE,
    Mode,
    api_name,
    api_named,
    api_names,
    api_rows,
    build_apis,
    known_apis,
)
from rollcall.catalog.loader import CatalogError, TableError, read_table


def test_every_key_from_0_to_92_has_a_row() -> None:
    assert list(known_apis()) == list(range(93))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Fetch", 1),
        ("FIND_COORDINATOR", 10),
        ("GROUP_COORDINATOR", 10),
        ("ConsumerMetadataRequest", 10),
        ("TopicMetadataRequest", 3),
        ("ELECT_PREFERRED_LEADERS", 43),
        ("ALTER_ISR", 56),
        ("LIST_CLIENT_METRICS_RESOURCES", 74),
    ],
)
def test_a_name_of_any_age_leads_to_its_key(name: str, key: int) -> None:
    assert api_names()[name] == key
    assert api_named(name).key == key


@pytest.mark.parametrize("name", ["describe_cluster", "DescribeCluster", "describe-cluster", "60"])
def test_people_may_spell_a_name_as_they_like(name: str) -> None:
    assert api_named(name).name == "DescribeCluster"


def test_a_name_nobody_has_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(CatalogError, match="Fetsh") as caught:
        api_named("Fetsh")
    assert caught.value.hint == "did you mean Fetch?"
    with pytest.raises(CatalogError, match="999"):
        api_named("999")


def test_a_key_nobody_has_is_shown_as_its_number() -> None:
    assert (api_name(18), api_name(513)) == ("ApiVersions", "513")


def test_flags_say_who_sends_and_who_answers() -> None:
    assert known_apis()[4].inter_broker
    assert known_apis()[4].listeners == (Mode.ZOOKEEPER,)
    assert known_apis()[19].forwarded
    assert not known_apis()[0].inter_broker
    assert known_apis()[52].listeners == (Mode.CONTROLLER,)


def test_rows_are_plain_values_for_whoever_joins_them() -> None:
    row = api_rows()[10]
    assert row["key"] == 10
    assert row["enum"] == "FIND_COORDINATOR"
    assert "GROUP_COORDINATOR" in row["old_names"]
    assert {type(value) for row in api_rows() for value in row.values()} <= {int, str, bool, list}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"key": 1}, "row 1: the key is there twice"),
        ({"name": "Fetch"}, "Fetch is also key"),
        ({"old_names": ["FETCH"]}, "FETCH is also key"),
        ({"listeners": []}, "no listener answers it"),
        ({"forwarderd": True}, "has the unknown field forwarderd"),
    ],
)
def test_a_spoilt_row_is_named_with_its_file(spoil: dict[str, Any], message: str) -> None:
    rows = read_table(FILE)["apis"]
    rows[0] = {**rows[0], **spoil}
    with pytest.raises(TableError, match=message) as caught:
        build_apis(rows)
    assert "apis.json" in caught.value.message
    assert caught.value.hint
