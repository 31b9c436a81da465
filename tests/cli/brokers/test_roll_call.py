import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.catalog import listed_ranges
from rollcall.cli.brokers.roll_call import call_the_roll
from rollcall.cli.options.connection import ConnectionSettings
from rollcall.client import Address, ClientConfig, ClientError, RollCall
from rollcall.protocol.dialects import KIP
from tests.cli.scripted_cluster import rollcall, serving
from tests.client.scripted import (
    KIP_RANGES,
    ScriptedBroker,
    running,
    unused_address,
    wait_until,
)

HOSTILE = "Ka\x1b]0;gone\x07fka\u202e\n"
DAY = 86_400_000


@pytest.fixture
def mixed() -> Iterator[str]:
    """One of ours, one that is inferred, one with a hostile name, one that is dead."""
    brokers = (
        ScriptedBroker(id=1, software=("rollcall", "0.1.0"), ranges=KIP_RANGES, dialect_name=KIP),
        ScriptedBroker(id=2, ranges=listed_ranges("3.9")),
        ScriptedBroker(id=3, software=(HOSTILE, "[red]4[/red]")),
    )
    with serving(*brokers):
        for broker in brokers:
            broker.nodes = [
                (1, brokers[0].address, "rack\x1b[2J", 1_700_000_000_000),
                (2, brokers[1].address, None, 0),
                (3, brokers[2].address, None, 1_600_000_000_000),
                (4, Address("127.0.0.1", 1), None, 0),
            ]
        yield str(brokers[0].address)


def rows(text: str) -> dict[str, str]:
    """Lines of a table by what they begin with."""
    table = text.strip().splitlines()[2:-2]
    return {line.split()[0]: line for line in table}


def test_every_broker_has_a_row_with_what_is_known_and_how(mixed: str) -> None:
    result = rollcall("brokers", mixed)
    found = rows(result.out)
    assert "rollcall" in found["1"]
    assert "reported" in found["1"]
    assert "2023-11-14 22:13:20" in found["1"]
    assert "Apache Kafka" in found["2"]
    assert "3.9" in found["2"]
    assert "inferred" in found["2"]
    assert "refused" in found["4"]


def test_a_broker_that_did_not_answer_is_exit_code_3(mixed: str) -> None:
    assert rollcall("brokers", mixed).code == 3
    with serving(ScriptedBroker()) as [broker]:
        assert rollcall("brokers", broker.address).code == 0


def test_a_mixed_cluster_is_seen_at_a_glance(mixed: str) -> None:
    last = rollcall("brokers", mixed).out.strip().splitlines()[-1]
    assert last.startswith("4 brokers, 1 did not answer, rollcall 0.1.0, Apache Kafka 3.9, Ka")
    assert last.endswith("MIXED: not all brokers are the same")


def test_the_lowest_and_the_highest_version_are_told() -> None:
    brokers = [ScriptedBroker(id=i, software=("Kafka", f"4.{i}")) for i in (2, 10, 3)]
    with serving(*brokers):
        last = rollcall("brokers", brokers[0].address).out.strip().splitlines()[-1]
    assert last == "3 brokers, Kafka 4.2 to 4.10, MIXED: not all brokers are the same"


def test_536_4_a_start_time_that_nobody_told_is_unknown_and_never_1970(mixed: str) -> None:
    out = rollcall("brokers", mixed).out
    assert "unknown" in rows(out)["2"]
    assert "1970" not in out


def test_536_4_by_start_time_the_unknown_come_last(mixed: str) -> None:
    out = rollcall("brokers", mixed, "--sort", "start").out
    order = [line.split()[0] for line in out.splitlines() if line[:3].strip().isdigit()]
    assert order[:4] == ["3", "1", "2", "4"]


def test_885_3_what_a_broker_tells_cannot_control_the_terminal(mixed: str) -> None:
    for arguments in ([], ["--json"]):
        out = rollcall("brokers", mixed, *arguments).out
        assert all(line.isprintable() for line in out.splitlines())
    assert "[red]4[/red]" in rollcall("brokers", mixed).out


def test_885_4_json_keeps_guesses_apart_from_reports(mixed: str) -> None:
    document = json.loads(rollcall("brokers", mixed, "--json").out)
    assert document["form"] == "rollcall-brokers/1"
    one, two, three, four = document["brokers"]
    assert one["software"]["provenance"] == "reported"
    assert (one["software"]["name"], one["software"]["version"]) == ("rollcall", "0.1.0")
    assert two["software"]["provenance"] == "inferred"
    assert (two["software"]["name"], two["software"]["version"]) == (None, None)
    assert two["software"]["candidates"] == ["3.9"]
    assert three["software"]["name"] == HOSTILE
    assert four["software"]["provenance"] == "missing"
    assert (four["answered"], four["failure"], four["api_versions"]) == (False, "refused", None)


