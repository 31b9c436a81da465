"""What a file is known by."""

import gzip
import random
from pathlib import Path

import pytest

from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.pipeline.sources.identity import (
    BrokenGzipError,
    Content,
    last_line_end,
    last_size,
    look_at,
    unpacked,
)
from tests.pipeline.running import line, lines, put

PLACE = LocalFileSystem()


def look(path: Path) -> Content:
    return look_at(PLACE, PLACE.find(str(path))[0])


@pytest.mark.parametrize("count", [3, 500], ids=["short", "longer than 64 KB"])
def test_a_file_is_the_same_when_it_is_renamed_moved_or_compressed(
    tmp_path: Path, count: int
) -> None:
    plain = look(put(tmp_path / "kafka-request.log", lines(count)))
    rolled = look(put(tmp_path / "x" / "kafka-request.log.2026-03-01-10", lines(count)))
    packed = look(put(tmp_path / "a.log.gz", lines(count)))
    for other in (rolled, packed):
        assert (other.head, other.fingerprint, other.first) == (
            plain.head,
            plain.fingerprint,
            plain.first,
        )
    assert packed.gzip
    assert not plain.gzip


def test_half_a_line_at_the_end_does_not_count_as_content(tmp_path: Path) -> None:
    whole = look(put(tmp_path / "a", lines(3)))
    half = look(put(tmp_path / "b", lines(3) + "[2026-03"))
    assert (half.fingerprint, half.whole) == (whole.fingerprint, whole.whole)


def test_one_more_line_is_another_fingerprint_but_the_same_head(tmp_path: Path) -> None:
    three, four = look(put(tmp_path / "a", lines(3))), look(put(tmp_path / "b", lines(4)))
    assert three.head == four.head
    assert three.fingerprint != four.fingerprint


@pytest.mark.parametrize(
    ("content", "looks_like"),
    [
        (b"PK\x03\x04 and so on", "a zip archive"),
        (b"PAR1\x15\x04", "a Parquet file"),
        ("[2026".encode("utf-16"), "UTF-16 text"),
        (b"\x00" * 100, "a binary file, or a log with a hole of zero bytes"),
        (lines(1).encode() + b"\x00" * 9999 + lines(1).encode(), None),
        (line(1, client="\x00").replace("\\u0000", "\x00").encode(), None),
        (b"kafka-request.log".ljust(257, b"\x00") + b"ustar" + lines(1).encode(), "a tar archive"),
        (f"{line(1)[:120].ljust(257, '-')}ustar{line(2)}\n".encode(), None),  # a client's id
        (bytes(range(1, 32)) * 9, "a binary file"),
        (b"[2026-03-01 10:00:00,000] INFO text\n", None),
        ("\ufeff[2026-03-01] caf\u00e9 \U0001f600\r\n".encode(), None),
        (b"", None),
    ],
)
def test_what_is_no_text_is_recognised(
    tmp_path: Path, content: bytes, looks_like: str | None
) -> None:
    assert look(put(tmp_path / "a", content)).looks_like == looks_like


@pytest.mark.parametrize("start", [0, 1, 700, 200_000])
@pytest.mark.parametrize("name", ["a.log", "a.log.gz"])
def test_content_is_read_from_any_byte_on(tmp_path: Path, name: str, start: int) -> None:
    text = lines(400).encode()
    path = put(tmp_path / name, text)
    found = b"".join(unpacked(PLACE, str(path), gzip=name.endswith("gz"), start=start, chunk=999))
    assert found == text[start:]


def test_a_gzip_may_have_several_members(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\x00" * 512)
    for chunk in (1, 7, 100):
        found = unpacked(PLACE, str(path), gzip=True, chunk=chunk)
        assert b"".join(found) == b"one\ntwo\n"


@pytest.mark.parametrize("cut", [5, 100, -4, -1])
def test_a_gzip_that_breaks_off_gives_all_that_can_be_read(tmp_path: Path, cut: int) -> None:
    text = lines(50).encode()
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(text)[:cut])
    chunks: list[bytes] = []
    with pytest.raises(BrokenGzipError, match="ends too early"):
        chunks.extend(unpacked(PLACE, str(path), gzip=True))
    found = b"".join(chunks)
    assert text.startswith(found)
    assert found == text or cut > 0


@pytest.mark.parametrize("at", [2000, 3000, -8])
def test_a_damaged_gzip_gives_all_lines_before_the_damage(tmp_path: Path, at: int) -> None:
    text = random.Random(7).randbytes(4000).hex("\n", 20).encode() + b"\n"
    packed = bytearray(gzip.compress(text))
    for place in range(at, at + 4):
        packed[place] ^= 0xFF
    (path := tmp_path / "a.gz").write_bytes(packed)
    chunks: list[bytes] = []
    with pytest.raises(BrokenGzipError, match="damaged"):
        chunks.extend(unpacked(PLACE, str(path), gzip=True))
    found = b"".join(chunks)
    assert found[:2500] == text[:2500]
    assert found == text or at > 0
    assert look(path).broken


def test_a_gzip_tells_its_length(tmp_path: Path) -> None:
    file = PLACE.find(str(put(tmp_path / "a.gz", lines(9))))[0]
    assert last_size(PLACE, file) == len(lines(9))


@pytest.mark.parametrize("tail", ["", "half", "x" * 200_000])
def test_the_end_of_the_last_whole_line_is_found(tmp_path: Path, tail: str) -> None:
    file = PLACE.find(str(put(tmp_path / "a", lines(5) + tail)))[0]
    assert last_line_end(PLACE, file) == len(lines(5))
