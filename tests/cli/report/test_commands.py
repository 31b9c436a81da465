"""`rollcall report`: text, JSON, CSV, pages, errors and exit codes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from typer.testing import CliRunner

from rollcall.cli.app import app
from rollcall.cli.report.export import csv_cell
from rollcall.errors import ConfigError, RollcallError
from tests.reports.table_builder import TableBuilder, hour

HOSTILE = "<script>document.title='owned'</script>\x1b[31m\u202e"
COMMANDS = ["clients", "impact", "restarts", "problems"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = TableBuilder().broker_reports("3.9.0")
    builder.use("Fetch", 3, principal="User:old", client_id=HOSTILE)
    builder.use("Fetch", 11, "librdkafka 1.7.0", principal="=1+1", client_id="app-1")
    builder.use("Fetch", 17, "apache-kafka-java 3.9.0", client_id="[red]app[/red]")
    builder.roll_call(0, 1, start_time=hour(0)).roll_call(0, 2)
    builder.connect(90, software="librdkafka 1.7.0", principal="=1+1", client_id="app-1").file()
    return builder.write(tmp_path_factory.mktemp("report") / "tables")


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *map(str, arguments)])
    if isinstance(result.exception, RollcallError):
        raise result.exception
    return result.exit_code, result.stdout


def printed(*arguments: object) -> str:
    return run(*arguments)[1]


def target_of(command: str) -> list[str]:
    return ["--target", "4.0.1"] if command == "impact" else []


def test_impact_prints_the_answer_first(tables: Path) -> None:
    lines = printed("impact", "--tables", tables, "--target", "4.0.1").splitlines()
    assert lines[0] == "1 of 3 clients breaks at 4.0.1 (1 principal), 1 is at risk or unknown."
    assert lines[1] == (
        "By principal (--owners FILE for owners): User:old (1 breaks), =1+1 (1 at risk)."
    )


def test_impact_prints_coverage_and_warnings_last(tables: Path) -> None:
    text = printed("impact", "--tables", tables, "--target", "4.0.1", "--since", "2026-10-14")
    coverage, *rest = text.splitlines()[-5:]
    assert coverage == (
        "Coverage: 2026-10-14 to 2026-10-14 (1 day), 1 of 2 brokers, 1 hour per broker, "
        "30 requests, 33% unidentified."
    )
    assert rest == [
        "Read: 100 log and roll call lines, 0 rejected.",
        "Never logged: requests before SASL authentication, SASL without a handshake.",
        "warning: only 1 day of logs; at least 7 recommended (--min-days)",
        "warning: no logs of 1 broker: b2:9092",
    ]


def test_coverage_counts_log_lines_without_a_roll_call(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 17).file()
    text = printed("clients", "--tables", builder.write(tmp_path / "tables"))
    assert "Read: 100 log lines, 0 rejected.\n" in text
    assert "warning: the number of brokers is unknown" in text


def test_impact_prints_evidence_and_remedies(tables: Path) -> None:
    text = printed("impact", "--tables", tables, "--target", "4.0.1")
    assert (
        "Fetch 3, 140 requests, 2026-10-01 00:00 to 2026-10-14 00:59, from 10.0.0.1: 4.0.1 accepts "
        "4-17; the broker offered up to 17 (reported), so the client will not use a higher version "
        "by itself\n"
    ) in text
    assert "-> ask the owner for the library, the client reports no name\n" in text
    assert "-> upgrade librdkafka to 1.8.2 or later\n" in text


def test_impact_lists_safe_clients_on_request(tables: Path) -> None:
    command = ("impact", "--tables", tables, "--target", "4.0.1")
    assert "[red]app[/red]" not in printed(*command)
    assert "[red]app[/red]" in printed(*command, "--all")


def test_a_remedy_for_an_inferred_library_begins_with_a_condition(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("ListOffsets", 0, client_id="rdkafka")
    text = printed("impact", "--tables", builder.write(tmp_path / "t"), "--target", "4.1.0")
    assert "-> if this is librdkafka, upgrade librdkafka to 1.8.2 or later\n" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_table_of_a_report_fits_into_100_columns(tmp_path: Path, command: str) -> None:
    names = {"principal": "User:payments", "client_id": "pay-loader-7"}
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 3, **names)
    for version in range(9):
        builder.use("Fetch", 3, f"librdkafka 1.{version}.1", requests=10**6, **names)
    builder.connect(90, **names)
    for day in (0, 2):
        builder.roll_call(day, 1, host="broker-1.example", start_time=hour(day))
    directory = builder.write(tmp_path / "tables")
    lines = printed(command, "--tables", directory, *target_of(command)).split("\n\n")[1]
    assert max(map(len, lines.splitlines())) <= 100, lines


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--target", "4.0.1"], 1),
        (["--target", "3.9.1"], 3),  # a broker has no logs
        (["--target", "4.0.1", "--principal", "User:app"], 3),
        (["--target", "4.0.1", "--since", "0001-01-01", "--until", "9999-12-31"], 1),
        ([], 2),
    ],
)
def test_impact_exits_with_the_code_of_its_verdicts(
    tables: Path, arguments: list[str], code: int
) -> None:
    assert run("impact", "--tables", tables, *arguments)[0] == code


def test_impact_exits_with_0_if_every_client_is_safe(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 17, "apache-kafka-java 3.9.0")
    directory = builder.write(tmp_path / "tables")
    assert run("impact", "--tables", directory, "--target", "4.0.0")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "17.0"], "there is no release 17.0"),
        (["--target", "four"], "'four' is not a Kafka release"),
        (["--target", "4.0.1", "--from", "x"], "'x' is not a Kafka release"),
        (["--target", "4.0.1", "--since", "yesterday"], "--since 'yesterday' is not a valid time"),
        (["--target", "4.0.1", "--since", "99999999d"], "is not a valid time"),
        (["--target", "4.0.1", "--since", "0001-01-01T00:00+02:00"], "is not a valid time"),
        (
            ["--target", "4.0.1", "--since", "2026-10-02", "--until", "2026-10-01"],
            "the window ends at 2026-10-01",
        ),
        (["--target", "4.0.1", "--json", "--csv"], "exclude each other"),
        (["--target", "4.0.1", "--principal", "User:nobody"], "no principal 'User:nobody'"),
    ],
)
def test_a_wrong_option_is_a_usage_error_with_a_hint(
    tables: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:  # exit code 2
        run("impact", "--tables", tables, *arguments)
    assert caught.value.hint


def test_impact_without_tables_exits_with_2(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no tables"):  # exit code 2
        run("impact", "--tables", tmp_path, "--target", "4.0.1")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_report_prints_json(tables: Path, command: str) -> None:
    document = json.loads(printed(command, "--tables", tables, "--json", *target_of(command)))
    assert document["report"] == command
    assert document["summary"]
    rows = document[{"restarts": "brokers", "problems": "problems"}.get(command, "clients")]
    assert rows
    if command in ("clients", "impact"):
        assert HOSTILE in {client_id for row in rows for client_id in row["client_ids"]}
        assert document["coverage"]["observed"][0]["hours"] == 14


@pytest.mark.parametrize("command", COMMANDS)
def test_every_report_prints_csv(tables: Path, command: str) -> None:
    text = printed(command, "--tables", tables, "--csv", *target_of(command))
    assert "\x1b" not in text
    rows = list(csv.DictReader(text.splitlines()))
    assert rows
    if command == "clients":
        assert {row["principal"] for row in rows} == {"User:old", "'=1+1", "User:app"}


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_without_rows_has_its_heading(tables: Path, tmp_path: Path, command: str) -> None:
    some = printed(command, "--tables", tables, "--csv", *target_of(command))
    empty = TableBuilder().write(tmp_path / "none")
    none = printed(command, "--tables", empty, "--csv", *target_of(command))
    assert none.splitlines() == some.splitlines()[:1]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", " =1+1", "\uff1d1"])
def test_a_csv_cell_is_never_a_formula(text: str) -> None:
    assert str(csv_cell(text)).startswith("'")
    assert str(csv_cell([text, "x"])).startswith("'")


@pytest.mark.parametrize("command", ["clients", "impact", "problems"])
def test_text_escapes_control_characters(tables: Path, command: str) -> None:
    text = printed(command, "--tables", tables, *target_of(command))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_b04_restarts_print_an_unknown_start_time_as_unknown(tables: Path) -> None:
    text = printed("restarts", "--tables", tables)
    assert text.startswith(
        "0 of 2 brokers restarted, not all are known to be up, 1 start time unknown.\n"
    )
    assert " unknown " in text
    assert "1970" not in text


def test_details_that_clients_share_are_printed_once(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").file()
    for name in ("one", "two"):
        builder.use("Fetch", 11, "librdkafka 1.7.0", client_id=name, requests=700)
    text = printed("impact", "--tables", builder.write(tmp_path / "t"), "--target", "4.0.1")
    assert "at risk: User:app, one, librdkafka 1.7.0\nat risk: User:app, two" in text
    assert text.count("-> upgrade librdkafka to 1.8.2 or later") == 1


def test_counts_have_thousands_separators(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, "librdkafka 1.7.0", requests=700)
    assert "   9,800   " in printed("clients", "--tables", builder.write(tmp_path / "t"))


def test_a_rolling_restart_lists_at_most_20_brokers(tmp_path: Path) -> None:
    builder = TableBuilder()
    for day, start in ((0, 0), (2, 30)):
        for broker in range(25):
            builder.roll_call(day, broker, start_time=hour(start))
    first, rolling, *_ = printed("restarts", "--tables", builder.write(tmp_path / "t")).splitlines()
    assert first.startswith("25 of 25 brokers restarted")
    assert ": 0, 1, 2, 3," in rolling
    assert rolling.endswith(" 19 and 5 more.")


def test_a_clock_difference_has_readable_units(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(0, 1, start_time=hour(3, 4))
    text = printed("restarts", "--tables", builder.write(tmp_path / "t"))
    assert "clock at least 3d 4h ahead" in text


def test_problems_are_printed_with_software(tables: Path) -> None:
    text = printed("problems", "--tables", tables)
    assert text.startswith("1 client has problems (reconnect storm 1, single-request connections 1")
    assert "90 connections per hour from 10.0.0.1 to b1:9092" in text
    assert "librdkafka 1.7.0" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_rows_of_several_clusters_name_their_cluster(tmp_path: Path, command: str) -> None:
    builder = TableBuilder().broker_reports("3.9.0")
    for cluster in ("east", "west"):
        builder.use("Fetch", 3, cluster=cluster).connect(90, cluster=cluster)
        builder.roll_call(1, 1, cluster=cluster, start_time=hour(0))
    directory = builder.write(tmp_path / "t")
    text = printed(command, "--tables", directory, *target_of(command))
    assert {line.split()[0] for line in text.splitlines() if line} >= {"cluster", "east", "west"}
    if command == "impact":
        assert "unknown (east)\nbreaks: User:app, app, unknown (west)\n" in text
    one = printed(command, "--tables", directory, "--cluster", "east", *target_of(command))
    assert not any(line.startswith(("cluster", "east")) for line in one.splitlines())


@pytest.mark.parametrize(
    ("software", "words"), [(None, "no name"), ("our-own 1.0", "the name our-own")]
)
def test_the_remedy_for_an_unknown_library_has_the_reported_name(
    tmp_path: Path, software: str | None, words: str
) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 3, software)
    text = printed("impact", "--tables", builder.write(tmp_path / "t"), "--target", "4.0.1")
    assert f"-> ask the owner for the library, the client reports {words}\n" in text


def test_owners_are_read_from_a_file(tables: Path, tmp_path: Path) -> None:
    owners = tmp_path / "owners.csv"
    owners.write_text("principal,client_id,owner\nUser:old,,Archive\n", encoding="utf-8")
    text = printed("impact", "--tables", tables, "--target", "4.0.1", "--owners", owners)
    assert "By owner: Archive (1 breaks)" in text


@pytest.mark.parametrize(
    ("where", "hint"), [("nowhere", "makes them"), ("s3://bucket/tables", "copy the directory")]
)
def test_missing_tables_are_an_error(tmp_path: Path, where: str, hint: str) -> None:
    directory = where if "://" in where else tmp_path / where
    with pytest.raises(RollcallError) as caught:
        printed("clients", "--tables", directory)
    assert hint in str(caught.value.hint)


def test_a_page_that_cannot_be_written_is_an_error(tables: Path, tmp_path: Path) -> None:
    with pytest.raises(RollcallError, match="cannot write the page"):
        printed("clients", "--tables", tables, "--html", tmp_path / "no" / "page.html")


def impact_into(output: IO[str], tables: Path) -> subprocess.CompletedProcess[str]:
    """A report in which no client breaks and a broker has no logs: exit code 3."""
    source = "from rollcall.__main__ import main; main()"
    words = ["report", "impact", "--tables", str(tables), "--target", "3.9.1"]
    return subprocess.run(
        [sys.executable, "-c", source, *words, "--json"],
        stdout=output, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_closed_pipe_does_not_change_the_exit_code(tables: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as closed:
        done = impact_into(closed, tables)
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_exits_with_2(tables: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = impact_into(full, tables)
    assert done.returncode == 2
    assert done.stderr.startswith("error: No space left on device")
