"""Whom to write to."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.errors import ConfigError
from rollcall.reports import Client, Owners, impact, read_owners
from tests.reports.table_builder import TableBuilder


def client(principal: str | None, application: str | None) -> Client:
    return Client("prod", principal, application, None, client_ids=(f"{application}-1",))


def test_the_principal_is_the_owner_without_a_file() -> None:
    assert Owners().of(client("User:a", "app")) == "User:a"


def test_the_first_matching_line_gives_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "owners.csv"
    path.write_text(
        "principal,client_id,owner\nUser:a,,Payments\n,loader-*,Data\nUser:b*,x,Search\n",
        encoding="utf-8-sig",
    )
    owners = read_owners(path)
    assert owners.of(client("User:a", "loader-*")) == "Payments"
    assert owners.of(client("User:z", "loader-7")) == "Data"
    assert owners.of(client("User:b1", "x")) == "Search"
    assert owners.of(client("User:b1", "y")) == "User:b1"
    assert owners.of(client(None, None)) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"who,what\na,b\n", "no column principal"), (b"\xff\xfe\x00", "cannot read")],
)
def test_an_invalid_file_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "owners.csv").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_owners(tmp_path / "owners.csv")
    with pytest.raises(ConfigError, match=r"missing.csv: No such file or directory$"):
        read_owners(tmp_path / "missing.csv")


def owners_of(directory: Path, *lines: str) -> Owners:
    path = directory / "owners.csv"
    path.write_text("\n".join(["owner,client_id,principal,note", *lines]), encoding="utf-8")
    return read_owners(path)


def test_the_first_line_wins_among_literal_ids_and_patterns(tmp_path: Path) -> None:
    owners = owners_of(tmp_path, "Early,pay-1,,", "Pattern,pay-*,,", "Late,pay-2,,", "Rest,,,")
    assert owners.of(client("User:a", "pay-1")) == "Early"
    assert owners.of(client("User:a", "pay-2")) == "Pattern"
    assert owners.of(client(None, None)) == "Rest"


def test_a_line_without_owner_is_ignored(tmp_path: Path) -> None:
    owners = owners_of(tmp_path, ",,,", ",,User:a,", "Payments,,User:a,", ",,,")
    assert owners.of(client("User:a", "app")) == "Payments"
    assert owners.of(client("User:b", "app")) == "User:b"


@pytest.mark.parametrize("name", ["User:CN=Doe\\, John", "User:[ops]", "User:100%_a", "User:a.b"])
def test_only_stars_and_question_marks_are_wildcards(tmp_path: Path, name: str) -> None:
    owners = owners_of(tmp_path, f'Ops,,"{name}",', f'Start,,"{name}*",')
    assert owners.of(client(name, "app")) == "Ops"
    assert owners.of(client(f"{name}-2", "app")) == "Start"
    assert owners.of(client("User:o", "app")) == "User:o"


def test_every_client_id_of_an_application_is_matched(tmp_path: Path) -> None:
    builder = TableBuilder()
    for number in range(30):
        builder.use("Fetch", 11, client_id=f"loader-{number}", days=[0])
    owners = owners_of(tmp_path, "Data,loader-7,,")
    (found,) = impact(builder.write(tmp_path / "tables"), "4.0.0", owners=owners).clients
    assert (found.owner, found.judgement.client.client_id_count) == ("Data", 30)
