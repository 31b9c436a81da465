"""Which files are read, and from which byte; without Spark."""

import gzip
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rollcall.pipeline.errors import SourceError
from rollcall.pipeline.sources.files import LocalFileSystem, find_logs
from rollcall.pipeline.sources.planning import KnownFile, Planner, ReadPlan
from tests.pipeline.running import lines, make_old, put

LOCAL = LocalFileSystem()


def plan(*paths: Path | str, known: list[KnownFile] | None = None) -> ReadPlan:
    planner = Planner(lambda _: LOCAL, time.time())
    files = find_logs(lambda _: LOCAL, [str(path) for path in paths])
    return planner.plan(planner.inspect(files), known or [])


def as_known(done: ReadPlan, lines_read: int = 0) -> list[KnownFile]:
    """The rows that a run of this plan would write to the table `files`."""
    return [
        KnownFile(
            read.content.first_line_hash,
            read.content.fingerprint,
            read.end if read.end is not None else read.content.file.bytes,
            read.content.file.bytes,
            lines_read,
        )
        for read in done.reads
    ]


def names(done: ReadPlan) -> list[str]:
    return [Path(read.path).name for read in done.reads]


def test_directory_is_read_recursively_without_hidden_files(tmp_path: Path) -> None:
    put(tmp_path / "b1" / "a.log.1", lines(1))
    put(tmp_path / "b2" / "deep" / "a.log.2", lines(1, first=1))
    put(tmp_path / ".hidden", lines(3))
    assert names(plan(tmp_path)) == ["a.log.1", "a.log.2"]


def test_directory_with_several_symbolic_links_is_read_once(tmp_path: Path) -> None:
    put(tmp_path / "disk2" / "a.log.1", lines(1))
    (tmp_path / "logs" / "b1").mkdir(parents=True)
    (tmp_path / "logs" / "b2").symlink_to(tmp_path / "disk2")
    (tmp_path / "logs" / "b3").symlink_to(tmp_path / "disk2")
    (tmp_path / "logs" / "b1" / "loop").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "broken").symlink_to(tmp_path / "nowhere")
    files = find_logs(lambda _: LOCAL, [str(tmp_path / "logs")])
    assert [file.path for file in files] == [str(tmp_path / "logs" / "b2" / "a.log.1")]


@pytest.mark.parametrize("wanted", ["logs", "logs/a.log", "logs/*.log"])
def test_path_with_parent_directory_is_resolved(
    tmp_path: Path, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "logs" / "a.log", lines(1))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    files = find_logs(lambda _: LOCAL, [f"../{wanted}", str(tmp_path / "logs")])
    assert [file.path for file in files] == [str(tmp_path / "logs" / "a.log")]


@pytest.mark.parametrize("wanted", ["/my%20logs", "/my logs/a.log", "/my%20logs/*.log"])
def test_file_uri_is_read_like_a_path(tmp_path: Path, wanted: str) -> None:
    path = put(tmp_path / "my logs" / "a.log", "x\n")
    files = find_logs(lambda _: LocalFileSystem(), [f"file://{tmp_path}{wanted}"])
    assert [file.path for file in files] == [str(path)]


def test_pattern_selects_matching_files(tmp_path: Path) -> None:
    for name in ("a.log.1", "a.log.2", "b.txt"):
        put(tmp_path / name, lines(1, first=len(name) + ord(name[-1])))
    assert names(plan(tmp_path / "*.log.*")) == ["a.log.1", "a.log.2"]


