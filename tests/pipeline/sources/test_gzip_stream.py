"""Gzip content as a stream, also of damaged files."""

import gzip
import random
from pathlib import Path

import pytest

from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.pipeline.sources.gzip_stream import BrokenGzipError, read_content, stated_size
from rollcall.pipeline.sources.identity import inspect
from tests.pipeline.running import lines, put

LOCAL = LocalFileSystem()


@pytest.mark.parametrize("start", [0, 1, 700, 200_000])
@pytest.mark.parametrize("name", ["a.log", "a.log.gz"])
def test_content_is_read_from_any_byte(tmp_path: Path, name: str, start: int) -> None:
    text = lines(400).encode()
    path = put(tmp_path / name, text)
    found = b"".join(
        read_content(LOCAL, str(path), gzip=name.endswith("gz"), start=start, chunk=999)
    )
    assert found == text[start:]


def test_gzip_with_several_members_and_padding_is_read_completely(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\x00" * 512)
    for chunk in (1, 7, 100):
        found = read_content(LOCAL, str(path), gzip=True, chunk=chunk)
        assert b"".join(found) == b"one\ntwo\n"


@pytest.mark.parametrize("cut", [5, 100, -4, -1])
def test_truncated_gzip_yields_all_valid_content(tmp_path: Path, cut: int) -> None:
    text = lines(50).encode()
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(text)[:cut])
    chunks: list[bytes] = []
    with pytest.raises(BrokenGzipError, match="ends too early"):
        chunks.extend(read_content(LOCAL, str(path), gzip=True))
    found = b"".join(chunks)
    assert text.startswith(found)
    assert found == text or cut > 0


@pytest.mark.parametrize("at", [2000, 3000, -8])
def test_damaged_gzip_yields_all_content_before_the_damage(tmp_path: Path, at: int) -> None:
    text = random.Random(7).randbytes(4000).hex("\n", 20).encode() + b"\n"
    packed = bytearray(gzip.compress(text))
    for position in range(at, at + 4):
        packed[position] ^= 0xFF
    (path := tmp_path / "a.gz").write_bytes(packed)
    chunks: list[bytes] = []
    with pytest.raises(BrokenGzipError, match="damaged"):
        chunks.extend(read_content(LOCAL, str(path), gzip=True))
    found = b"".join(chunks)
    assert found[:2500] == text[:2500]
    assert found == text or at > 0
    assert inspect(LOCAL, LOCAL.find(str(path))[0]).damage


def test_gzip_states_its_uncompressed_size(tmp_path: Path) -> None:
    file = LOCAL.find(str(put(tmp_path / "a.gz", lines(9))))[0]
    assert stated_size(LOCAL, file) == len(lines(9))
