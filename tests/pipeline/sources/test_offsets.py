"""Every record of a topic's batch is a line: counted by offsets, apart from what was read."""

from pathlib import Path

import pytest

from rollcall.pipeline.errors import PipelineError
from rollcall.pipeline.sources.offsets import Counts, check_records, noted_offsets
from rollcall.tables.stores import LocalStore

NOTES = "streams/logs-1"


def never() -> Counts:
    pytest.fail("the topic is read again only where its offsets leave a doubt")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """Notes as Spark leaves them."""
    store = LocalStore(tmp_path)
    store.write(f"{NOTES}/sources/0/0", b'\x00v1\n{"logs":{"0":5,"1":0}}')
    for batch, (first, second) in enumerate([(15, 8), (15, 9)]):
        ends = b'{"logs":{"0":%d,"1":%d}}' % (first, second)
        store.write(f"{NOTES}/offsets/{batch}", b'v1\n{"batchWatermarkMs":0}\n' + ends)
    return store


def test_a_batch_goes_from_the_end_of_the_one_before_to_its_own(store: LocalStore) -> None:
    assert noted_offsets(store, NOTES, "logs", 0) == {0: 10, 1: 8}
    assert noted_offsets(store, NOTES, "logs", 1) == {0: 0, 1: 1}


@pytest.mark.parametrize("note", [b"", b"v2\n[]", b"\xff", b'{"logs":{"0":1,"1":2,"2":3}}', b"{}"])
def test_notes_that_do_not_tell_are_no_numbers(store: LocalStore, note: bytes) -> None:
    store.write(f"{NOTES}/offsets/1", note)
    assert noted_offsets(store, NOTES, "logs", 1) is None
    assert noted_offsets(store, NOTES, "logs", 7) is None


def test_as_many_lines_as_offsets_is_right() -> None:
    assert check_records({0: 10, 1: 8}, {0: 10, 1: 8, 2: 0}, never) == {}


def test_offsets_without_a_record_are_told() -> None:
    assert check_records({0: 10}, {0: 12, 1: 3}, lambda: {0: 10}) == {0: 2, 1: 3}


@pytest.mark.parametrize("offsets", [{0: 10, 1: 5}, {0: 12, 1: 5}, None])
@pytest.mark.parametrize("lines", [{0: 9, 1: 5}, {0: 11, 1: 5}, {0: 10}, {0: 10, 1: 5, 2: 1}])
def test_a_line_too_few_or_too_many_is_an_error(lines: Counts, offsets: Counts | None) -> None:
    with pytest.raises(PipelineError, match="records, but"):
        check_records(lines, offsets, lambda: {0: 10, 1: 5})


def test_without_notes_the_records_are_counted() -> None:
    assert check_records({0: 10}, None, lambda: {0: 10}) == {}
