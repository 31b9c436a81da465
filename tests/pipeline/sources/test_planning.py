"""Which files are read, and from where on. What a run would do, without Spark."""

import gzip
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rollcall.pipeline.errors import SourceError
from rollcall.pipeline.sources.files import LocalFileSystem, find_logs
from rollcall.pipeline.sources.planning import KnownFile, Plan, Planner
from tests.pipeline.running import lines, make_old, put

PLACE = LocalFileSystem()


def plan(*wanted: Path | str, known: list[KnownFile] | None = None) -> Plan:
    planner = Planner(lambda _: PLACE, time.time())
    files = find_logs(lambda _: PLACE, [str(each) for each in wanted])
    return planner.plan(planner.look(files), known or [])


def as_known(done: Plan, lines_read: int = 0) -> list[KnownFile]:
    """What a run of this plan would leave in the table `files`."""
    return [
        KnownFile(
            each.content.head,
            each.content.fingerprint,
            each.end if each.end is not None else each.content.file.bytes,
            each.content.file.bytes,
            lines_read,
        )
        for each in done.readings
    ]


def names(done: Plan) -> list[str]:
    return [Path(reading.path).name for reading in done.readings]


def test_a_folder_is_read_to_its_depths_and_without_hidden_files(tmp_path: Path) -> None:
    put(tmp_path / "b1" / "a.log.1", lines(1))
    put(tmp_path / "b2" / "deep" / "a.log.2", lines(1, first=1))
    put(tmp_path / ".hidden", lines(3))
    assert names(plan(tmp_path)) == ["a.log.1", "a.log.2"]


def test_a_folder_that_is_linked_is_read_once(tmp_path: Path) -> None:
    put(tmp_path / "disk2" / "a.log.1", lines(1))
    (tmp_path / "logs" / "b1").mkdir(parents=True)
    (tmp_path / "logs" / "b2").symlink_to(tmp_path / "disk2")
    (tmp_path / "logs" / "b3").symlink_to(tmp_path / "disk2")
    (tmp_path / "logs" / "b1" / "loop").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "gone").symlink_to(tmp_path / "nowhere")
    files = find_logs(lambda _: PLACE, [str(tmp_path / "logs")])
    assert [file.path for file in files] == [str(tmp_path / "logs" / "b2" / "a.log.1")]


@pytest.mark.parametrize("wanted", ["logs", "logs/a.log", "logs/*.log"])
def test_a_path_that_goes_up_is_found_where_it_leads(
    tmp_path: Path, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "logs" / "a.log", lines(1))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    files = find_logs(lambda _: PLACE, [f"../{wanted}", str(tmp_path / "logs")])
    assert [file.path for file in files] == [str(tmp_path / "logs" / "a.log")]


@pytest.mark.parametrize("wanted", ["/my%20logs", "/my logs/a.log", "/my%20logs/*.log"])
def test_an_address_of_a_file_is_as_good_as_a_path(tmp_path: Path, wanted: str) -> None:
    path = put(tmp_path / "my logs" / "a.log", "x\n")
    files = find_logs(lambda _: LocalFileSystem(), [f"file://{tmp_path}{wanted}"])
    assert [file.path for file in files] == [str(path)]


def test_a_pattern_takes_what_fits(tmp_path: Path) -> None:
    for name in ("a.log.1", "a.log.2", "b.txt"):
        put(tmp_path / name, lines(1, first=len(name) + ord(name[-1])))
    assert names(plan(tmp_path / "*.log.*")) == ["a.log.1", "a.log.2"]


