import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.catalog import listed_ranges
from rollcall.cli.brokers.roll_call import watch_brokers
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
    """Four brokers: one reports its software, one is inferred, one is hostile, one is down."""
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
    """Rows of the table by their first cell."""
    table = text.strip().splitlines()[2:-2]
    return {line.split()[0]: line for line in table}


def test_table_has_a_row_per_broker_with_marks_for_inferred_values(mixed: str) -> None:
    result = rollcall("brokers", mixed)
    found = rows(result.out)
    assert re.search(r" rollcall +0\.1\.0  ", found["1"])
    assert "inferred" not in found["1"]
    assert "2023-11-14 22:13:20" in found["1"]
    assert "Apache Kafka" in found["2"]
    assert "3.9 (inferred)" in found["2"]
    assert "refused" in found["4"]


def test_exit_code_is_3_when_a_broker_does_not_respond(mixed: str) -> None:
    assert rollcall("brokers", mixed).code == 3
    with serving(ScriptedBroker()) as [broker]:
        assert rollcall("brokers", broker.address).code == 0


def test_mixed_cluster_has_a_summary_line_and_a_warning(mixed: str) -> None:
    result = rollcall("brokers", mixed)
    last = result.out.strip().splitlines()[-1]
    assert last.startswith("4 brokers, 1 did not respond, rollcall 0.1.0, Apache Kafka 3.9, Ka")
    assert result.err == "warning: the brokers do not all run the same software and version\n"


def test_summary_line_shows_lowest_and_highest_version() -> None:
    brokers = [ScriptedBroker(id=i, software=("Kafka", f"4.{i}")) for i in (2, 10, 3)]
    with serving(*brokers):
        last = rollcall("brokers", brokers[0].address).out.strip().splitlines()[-1]
    assert last == "3 brokers, Kafka 4.2 to 4.10"


def test_536_4_start_time_that_is_not_reported_is_unknown_and_never_1970(mixed: str) -> None:
    out = rollcall("brokers", mixed).out
    assert "unknown" in rows(out)["2"]
    assert "1970" not in out


def test_536_4_sort_by_start_puts_unknown_start_times_last(mixed: str) -> None:
    out = rollcall("brokers", mixed, "--sort", "start").out
    order = [line.split()[0] for line in out.splitlines() if line[:3].strip().isdigit()]
    assert order[:4] == ["3", "1", "2", "4"]


def test_885_3_reported_names_cannot_control_the_terminal(mixed: str) -> None:
    for arguments in ([], ["--json"]):
        out = rollcall("brokers", mixed, *arguments).out
        assert all(line.isprintable() for line in out.splitlines())
    assert "[red]4[/red]" in rollcall("brokers", mixed).out


def test_885_4_json_keeps_inferred_values_apart_from_reported_ones(mixed: str) -> None:
    document = json.loads(rollcall("brokers", mixed, "--json").out)
    assert document["format"] == "rollcall-brokers/2"
    one, two, three, four = document["brokers"]
    assert one["software"]["provenance"] == "reported"
    assert (one["software"]["name"], one["software"]["version"]) == ("rollcall", "0.1.0")
    assert two["software"]["provenance"] == "inferred"
    assert (two["software"]["name"], two["software"]["version"]) == (None, None)
    assert two["software"]["candidates"] == ["3.9"]
    assert three["software"]["name"] == HOSTILE
    assert four["software"]["provenance"] == "missing"
    assert (four["answered"], four["failure"], four["api_versions"]) == (False, "refused", None)


