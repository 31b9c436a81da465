"""`rollcall report`: what it prints, writes and exits with."""

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
from tests.reports.making import Made, hour

HOSTILE = "<script>document.title='owned'</script>\x1b[31m\u202e"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Made().told("3.9.0").use("Fetch", 3, principal="User:old", client_id=HOSTILE)
    made.use("Fetch", 11, "librdkafka 1.7.0", principal="=1+1", client_id="app-1")
    made.use("Fetch", 17, "apache-kafka-java 3.9.0", client_id="[red]app[/red]")
    made.roll_call(0, 1, start_time=hour(0)).roll_call(0, 2)
    made.connect(90, told="librdkafka 1.7.0", principal="=1+1", client_id="app-1").file()
    return made.write(tmp_path_factory.mktemp("report") / "tables")


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["report", *map(str, arguments)])
    if isinstance(result.exception, RollcallError):
        raise result.exception
    return result.exit_code, result.stdout


def printed(*arguments: object) -> str:
    return run(*arguments)[1]


def test_the_sentence_an_operator_wants_comes_first(tables: Path) -> None:
    first = printed("impact", "--tables", tables, "--target", "4.0.1").splitlines()[0]
    assert first == (
        "1 of 3 clients breaks at 4.0.1, of 1 principal; 1 is at risk or undecided; seen "
        "2026-10-01 to 2026-10-14 on 1 of 2 brokers, 420 requests, 33% unidentified."
    )


def test_lines_that_are_more_than_requests_are_told_to_be_of_roll_calls_too(
    tables: Path, tmp_path: Path
) -> None:
    observed = printed("clients", "--tables", tables).splitlines()[1]
    assert observed.endswith("; 100 lines of logs and roll calls read, 0 of them rejected.")
    alone = Made().told("3.9.0").use("Fetch", 17).file().write(tmp_path / "tables")
    assert "; 100 lines read, 0 of them rejected." in printed("clients", "--tables", alone)


