"""Schema files: how they may look, and what is said of those that cannot be read."""

from pathlib import Path

import pytest

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.schema_files import read_documents


def written(folder: Path, text: str) -> Path:
    path = folder / "Some.json"
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
        # as in Kafka 2.8's DescribeProducersRequest.json
        pytest.param(f"{MINIMAL}\n  ]\n}}\n", id="brackets left over"),
    ],
)
def test_a_file_may_look_like_this(tmp_path: Path, text: str) -> None:
    assert [d["name"] for d in read_documents(written(tmp_path, text))] == ["Some"]


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
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(SchemaError, match=r"Some\.json") as caught:
        read_documents(written(tmp_path, text))
    assert caught.value.hint


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "Some.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"Some\.json"):
        read_documents(path)