def test_json_has_the_documented_keys(mixed: str) -> None:
    document = json.loads(rollcall("brokers", mixed, "--json").out)
    assert list(document) == [
        "format", "time_ms", "time", "cluster_id", "controller_id", "queried", "via", "brokers",
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


def test_output_option_appends_a_line_per_broker(mixed: str, tmp_path: Path) -> None:
    path = tmp_path / "rolls.jsonl"
    for _ in range(2):
        rollcall("brokers", mixed, "--output", path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [1, 2, 3, 4] * 2
    assert {line["format"] for line in lines} == {"rollcall-broker/2"}
    assert len({line["time_ms"] for line in lines}) == 2
    assert lines[0]["cluster_id"] == "scripted"


def test_output_option_starts_a_new_line_after_half_a_line(mixed: str, tmp_path: Path) -> None:
    path = tmp_path / "rolls.jsonl"
    path.write_text('{"format":"rollcall-bro')
    for _ in range(2):
        rollcall("brokers", mixed, "--output", path)
    first, *others = path.read_text().splitlines()
    assert first == '{"format":"rollcall-bro'
    assert [json.loads(line)["id"] for line in others] == [1, 2, 3, 4] * 2


def test_output_file_that_cannot_be_written_is_an_error(mixed: str, tmp_path: Path) -> None:
    result = rollcall("brokers", mixed, "--output", tmp_path / "no" / "such.jsonl")
    assert result.code == 1
    assert "cannot write to" in str(result.error)


def test_unreachable_cluster_is_an_error() -> None:
    result = rollcall("brokers", "127.0.0.1:1")
    assert result.code == 1
    assert isinstance(result.error, ClientError)


def test_unreachable_bootstrap_address_is_a_row() -> None:
    """The cluster may no longer list a broker that is down."""
    with serving(ScriptedBroker(software=("Kafka", "4.0"))) as [broker]:
        for bootstrap in (f"127.0.0.1:1,{broker.address}", f"{broker.address},127.0.0.1:1"):
            result = rollcall("brokers", bootstrap)
            assert "refused the connection" in rows(result.out)["?"]
            assert result.out.strip().splitlines()[-1] == "2 brokers, 1 did not respond, Kafka 4.0"
            assert result.code == 3
        document = json.loads(rollcall("brokers", bootstrap, "--json").out)
    assert [(one["id"], one["answered"]) for one in document["brokers"]] == [(1, True), (-1, False)]


def test_reachable_bootstrap_address_of_no_broker_is_not_a_row() -> None:
    with serving(ScriptedBroker(id=1), ScriptedBroker(id=7)) as (proxy, broker):
        for server in (proxy, broker):
            server.nodes = [(7, broker.address, None, 0)]
        result = rollcall("brokers", f"{broker.address},{proxy.address}")
    assert list(rows(result.out)) == ["7"]
    assert result.code == 0


def test_unreachable_bootstrap_address_has_no_line_in_the_output_file(tmp_path: Path) -> None:
    path = tmp_path / "rolls.jsonl"
    with serving(ScriptedBroker()) as [broker]:
        rollcall("brokers", f"{broker.address},127.0.0.1:1", "--output", path)
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == [1]


def test_clock_ahead_is_noted() -> None:
    with serving(ScriptedBroker(start_time_ms=9_999_999_999_999)) as [broker]:
        out = rollcall("brokers", broker.address).out
    assert "clock at least" in out


@pytest.mark.parametrize("start", [1 << 62, -5, 253_402_300_800_000])
def test_start_time_outside_the_calendar_is_accepted(start: int) -> None:
    with serving(ScriptedBroker(start_time_ms=start)) as [broker]:
        assert rollcall("brokers", broker.address).code == 0
        assert rollcall("brokers", broker.address, "--json").code == 0


def test_broker_of_another_cluster_is_noted() -> None:
    one, two = ScriptedBroker(id=1), ScriptedBroker(id=2, cluster_id="elsewhere")
    with serving(one, two):
        out = rollcall("brokers", one.address).out
    assert "belongs to another cluster: elsewhere" in rows(out)["2"]


async def test_watch_continues_while_the_cluster_is_unreachable(
    capsys: pytest.CaptureFixture[str],
) -> None:
    address = await unused_address()
    settings = ConnectionSettings((address,), ClientConfig(backoff=0.01, rounds=1))
    seen: list[RollCall] = []
    watching = asyncio.create_task(watch_brokers(settings, seen.append, 0.05))
    errors = ""

    def has_failed() -> bool:
        nonlocal errors
        errors += capsys.readouterr().err
        return errors.count("refused the connection") >= 2

    await wait_until(has_failed)
    assert seen == []
    async with running(ScriptedBroker(), port=address.port):
        await wait_until(lambda: len(seen) > 2)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