@pytest.mark.parametrize("wanted", ["nowhere", "*.nothing"])
def test_missing_path_is_an_error(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(SourceError, match="there is no file or directory"):
        plan(tmp_path / wanted)


@pytest.mark.parametrize("wanted", [".", "*.log"])
def test_log_rolled_while_listing_is_not_an_error(
    tmp_path: Path, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rolled = put(tmp_path / "a.log", lines(1))
    put(tmp_path / "b.log", lines(1))
    monkeypatch.setattr(Path, "is_file", lambda path: path != rolled or rolled.unlink() is None)
    files = find_logs(lambda _: LOCAL, [str(tmp_path / wanted)])
    assert [Path(file.path).name for file in files] == ["b.log"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_read_permission_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "a.log", lines(1)).chmod(0)
    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        plan(tmp_path / "a.log")


def test_input_output_error_is_an_error() -> None:
    with pytest.raises(SourceError, match="/proc/self/mem cannot be read: Input/output error"):
        list(LOCAL.chunks("/proc/self/mem", 0, 1))


def test_log_still_being_written_is_not_read_and_listed_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path / "kafka-request.log", lines(1))
    put(tmp_path / "recent.log", lines(2), age=30)
    put(tmp_path / "old.log", lines(3))
    done = plan(tmp_path)
    assert names(done) == ["old.log"]
    assert {Path(file.path).name: file.reason for file in done.not_read} == {
        "kafka-request.log": "still being written: active log",
        "recent.log": "still being written: changed within the last 2 minutes",
    }


def test_log_given_explicitly_is_read_to_its_last_complete_line(tmp_path: Path) -> None:
    path = put(tmp_path / "kafka-request.log", lines(2) + "[2026-03-01 1", age=0)
    (read,) = plan(path).reads
    assert (read.end, read.copy) == (len(lines(2)), True)


def test_log_that_has_grown_is_continued(tmp_path: Path) -> None:
    path = put(tmp_path / "a.log", lines(2))
    known = as_known(plan(path), lines_read=2)
    put(path, lines(5))
    (read,) = plan(path, known=known).reads
    assert (read.start, read.end) == (len(lines(2)), len(lines(5)))
    assert (read.lines_before, read.copy) == (2, True)


def test_long_log_that_has_grown_is_continued_in_its_gzip(tmp_path: Path) -> None:
    path = put(tmp_path / "a.log", lines(400))
    known = as_known(plan(path))
    put(tmp_path / "b.log.gz", lines(450))
    (read,) = plan(tmp_path / "b.log.gz", known=known).reads
    assert (read.start, read.copy) == (len(lines(400)), True)


@pytest.mark.parametrize("count", [3, 500], ids=["short", "longer than 64 KB"])
@pytest.mark.parametrize("name", ["a.log", "kafka-request.log.2026-03-01-10", "x/a.log.gz"])
def test_log_is_not_read_again_under_another_name(tmp_path: Path, name: str, count: int) -> None:
    known = as_known(plan(put(tmp_path / "a.log", lines(count))))
    done = plan(put(tmp_path / name, lines(count)), known=known)
    assert (names(done), done.already_read) == ([], 1)


@pytest.mark.parametrize("count", [60, 500], ids=["short", "longer than 64 KB"])
@pytest.mark.parametrize("kept", [1, 2, 7, 50])
@pytest.mark.parametrize("name", ["b.log", "b.log.gz"])
def test_truncated_copy_is_not_read_again(tmp_path: Path, name: str, kept: int, count: int) -> None:
    known = as_known(plan(put(tmp_path / "a.log", lines(count))))
    done = plan(put(tmp_path / name, lines(kept) + "half"), known=known)
    assert (names(done), done.already_read) == ([], 1)


@pytest.mark.parametrize("count", [60, 500], ids=["short", "longer than 64 KB"])
def test_short_log_with_the_beginning_of_a_known_log_is_read(tmp_path: Path, count: int) -> None:
    known = as_known(plan(put(tmp_path / "a.log", lines(count))))
    assert names(plan(put(tmp_path / "b.log", lines(9) + lines(20, first=70)), known=known))


def test_log_known_by_a_fingerprint_without_prefixes_is_not_read_again(tmp_path: Path) -> None:
    path = put(tmp_path / "a.log", lines(500))
    early = [
        replace(row, fingerprint=row.fingerprint.split("-")[0]) for row in as_known(plan(path))
    ]
    assert plan(path, known=early).already_read == 1


@pytest.mark.parametrize("count", [3, 500], ids=["short", "longer than 64 KB"])
def test_one_of_several_copies_in_a_directory_is_read(tmp_path: Path, count: int) -> None:
    for name in ("a.log.1", "copy/a.log.1", "a.log.1.gz"):
        put(tmp_path / name, lines(count))
    put(tmp_path / "earlier.log", lines(count - 1))
    done = plan(tmp_path)
    assert (names(done), done.already_read) == (["a.log.1"], 3)


@pytest.mark.parametrize("kept", [40, 150], ids=["short", "longer than 64 KB"])
def test_gzip_is_read_instead_of_a_truncated_plain_copy(tmp_path: Path, kept: int) -> None:
    put(tmp_path / "whole.log.gz", lines(500))
    put(tmp_path / "cut.log", lines(kept))
    done = plan(tmp_path)
    assert (names(done), done.already_read, done.deferred) == (["whole.log.gz"], 1, ())


def test_gzip_with_several_members_is_deferred_to_a_second_plan(tmp_path: Path) -> None:
    members = [gzip.compress(lines(250, first=first).encode()) for first in (0, 250)]
    packed = tmp_path / "whole.log.gz"
    packed.write_bytes(b"".join(members))
    make_old(packed)
    put(tmp_path / "cut.log", lines(400))
    done = plan(tmp_path)
    assert (names(done), done.already_read, done.deferred) == (["cut.log"], 0, (str(packed),))
    again = plan(tmp_path, known=as_known(done))
    assert (names(again), again.already_read, again.deferred) == (["whole.log.gz"], 1, ())


def test_gzip_with_a_new_member_of_the_same_size_is_continued(tmp_path: Path) -> None:
    packed = put(tmp_path / "a.log.gz", lines(200))
    size = packed.stat().st_size
    length = len(lines(200))
    (row,) = as_known(plan(packed))
    known = [replace(row, bytes=length, stored_bytes=size)]
    assert plan(packed, known=known).already_read == 1
    packed.write_bytes(packed.read_bytes() + gzip.compress(lines(200, first=200).encode()))
    make_old(packed)
    (read,) = plan(packed, known=known).reads
    assert read.start == length


def test_incomplete_last_line_of_a_finished_log_is_reported(tmp_path: Path) -> None:
    done = plan(put(tmp_path / "a.log", lines(3) + "half"))
    assert names(done) == ["a.log"]
    (file,) = done.not_read
    assert file.reason == "last 4 bytes are an incomplete line, read when the line is complete"
    assert plan(put(tmp_path / "b.log", lines(3) + "half", age=5.0)).not_read == ()


def test_log_modified_far_in_the_future_is_read(tmp_path: Path) -> None:
    put(tmp_path / "soon.log", lines(3), age=-30.0)
    put(tmp_path / "set.log", lines(3, first=9), age=-9e6)
    done = plan(tmp_path)
    assert (names(done), [Path(file.path).name for file in done.not_read]) == (
        ["set.log"],
        ["soon.log"],
    )


def test_file_with_a_name_that_is_not_utf_8_is_copied(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.log"))
    (read,) = plan(put(path, lines(3))).reads
    assert read.copy


def test_files_with_equal_first_lines_and_different_content_are_both_read(tmp_path: Path) -> None:
    put(tmp_path / "a", lines(1) + lines(3, first=50))
    put(tmp_path / "b", lines(1) + lines(3, first=70))
    assert names(plan(tmp_path)) == ["a", "b"]


def test_file_without_lines_is_not_read_and_listed_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path / "empty", b"")
    put(tmp_path / "half", b"[2026")
    put(tmp_path / "picture.png", b"\x89PNG\x00\x00")
    done = plan(tmp_path)
    assert done.reads == []
    assert [file.reason for file in done.not_read] == [
        "empty",
        "no complete line yet",
        "not a log: looks like a picture",
    ]


@pytest.mark.parametrize(
    "name", ["_a.log", "plain.gz", "plain.GZ", "a.bz2", "a.zst", "a.lz4", "a.snappy", "a.deflate"]
)
def test_file_with_a_name_that_spark_misreads_is_copied(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(lines(2))
    os.utime(path, (0, 0))
    assert plan(path).reads[0].copy


def test_damaged_gzip_without_a_complete_line_is_listed_with_the_reason(tmp_path: Path) -> None:
    packed = put(tmp_path / "a.gz", lines(1))
    packed.write_bytes(packed.read_bytes()[:99])
    (file,) = plan(packed).not_read
    assert file.reason == "no line can be read: gzip ends too early"


def test_gzip_without_its_suffix_is_copied(tmp_path: Path) -> None:
    packed = put(tmp_path / "a.gz", lines(2)).rename(tmp_path / "a.log.1")
    assert plan(packed).reads[0].copy


def test_gzip_that_ends_in_an_incomplete_line_is_copied(tmp_path: Path) -> None:
    assert plan(put(tmp_path / "a.log.gz", lines(2) + "half")).reads[0].copy
    assert not plan(put(tmp_path / "b.log.gz", lines(2))).reads[0].copy


def test_batches_have_at_most_the_maximum_number_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollcall.pipeline.sources.planning.BATCH_FILES", 2)
    for number in range(5):
        put(tmp_path / f"a.{number}", lines(1, first=number))
    assert [len(batch) for batch in plan(tmp_path).batches()] == [2, 2, 1]


def test_pipes_and_broken_links_are_skipped_in_directories_and_patterns(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("a line\n")
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "broken.log").symlink_to(tmp_path / "nowhere")
    for wanted in (tmp_path, tmp_path / "*.log"):
        assert [Path(file.path).name for file in LOCAL.find(str(wanted))] == ["a.log"]