@pytest.mark.parametrize("wanted", ["nowhere", "*.nothing"])
def test_what_is_not_there_is_an_error(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(SourceError, match="there is no file or folder"):
        plan(tmp_path / wanted)


@pytest.mark.parametrize("wanted", [".", "*.log"])
def test_a_log_that_is_rolled_while_it_is_listed_is_no_error(
    tmp_path: Path, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rolled = put(tmp_path / "a.log", lines(1))
    put(tmp_path / "b.log", lines(1))
    monkeypatch.setattr(Path, "is_file", lambda path: path != rolled or rolled.unlink() is None)
    files = find_logs(lambda _: PLACE, [str(tmp_path / wanted)])
    assert [Path(file.path).name for file in files] == ["b.log"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "a.log", lines(1)).chmod(0)
    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        plan(tmp_path / "a.log")


def test_a_disk_that_fails_is_an_error() -> None:
    with pytest.raises(SourceError, match="/proc/self/mem cannot be read: Input/output error"):
        list(PLACE.chunks("/proc/self/mem", 0, 1))


def test_a_log_still_being_written_is_left_and_listed(tmp_path: Path) -> None:
    put(tmp_path / "kafka-request.log", lines(1))
    put(tmp_path / "young.log", lines(2), age=30)
    put(tmp_path / "old.log", lines(3))
    done = plan(tmp_path)
    assert names(done) == ["old.log"]
    assert {Path(left.path).name: left.reason for left in done.not_read} == {
        "kafka-request.log": "still being written: it is the active log",
        "young.log": "still being written: it changed within 2 minutes",
    }


def test_a_log_that_is_named_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = put(tmp_path / "kafka-request.log", lines(2) + "[2026-03-01 1", age=0)
    (reading,) = plan(path).readings
    assert (reading.end, reading.copy) == (len(lines(2)), True)


def test_a_log_that_has_grown_is_continued(tmp_path: Path) -> None:
    path = put(tmp_path / "a.log", lines(2))
    known = as_known(plan(path), lines_read=2)
    put(path, lines(5))
    (reading,) = plan(path, known=known).readings
    assert (reading.start, reading.end) == (len(lines(2)), len(lines(5)))
    assert (reading.lines_before, reading.copy) == (2, True)


def test_a_long_log_that_has_grown_is_continued(tmp_path: Path) -> None:
    path = put(tmp_path / "a.log", lines(400))
    known = as_known(plan(path))
    put(tmp_path / "b.log.gz", lines(450))
    (reading,) = plan(tmp_path / "b.log.gz", known=known).readings
    assert (reading.start, reading.copy) == (len(lines(400)), True)


@pytest.mark.parametrize("count", [3, 500], ids=["short", "longer than 64 KB"])
@pytest.mark.parametrize("name", ["a.log", "kafka-request.log.2026-03-01-10", "x/a.log.gz"])
def test_what_was_read_is_not_read_again_under_any_name(
    tmp_path: Path, name: str, count: int
) -> None:
    known = as_known(plan(put(tmp_path / "a.log", lines(count))))
    done = plan(put(tmp_path / name, lines(count)), known=known)
    assert (names(done), done.already_read) == ([], 1)


@pytest.mark.parametrize("count", [60, 500], ids=["short", "longer than 64 KB"])
@pytest.mark.parametrize("kept", [1, 2, 7, 50])
@pytest.mark.parametrize("name", ["b.log", "b.log.gz"])
def test_a_copy_that_was_cut_off_is_not_read_again(
    tmp_path: Path, name: str, kept: int, count: int
) -> None:
    known = as_known(plan(put(tmp_path / "a.log", lines(count))))
    done = plan(put(tmp_path / name, lines(kept) + "half"), known=known)
    assert (names(done), done.already_read) == ([], 1)


@pytest.mark.parametrize("count", [60, 500], ids=["short", "longer than 64 KB"])
def test_a_short_log_that_begins_as_one_that_was_read_is_read(tmp_path: Path, count: int) -> None:
    known = as_known(plan(put(tmp_path / "a.log", lines(count))))
    assert names(plan(put(tmp_path / "b.log", lines(9) + lines(20, first=70)), known=known))


def test_what_was_read_when_only_one_hash_was_kept_is_not_read_again(tmp_path: Path) -> None:
    path = put(tmp_path / "a.log", lines(500))
    early = [
        replace(row, fingerprint=row.fingerprint.split("-")[0]) for row in as_known(plan(path))
    ]
    assert plan(path, known=early).already_read == 1


@pytest.mark.parametrize("count", [3, 500], ids=["short", "longer than 64 KB"])
def test_of_copies_in_one_folder_one_is_read(tmp_path: Path, count: int) -> None:
    for name in ("a.log.1", "copy/a.log.1", "a.log.1.gz"):
        put(tmp_path / name, lines(count))
    put(tmp_path / "earlier.log", lines(count - 1))
    done = plan(tmp_path)
    assert (names(done), done.already_read) == (["a.log.1"], 3)


@pytest.mark.parametrize("kept", [40, 150], ids=["short", "longer than 64 KB"])
def test_of_a_gzip_and_a_plain_copy_that_was_cut_off_the_gzip_is_read(
    tmp_path: Path, kept: int
) -> None:
    put(tmp_path / "whole.log.gz", lines(500))
    put(tmp_path / "cut.log", lines(kept))
    done = plan(tmp_path)
    assert (names(done), done.already_read, done.deferred) == (["whole.log.gz"], 1, ())


def test_a_gzip_that_may_hold_more_than_it_tells_is_looked_at_again(tmp_path: Path) -> None:
    members = [gzip.compress(lines(250, first=first).encode()) for first in (0, 250)]
    packed = tmp_path / "whole.log.gz"
    packed.write_bytes(b"".join(members))
    make_old(packed)
    put(tmp_path / "cut.log", lines(400))
    done = plan(tmp_path)
    assert (names(done), done.already_read, done.deferred) == (["cut.log"], 0, (str(packed),))
    again = plan(tmp_path, known=as_known(done))
    assert (names(again), again.already_read, again.deferred) == (["whole.log.gz"], 1, ())


def test_a_gzip_that_grew_by_as_much_as_was_read_is_read_on(tmp_path: Path) -> None:
    packed = put(tmp_path / "a.log.gz", lines(200))
    size = packed.stat().st_size
    length = len(lines(200))
    (row,) = as_known(plan(packed))
    known = [replace(row, bytes=length, stored_bytes=size)]
    assert plan(packed, known=known).already_read == 1
    packed.write_bytes(packed.read_bytes() + gzip.compress(lines(200, first=200).encode()))
    make_old(packed)
    (reading,) = plan(packed, known=known).readings
    assert reading.start == length


def test_half_a_last_line_of_a_log_that_is_settled_is_told(tmp_path: Path) -> None:
    done = plan(put(tmp_path / "a.log", lines(3) + "half"))
    assert names(done) == ["a.log"]
    (left,) = done.not_read
    assert left.reason == "its last 4 bytes are no whole line yet, and wait for the rest of it"
    assert plan(put(tmp_path / "b.log", lines(3) + "half", age=5.0)).not_read == ()


def test_a_log_from_far_in_the_future_is_not_still_written(tmp_path: Path) -> None:
    put(tmp_path / "soon.log", lines(3), age=-30.0)
    put(tmp_path / "set.log", lines(3, first=9), age=-9e6)
    done = plan(tmp_path)
    assert (names(done), [Path(left.path).name for left in done.not_read]) == (
        ["set.log"],
        ["soon.log"],
    )


def test_a_name_that_is_no_utf_8_is_copied(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.log"))
    (reading,) = plan(put(path, lines(3))).readings
    assert reading.copy


def test_files_with_the_same_first_line_may_differ_later(tmp_path: Path) -> None:
    put(tmp_path / "a", lines(1) + lines(3, first=50))
    put(tmp_path / "b", lines(1) + lines(3, first=70))
    assert names(plan(tmp_path)) == ["a", "b"]


def test_what_holds_nothing_is_left_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path / "empty", b"")
    put(tmp_path / "half", b"[2026")
    put(tmp_path / "picture.png", b"\x89PNG\x00\x00")
    done = plan(tmp_path)
    assert done.readings == []
    assert [left.reason for left in done.not_read] == [
        "empty",
        "it holds no whole line yet",
        "not a log: it looks like a picture",
    ]


@pytest.mark.parametrize(
    "name", ["_a.log", "plain.gz", "plain.GZ", "a.bz2", "a.zst", "a.lz4", "a.snappy", "a.deflate"]
)
def test_what_spark_would_misread_by_its_name_is_copied(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(lines(2))
    os.utime(path, (0, 0))
    assert plan(path).readings[0].copy


def test_a_gzip_without_a_whole_line_is_left_with_what_is_wrong(tmp_path: Path) -> None:
    packed = put(tmp_path / "a.gz", lines(1))
    packed.write_bytes(packed.read_bytes()[:99])
    (left,) = plan(packed).not_read
    assert left.reason == "a gzip of which not one line can be read: it ends too early"


def test_a_gzip_under_another_name_is_copied(tmp_path: Path) -> None:
    packed = put(tmp_path / "a.gz", lines(2)).rename(tmp_path / "a.log.1")
    assert plan(packed).readings[0].copy


def test_a_gzip_that_ends_in_half_a_line_is_copied(tmp_path: Path) -> None:
    assert plan(put(tmp_path / "a.log.gz", lines(2) + "half")).readings[0].copy
    assert not plan(put(tmp_path / "b.log.gz", lines(2))).readings[0].copy


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollcall.pipeline.sources.planning.BATCH_FILES", 2)
    for number in range(5):
        put(tmp_path / f"a.{number}", lines(1, first=number))
    assert [len(batch) for batch in plan(tmp_path).batches()] == [2, 2, 1]


def test_what_is_no_file_is_passed_over_in_folders_and_patterns(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("a line\n")
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere")
    for wanted in (tmp_path, tmp_path / "*.log"):
        assert [Path(file.path).name for file in PLACE.find(str(wanted))] == ["a.log"]
