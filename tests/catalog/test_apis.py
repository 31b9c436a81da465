"""API keys and names."""

from typing import Any

import pytest

from rollcall.catalog.apis import FILE, Mode, api_name, api_names, build_apis, known_apis
from rollcall.catalog.loader import TableError, read_table


def test_known_apis_has_every_key_from_0_to_92() -> None:
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
def test_api_names_has_current_and_old_names(name: str, key: int) -> None:
    assert api_names()[name] == key


def test_api_name_of_an_unknown_key_is_the_number() -> None:
    assert (api_name(18), api_name(513)) == ("ApiVersions", "513")


def test_api_flags_give_senders_and_listeners() -> None:
    assert known_apis()[4].inter_broker
    assert known_apis()[4].listeners == (Mode.ZOOKEEPER,)
    assert known_apis()[19].forwarded
    assert not known_apis()[0].inter_broker
    assert known_apis()[52].listeners == (Mode.CONTROLLER,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": 1}, "row 1: duplicate key"),
        ({"name": "Fetch"}, "Fetch is also key"),
        ({"old_names": ["FETCH"]}, "FETCH is also key"),
        ({"listeners": []}, "no listener serves it"),
        ({"forwarderd": True}, "has the unknown field forwarderd"),
    ],
)
def test_build_apis_names_the_file_and_row_of_an_invalid_row(
    change: dict[str, Any], message: str
) -> None:
    rows = read_table(FILE)["apis"]
    rows[0] = {**rows[0], **change}
    with pytest.raises(TableError, match=message) as caught:
        build_apis(rows)
    assert "apis.json" in caught.value.message
    assert caught.value.hint
