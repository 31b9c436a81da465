"""Whom to write to."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.errors import RollcallError
from rollcall.reports import Client, Owners, read_owners


def client(principal: str | None, application: str | None) -> Client:
    return Client("prod", principal, application, None, client_ids=(f"{application}-1",))


def test_without_a_file_the_principal_is_the_owner() -> None:
    assert Owners().of(client("User:a", "app")) == "User:a"


def test_the_first_line_that_fits_names_the_owner(tmp_path: Path) -> None:
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
    [(b"who,what\na,b\n", "no column principal"), (b"\xff\xfe\x00", "cannot be read")],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "owners.csv").write_bytes(content)
    with pytest.raises(RollcallError, match=message):
        read_owners(tmp_path / "owners.csv")
    with pytest.raises(RollcallError, match="cannot be read"):
        read_owners(tmp_path / "missing.csv")