def test_json_has_the_form_that_is_documented(mixed: str) -> None:
    document = json.loads(rollcall("brokers", mixed, "--json").out)
    assert list(document) == [
        "form", "time_ms", "time", "cluster_id", "controller_id", "queried", "via", "brokers",
        "summary",
    ]  # fmt: skip
    assert list(document["brokers"][0]) == [
        "id", "host", "port", "rack", "controller", "fenced", "answered", "failure", "reason",
        "software", "start_time", "clock_ahead_ms", "via", "api_versions", "seconds",
    ]  # fmt: skip
    one, two, *_ = document["brokers"]
    assert one["start_time"] == {
        "ms": 1_700_000_000_000,
        "time": "2023-11-14T22:13:20.000+00:00",
        "provenance": "reported",
    }
    assert two["start_time"] == {"ms": None, "time": None, "provenance": "missing"}
    assert one["api_versions"]["dialect"] == "kip"
    assert one["api_versions"]["ranges"] == {"3": [0, 11], "18": [0, 3], "60": [0, 1]}
    summary = document["summary"]
    assert (summary["brokers"], summary["answered"], summary["mixed"]) == (4, 3, True)
    assert summary["software"][1] == {
        "name": "Apache Kafka", "brokers": 1, "lowest": "3.9", "highest": "3.9",
    }  # fmt: skip


def test_output_appends_a_line_per_broker(mixed: str, tmp_path: Path) -> None:
    path = tmp_path / "rolls.jsonl"
    for _ in range(2):
        rollcall("brokers", mixed, "--output", path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [1, 2, 3, 4] * 2
    assert {line["form"] for line in lines} == {"rollcall-broker/1"}
    assert len({line["time_ms"] for line in lines}) == 2
    assert lines[0]["cluster_id"] == "scripted"


def test_output_behind_half_a_line_begins_on_a_line_of_its_own(mixed: str, tmp_path: Path) -> None:
    path = tmp_path / "rolls.jsonl"
    path.write_text('{"form":"rollcall-bro')
    for _ in range(2):
        rollcall("brokers", mixed, "--output", path)
    first, *others = path.read_text().splitlines()
    assert first == '{"form":"rollcall-bro'
    assert [json.loads(line)["id"] for line in others] == [1, 2, 3, 4] * 2


def test_output_that_cannot_be_written_is_an_error(mixed: str, tmp_path: Path) -> None:
    result = rollcall("brokers", mixed, "--output", tmp_path / "no" / "such.jsonl")
    assert result.code == 1
    assert "cannot be written" in str(result.error)


def test_nobody_to_ask_is_an_error() -> None:
    result = rollcall("brokers", "127.0.0.1:1")
    assert result.code == 1
    assert isinstance(result.error, ClientError)


def test_an_address_to_begin_with_that_is_dead_is_a_row() -> None:
    """A broker that is down may be off the cluster's list already."""
    with serving(ScriptedBroker(software=("Kafka", "4.0"))) as [broker]:
        for bootstrap in (f"127.0.0.1:1,{broker.address}", f"{broker.address},127.0.0.1:1"):
            result = rollcall("brokers", bootstrap)
            assert "refused the connection" in rows(result.out)["?"]
            assert result.out.strip().splitlines()[-1] == "2 brokers, 1 did not answer, Kafka 4.0"
            assert result.code == 3
        document = json.loads(rollcall("brokers", bootstrap, "--json").out)
    assert [(one["id"], one["answered"]) for one in document["brokers"]] == [(1, True), (-1, False)]


def test_an_address_to_begin_with_that_leads_in_is_no_row() -> None:
    with serving(ScriptedBroker(id=1), ScriptedBroker(id=7)) as (way_in, broker):
        for each in (way_in, broker):
            each.nodes = [(7, broker.address, None, 0)]
        result = rollcall("brokers", f"{broker.address},{way_in.address}")
    assert list(rows(result.out)) == ["7"]
    assert result.code == 0


def test_a_dead_address_is_no_line_for_the_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "rolls.jsonl"
    with serving(ScriptedBroker()) as [broker]:
        rollcall("brokers", f"{broker.address},127.0.0.1:1", "--output", path)
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == [1]


def test_a_clock_that_is_ahead_is_noted() -> None:
    with serving(ScriptedBroker(start_time_ms=9_999_999_999_999)) as [broker]:
        out = rollcall("brokers", broker.address).out
    assert "its clock is at least" in out


@pytest.mark.parametrize("start", [1 << 62, -5, 253_402_300_800_000])
def test_a_start_time_that_is_no_time_breaks_nothing(start: int) -> None:
    with serving(ScriptedBroker(start_time_ms=start)) as [broker]:
        assert rollcall("brokers", broker.address).code == 0
        assert rollcall("brokers", broker.address, "--json").code == 0


def test_a_broker_of_another_cluster_is_noted() -> None:
    one, two = ScriptedBroker(id=1), ScriptedBroker(id=2, cluster_id="elsewhere")
    with serving(one, two):
        out = rollcall("brokers", one.address).out
    assert "belongs to another cluster: elsewhere" in rows(out)["2"]


async def test_who_watches_sees_a_cluster_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    address = await unused_address()
    settings = ConnectionSettings((address,), ClientConfig(backoff=0.01, rounds=1))
    seen: list[RollCall] = []
    watching = asyncio.create_task(call_the_roll(settings, seen.append, None, 0.05))
    await asyncio.sleep(0.2)
    assert seen == []
    async with running(ScriptedBroker(), port=address.port):
        await wait_until(lambda: len(seen) > 2)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
    assert "refused the connection" in capsys.readouterr().err
