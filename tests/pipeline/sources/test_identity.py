"""Content and fingerprints of files."""

from pathlib import Path

import pytest

from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.pipeline.sources.identity import FileContent, inspect, last_line_end
from tests.pipeline.running import line, lines, put

LOCAL = LocalFileSystem()


def content_of(path: Path) -> FileContent:
    return inspect(LOCAL, LOCAL.find(str(path))[0])


@pytest.mark.parametrize("count", [3, 500], ids=["short", "longer than 64 KB"])
def test_fingerprint_is_the_same_after_renaming_moving_and_compressing(
    tmp_path: Path, count: int
) -> None:
    plain = content_of(put(tmp_path / "kafka-request.log", lines(count)))
    rolled = content_of(put(tmp_path / "x" / "kafka-request.log.2026-03-01-10", lines(count)))
    packed = content_of(put(tmp_path / "a.log.gz", lines(count)))
    for other in (rolled, packed):
        assert (other.first_line_hash, other.fingerprint, other.fingerprinted) == (
            plain.first_line_hash,
            plain.fingerprint,
            plain.fingerprinted,
        )
    assert packed.gzip
    assert not plain.gzip


def test_incomplete_last_line_is_not_part_of_the_fingerprint(tmp_path: Path) -> None:
    whole = content_of(put(tmp_path / "a", lines(3)))
    half = content_of(put(tmp_path / "b", lines(3) + "[2026-03"))
    assert (half.fingerprint, half.known_end) == (whole.fingerprint, whole.known_end)


def test_another_line_changes_the_fingerprint_but_not_the_first_line_hash(tmp_path: Path) -> None:
    three, four = (
        content_of(put(tmp_path / "a", lines(3))),
        content_of(put(tmp_path / "b", lines(4))),
    )
    assert three.first_line_hash == four.first_line_hash
    assert three.fingerprint != four.fingerprint


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\x03\x04 and so on", "a zip archive"),
        (b"PAR1\x15\x04", "a Parquet file"),
        ("[2026".encode("utf-16"), "UTF-16 text"),
        (b"\x00" * 100, "a binary file, or a log with a hole of zero bytes"),
        (lines(1).encode() + b"\x00" * 9999 + lines(1).encode(), None),
        (line(1, client="\x00").replace("\\u0000", "\x00").encode(), None),
        (b"kafka-request.log".ljust(257, b"\x00") + b"ustar" + lines(1).encode(), "a tar archive"),
        (f"{line(1)[:120].ljust(257, '-')}ustar{line(2)}\n".encode(), None),  # part of a client id
        (bytes(range(1, 32)) * 9, "a binary file"),
        (b"[2026-03-01 10:00:00,000] INFO text\n", None),
        ("\ufeff[2026-03-01] caf\u00e9 \U0001f600\r\n".encode(), None),
        (b"", None),
    ],
)
def test_file_that_is_not_text_is_recognised(
    tmp_path: Path, content: bytes, expected: str | None
) -> None:
    assert content_of(put(tmp_path / "a", content)).format == expected


@pytest.mark.parametrize("tail", ["", "half", "x" * 200_000])
def test_end_of_the_last_complete_line_is_found(tmp_path: Path, tail: str) -> None:
    file = LOCAL.find(str(put(tmp_path / "a", lines(5) + tail)))[0]
    assert last_line_end(LOCAL, file) == len(lines(5))
