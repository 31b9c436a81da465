"""Schema files: accepted forms, and errors for files that cannot be read."""

from pathlib import Path

import pytest

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.schema_files import read_file


def written(directory: Path, text: str) -> Path:
    path = directory / "Some.json"
    path.write_text(text, encoding="utf-8")
    return path


MINIMAL = '{"name": "Some", "type": "data", "validVersions": "0", "fields": []}'


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL,
        f"[{MINIMAL}]",
        f"// a comment\n{MINIMAL} // another\n",
        "\ufeff" + MINIMAL,
        # As in Kafka 2.8's DescribeProducersRequest.json
        pytest.param(f"{MINIMAL}\n  ]\n}}\n", id="surplus brackets"),
    ],
)
def test_read_file_accepts(tmp_path: Path, text: str) -> None:
    assert [d["name"] for d in read_file(written(tmp_path, text))] == ["Some"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        '"text"',
        "[7]",
        "{}",
        '{"type": "data"}',
        f"{MINIMAL} {MINIMAL}",
        f"{MINIMAL} and more",
        '{"name": "Some" "type": "data"}',
    ],
)
def test_the_error_for_an_invalid_file_names_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(SchemaError, match=r"Some\.json") as caught:
        read_file(written(tmp_path, text))
    assert caught.value.hint


def test_the_error_for_a_file_that_is_not_utf_8_names_it(tmp_path: Path) -> None:
    path = tmp_path / "Some.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"Some\.json"):
        read_file(path)