def test_then_the_evidence_and_what_to_do(tables: Path) -> None:
    text = printed("impact", "--tables", tables, "--target", "4.0.1")
    assert "Fetch 3, 140 requests from 2026-10-01 00:00 to 2026-10-14 00:59 on 10.0.0.1" in text
    assert "the target accepts 4 to 17" in text
    assert "-> ask its owner which library it is" in text
    assert "-> upgrade librdkafka to 1.8.2 or later" in text
    assert "By principal: User:old (1 breaks), =1+1 (1 at risk)." in text
    assert "NOT OBSERVED: 1 broker (b2:9092)" in text
    assert "is never logged" in text
    assert "[red]app[/red]" not in text  # it is safe, and those are listed on request
    everyone = printed("impact", "--tables", tables, "--target", "4.0.1", "--all")
    assert "[red]app[/red]" in everyone


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--target", "4.0.1"], 1),
        (["--target", "3.9.1"], 3),  # a broker was not observed
        (["--target", "4.0.1", "--principal", "User:app"], 3),
        (["--target", "4.0.1", "--since", "0001-01-01", "--until", "9999-12-31"], 1),
        ([], 2),
    ],
)
def test_the_exit_code_is_for_scripts(tables: Path, arguments: list[str], code: int) -> None:
    assert run("impact", "--tables", tables, *arguments)[0] == code


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--target", "17.0"], "there is no release 17.0"),
        (["--target", "four"], "'four' is not a release"),
        (["--target", "4.0.1", "--from", "x"], "'x' is not a release"),
        (["--target", "4.0.1", "--since", "yesterday"], "--since 'yesterday' is no time"),
        (["--target", "4.0.1", "--since", "99999999d"], "is no time"),
        (["--target", "4.0.1", "--since", "0001-01-01T00:00+02:00"], "is no time"),
        (
            ["--target", "4.0.1", "--since", "2026-10-02", "--until", "2026-10-01"],
            "the window ends at 2026-10-01",
        ),
        (["--target", "4.0.1", "--json", "--csv"], "are different answers"),
        (["--target", "4.0.1", "--principal", "User:nobody"], "no principal 'User:nobody'"),
    ],
)
def test_a_slip_is_a_wrong_call_with_a_hint(tables: Path, arguments: list[str], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:  # which ends with 2
        run("impact", "--tables", tables, *arguments)
    assert caught.value.hint


def test_tables_that_are_not_there_break_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there are no tables"):  # which ends with 2
        run("impact", "--tables", tmp_path, "--target", "4.0.1")


def test_where_all_is_well_it_is_0(tmp_path: Path) -> None:
    made = Made().told("3.9.0").use("Fetch", 17, "apache-kafka-java 3.9.0")
    folder = made.write(tmp_path / "tables")
    assert run("impact", "--tables", folder, "--target", "4.0.0")[0] == 0


@pytest.mark.parametrize("command", ["clients", "impact", "restarts", "problems"])
def test_every_report_is_json_too(tables: Path, command: str) -> None:
    more = ["--target", "4.0.1"] if command == "impact" else []
    told = json.loads(printed(command, "--tables", tables, "--json", *more))
    assert told["report"] == command
    assert told["summary"]
    rows = told[{"restarts": "brokers", "problems": "problems"}.get(command, "clients")]
    assert rows
    if command in ("clients", "impact"):
        assert HOSTILE in {client_id for row in rows for client_id in row["client_ids"]}
        assert told["coverage"]["hours_observed"][0]["hours"] == 14


@pytest.mark.parametrize("command", ["clients", "impact", "restarts", "problems"])
def test_every_report_is_csv_too(tables: Path, command: str) -> None:
    more = ["--target", "4.0.1"] if command == "impact" else []
    text = printed(command, "--tables", tables, "--csv", *more)
    assert "\x1b" not in text
    rows = list(csv.DictReader(text.splitlines()))
    assert rows
    if command == "clients":
        assert {row["principal"] for row in rows} == {"User:old", "'=1+1", "User:app"}


@pytest.mark.parametrize("command", ["clients", "impact", "restarts", "problems"])
def test_csv_without_a_row_has_its_heading(tables: Path, tmp_path: Path, command: str) -> None:
    more = ["--target", "4.0.1"] if command == "impact" else []
    some = printed(command, "--tables", tables, "--csv", *more)
    none = printed(command, "--tables", Made().write(tmp_path / "none"), "--csv", *more)
    assert none.splitlines() == some.splitlines()[:1]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", " =1+1", "\uff1d1"])
def test_no_cell_of_csv_is_a_formula(text: str) -> None:
    assert str(csv_cell(text)).startswith("'")
    assert str(csv_cell([text, "x"])).startswith("'")


@pytest.mark.parametrize("command", ["clients", "impact", "problems"])
def test_hostile_text_is_text_on_a_terminal(tables: Path, command: str) -> None:
    more = ["--target", "4.0.1"] if command == "impact" else []
    text = printed(command, "--tables", tables, *more)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_restarts_tell_unknown_start_times_as_unknown(tables: Path) -> None:
    text = printed("restarts", "--tables", tables)
    assert text.startswith("0 of 2 brokers restarted; not known to be all up together")
    assert "; 1 tells no start time; " in text
    assert "unknown" in text
    assert "1970" not in text


def test_what_is_true_of_several_clients_is_said_once(tmp_path: Path) -> None:
    made = Made().told("3.9.0").file()
    for name in ("one", "two"):
        made.use("Fetch", 11, "librdkafka 1.7.0", client_id=name, requests=700)
    text = printed("impact", "--tables", made.write(tmp_path / "t"), "--target", "4.0.1")
    assert "at risk: User:app, one, librdkafka 1.7.0\nat risk: User:app, two" in text
    assert text.count("-> upgrade librdkafka to 1.8.2 or later") == 1
    assert text.count(" 9,800\n") == 2  # 14 days of them: counts as people read them


def test_of_many_brokers_that_restarted_some_are_named_in_order(tmp_path: Path) -> None:
    made = Made()
    for day, start in ((0, 0), (2, 30)):
        for broker in range(25):
            made.roll_call(day, broker, start_time=hour(start))
    first, wave, *_ = printed("restarts", "--tables", made.write(tmp_path / "t")).splitlines()
    assert first.startswith("25 of 25 brokers restarted")
    assert ": 0, 1, 2, 3," in wave
    assert wave.endswith(" 19, and 5 more")


def test_a_clock_that_is_off_is_told_in_units_for_people(tmp_path: Path) -> None:
    made = Made().roll_call(0, 1, start_time=hour(3, 4))
    assert "its clock is ahead by 3d 4h at least" in printed(
        "restarts", "--tables", made.write(tmp_path / "t")
    )


def test_trouble_is_told_with_its_software(tables: Path) -> None:
    text = printed("problems", "--tables", tables)
    assert "reconnect storm" in text
    assert "90 connections per hour from 10.0.0.1 at b1:9092" in text
    assert "librdkafka 1.7.0" in text


@pytest.mark.parametrize("command", ["clients", "impact", "restarts", "problems"])
def test_of_several_clusters_each_row_says_which(tmp_path: Path, command: str) -> None:
    made = Made().told("3.9.0")
    for cluster in ("east", "west"):
        made.use("Fetch", 3, cluster=cluster).connect(90, cluster=cluster)
        made.roll_call(1, 1, cluster=cluster, start_time=hour(0))
    folder = made.write(tmp_path / "t")
    more = ["--target", "4.0.1"] if command == "impact" else []
    text = printed(command, "--tables", folder, *more)
    assert {line.split()[0] for line in text.splitlines() if line} >= {"cluster", "east", "west"}
    if command == "impact":
        assert "cannot tell (east)\nbreaks: User:app, app, cannot tell (west)\n" in text
    one = printed(command, "--tables", folder, "--cluster", "east", *more)
    assert not any(line.startswith(("cluster", "east")) for line in one.splitlines())


@pytest.mark.parametrize(
    ("told", "words"), [(None, "it told no name"), ("our-own 1.0", "it told the name our-own")]
)
def test_of_a_library_that_nobody_knows_it_is_said_what_it_told(
    tmp_path: Path, told: str | None, words: str
) -> None:
    tables = Made().told("3.9.0").use("Fetch", 3, told).write(tmp_path / "tables")
    text = printed("impact", "--tables", tables, "--target", "4.0.1")
    assert f"-> ask its owner which library it is: {words}\n" in text


def test_owners_come_from_a_file(tables: Path, tmp_path: Path) -> None:
    owners = tmp_path / "owners.csv"
    owners.write_text("principal,client_id,owner\nUser:old,,Archive\n", encoding="utf-8")
    told = printed("impact", "--tables", tables, "--target", "4.0.1", "--owners", owners)
    assert "Archive" in told


@pytest.mark.parametrize(
    ("where", "hint"), [("nowhere", "makes them"), ("s3://bucket/tables", "copy the folder")]
)
def test_tables_that_are_not_there_are_told(tmp_path: Path, where: str, hint: str) -> None:
    folder = where if "://" in where else tmp_path / where
    with pytest.raises(RollcallError) as caught:
        printed("clients", "--tables", folder)
    assert hint in str(caught.value.hint)


def test_a_page_that_cannot_be_written_is_told(tables: Path, tmp_path: Path) -> None:
    with pytest.raises(RollcallError, match="cannot be written"):
        printed("clients", "--tables", tables, "--html", tmp_path / "no" / "page.html")


def impact_into(output: IO[str], tables: Path) -> subprocess.CompletedProcess[str]:
    """Where nothing breaks, and a broker was not observed."""
    source = "from rollcall.cli import main; main()"
    words = ["report", "impact", "--tables", str(tables), "--target", "3.9.1"]
    return subprocess.run(
        [sys.executable, "-c", source, *words, "--json"],
        stdout=output, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_reader_who_goes_away_breaks_no_client(tables: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as broken:
        done = impact_into(broken, tables)
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_breaks_no_client(tables: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = impact_into(full, tables)
    assert done.returncode == 2
    assert done.stderr.startswith("error: No space left on device")
