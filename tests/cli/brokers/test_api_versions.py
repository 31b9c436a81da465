import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rollcall.catalog import listed_ranges
from rollcall.cli.brokers.api_versions import VersionMatrix, id_list
from rollcall.protocol.headers import Request
from tests.cli.scripted_cluster import rollcall, serving
from tests.client.scripted import CLOSE, ScriptedBroker
from tests.protocol.server_conversation import ServerConversation

B1 = {0: (0, 3), 1: (2, 3), 18: (0, 3), 3: (0, 9)}
B2 = {0: (1, 2), 1: (0, 3), 2: (0, 0), 18: (0, 3), 3: (0, 9)}


@pytest.fixture
def pair() -> Iterator[str]:
    brokers = (ScriptedBroker(id=1, ranges=B1), ScriptedBroker(id=2, ranges=B2))
    with serving(*brokers):
        yield str(brokers[0].address)


@pytest.mark.parametrize(
    ("ids", "text"),
    [([1], "1"), ([3, 1, 2], "1-3"), ([1, 2, 4, 7, 8, 9], "1-2,4,7-9"), ([], "")],
)
def test_consecutive_broker_ids_are_shown_as_ranges(ids: list[int], text: str) -> None:
    assert id_list(ids) == text


def test_35_7_common_range_matches_the_example_of_the_kip(pair: str) -> None:
    document = json.loads(rollcall("api-versions", pair, "--json").out)
    common = {api["key"]: api["common"] for api in document["apis"]}
    assert (common[0], common[1], common[2]) == ([1, 2], [2, 3], None)
    assert {api["key"]: api["differs"] for api in document["apis"]} == {
        0: True, 1: True, 2: True, 3: False, 18: False,
    }  # fmt: skip
    assert document["apis"][0]["brokers"] == {"1": [0, 3], "2": [1, 2]}


def test_table_marks_differences(pair: str) -> None:
    result = rollcall("api-versions", pair)
    head, _, *lines = result.out.splitlines()
    assert head.split() == ["key", "API", "broker", "1", "broker", "2", "common"]
    assert lines[0].split() == ["0", "Produce", "0-3", "1-2", "1-2", "*"]
    assert lines[2].split() == ["2", "ListOffsets", "-", "0", "-", "*"]
    assert lines[3].split() == ["3", "Metadata", "0-9", "0-9", "0-9"]
    assert result.code == 0


def test_broker_option_shows_one_broker(pair: str) -> None:
    head = rollcall("api-versions", pair, "--broker", 2).out.splitlines()[0]
    assert head.split() == ["key", "API", "broker", "2"]


def test_compare_option_takes_a_broker_id(pair: str) -> None:
    result = rollcall("api-versions", pair, "--broker", 1, "--compare", 2)
    assert result.code == 3
    assert result.out.splitlines()[0].split() == ["key", "API", "broker", "1", "broker", "2"]
    assert rollcall("api-versions", pair, "--broker", 1, "--compare", 1).code == 0


def test_brokers_with_the_same_versions_share_a_column() -> None:
    brokers = [ScriptedBroker(id=i, ranges=listed_ranges("3.9")) for i in (1, 2, 3, 5)]
    with serving(*brokers):
        result = rollcall("api-versions", brokers[0].address, "--compare", "3.9")
    assert result.out.splitlines()[0].split() == ["key", "API", "broker", "1-3,5", "Kafka", "3.9"]
    assert result.code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--broker", "9"], "the cluster has no broker 9"),
        (["--compare", "9"], "the cluster has no broker 9"),
    ],
)
def test_unknown_broker_id_is_an_error(pair: str, arguments: list[str], message: str) -> None:
    result = rollcall("api-versions", pair, *arguments)
    assert result.code == 1
    assert message in str(result.error)


def test_unknown_release_is_an_error_before_any_query() -> None:
    result = rollcall("api-versions", "127.0.0.1:1", "--compare", "77.1")
    assert result.code == 2
    assert "77.1" in str(result.error)


def test_matrix_counts_a_missing_api_as_a_difference() -> None:
    matrix = VersionMatrix({1: listed_ranges("3.9")}, "x", {})
    assert all(map(matrix.differs, matrix.keys))


@dataclass
class BrokerWithoutApiVersions(ScriptedBroker):
    """Closes the connection on ApiVersions, as 0.8 does."""

    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        return CLOSE


@pytest.mark.parametrize("command", ["api-versions", "features"])
@pytest.mark.parametrize(
    ("options", "provenance", "warning"),
    [
        ((), "inferred", "only Metadata 0 is known to work (inferred)"),
        (("--release", "0.9.0"), "configured", "versions are those of the configured release"),
    ],
)
def test_885_4_versions_that_a_broker_does_not_report_are_marked(
    command: str, options: tuple[str, ...], provenance: str, warning: str
) -> None:
    broker = BrokerWithoutApiVersions(ranges={3: (0, 0)})
    with serving(broker):
        address = str(broker.address)
        shown = rollcall(command, address, *options).err
        document = json.loads(rollcall(command, address, *options, "--json").out)
    assert shown == f"warning: broker 1 does not support ApiVersions; {warning}\n"
    assert document["provenance"] == {"1": provenance}


@pytest.mark.parametrize("command", ["api-versions", "features"])
def test_885_4_versions_that_brokers_report_have_no_warning(command: str, pair: str) -> None:
    assert rollcall(command, pair).err == ""
    document = json.loads(rollcall(command, pair, "--json").out)
    assert document["provenance"] == {"1": "reported", "2": "reported"}
