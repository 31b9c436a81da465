"""What is in a folder of tables: commits count, all else does not."""

import json
from pathlib import Path

import pytest

from rollcall.tables import manifests
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import LAYOUT, MissingTablesError, make_tables, read_tables
from rollcall.tables.manifests import Counts, Kind, Manifest, Part
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import open_writer
from tests.tables.making import commit, mark

ROW = {"file": "a.log", "line": 1, "reason": "odd"}


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    return store


def test_a_batch_is_there_when_its_manifest_is(store: LocalStore) -> None:
    with open_writer(store, "test") as writer:
        commit(writer, {"rejects": [ROW]})
        orphan = store.root / "parts" / "0000000002-dead" / "rejects" / "part.parquet"
        orphan.parent.mkdir(parents=True)
        orphan.write_bytes(b"half")
    assert len(read_tables(store).addresses("rejects")) == 1


@pytest.mark.parametrize("half", [b"", b"{", b'{"number": 2, "kind": "batch"'])
def test_a_manifest_that_was_cut_short_is_no_commit(store: LocalStore, half: bytes) -> None:
    with open_writer(store, "test") as writer:
        commit(writer, {"rejects": [ROW]})
    store.create(manifests.file_name(2), half)
    snapshot = read_tables(store)
    assert (len(snapshot.manifests), snapshot.incomplete) == (1, (2,))
    assert snapshot.next_number == 3


def test_a_compaction_replaces_the_numbers_it_covers(store: LocalStore) -> None:
    with open_writer(store, "test") as writer:
        for _ in range(3):
            commit(writer, {"rejects": [ROW]})
        commit(writer, {"rejects": [ROW]}, covers=(1, 2))
        commit(writer, {"rejects": [ROW]})
    snapshot = read_tables(store)
    assert [manifest.number for manifest in snapshot.live] == [3, 4, 5]


def test_a_compaction_may_cover_another() -> None:
    def made(number: int, covers: tuple[int, int] | None = None) -> Manifest:
        return Manifest(number, Kind.COMPACTION if covers else Kind.BATCH, 0, covers)

    all_of_them = [made(1), made(2), made(3, (1, 2)), made(4), made(5, (1, 4)), made(6)]
    assert [each.number for each in manifests.only_live(all_of_them)] == [5, 6]


def test_a_manifest_survives_being_written_and_read() -> None:
    manifest = Manifest(
        7,
        Kind.COMPACTION,
        1_700_000_000_000,
        (2, 6),
        {"usage": (Part("parts/x/usage/a.parquet", 12),)},
        Counts(1, 10, 7, 2, 1, {"odd": 1}),
        ("/var/log",),
        {"topic-1": 41},
        1_600_000_000_000,
    )
    assert manifests.parse(manifest.to_json()) == manifest


def test_an_early_manifest_that_does_not_tell_of_folding_is_read() -> None:
    manifest = Manifest(7, Kind.BATCH, 1)
    early = json.loads(manifest.to_json())
    del early["folded_ms"]
    assert manifests.parse(json.dumps(early).encode()) == manifest


GOOD = json.loads(Manifest(1, Kind.BATCH, 1).to_json())
FOREIGN = [
    json.dumps({**GOOD, **strange}).encode()
    for strange in ({"parts": []}, {"covers": [1]}, {"counts": {"lines": "40"}})
]


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"number": 1, "kind": "theft"}', *FOREIGN])
def test_a_manifest_of_something_else_is_an_error(store: LocalStore, content: bytes) -> None:
    store.create(manifests.file_name(1), content)
    with pytest.raises(TablesError, match=r"0000000001\.json is not what rollcall writes"):
        read_tables(store)


def test_a_file_with_another_name_is_no_manifest(store: LocalStore) -> None:
    with open_writer(store, "test") as writer:
        commit(writer, {"rejects": []})
    store.write("manifests/1.json", store.read(manifests.file_name(1)))
    assert len(read_tables(store).manifests) == 1


def test_counts_add_up_over_live_manifests(store: LocalStore) -> None:
    with open_writer(store, "test") as writer:
        for number in (1, 2):
            counts = Counts(1, 10, 7, 2, 1, {"odd": 1})
            writer.commit(Manifest(number, Kind.BATCH, 0, counts=counts))
    assert read_tables(store).counts == Counts(2, 20, 14, 4, 2, {"odd": 2})


def test_a_manifest_that_goes_while_it_is_read_makes_the_reader_look_again(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_writer(store, "test") as writer:
        commit(writer, {"rejects": [ROW]})
        commit(writer, {"rejects": [ROW]}, covers=(1, 1))
    read = LocalStore.read

    def read_late(self: LocalStore, name: str) -> bytes:
        if name == manifests.file_name(1):
            self.delete(name)
        return read(self, name)

    monkeypatch.setattr(LocalStore, "read", read_late)
    assert [manifest.number for manifest in read_tables(store).manifests] == [2]


def test_no_tables_is_told_apart_from_empty_tables(tmp_path: Path, store: LocalStore) -> None:
    with pytest.raises(MissingTablesError, match="there are no tables in"):
        read_tables(LocalStore(tmp_path / "nowhere"))
    assert read_tables(store).live == ()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(TablesError, match=r"no folder of tables: it holds thesis\.txt"):
        make_tables(LocalStore(tmp_path), "tests")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_mark_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tables.json").write_text("[]")
    with pytest.raises(TablesError, match="no folder of tables"):
        make_tables(LocalStore(tmp_path), "tests")


def test_a_mark_that_its_maker_died_over_is_made_again(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.write("tables.json", b"")
    with pytest.raises(MissingTablesError):
        read_tables(store)
    make_tables(store, "tests")
    assert read_tables(store).live == ()
    assert not make_tables(store, "tests")


@pytest.mark.parametrize(
    ("layout", "hint"),
    [(LAYOUT + 1, "use that, or newer"), (LAYOUT - 1, "or read the logs into new tables")],
)
def test_tables_of_another_layout_are_refused_with_who_made_them(
    tmp_path: Path, layout: int, hint: str
) -> None:
    store = mark(tmp_path, layout=layout, made_by="rollcall 9.1")
    with pytest.raises(TablesError, match=f"layout {layout}, this rollcall knows {LAYOUT}") as it:
        read_tables(store)
    assert it.value.hint is not None
    assert it.value.hint.startswith("they were made by rollcall 9.1: ")
    assert it.value.hint.endswith(hint)


def test_an_unknown_table_is_told_with_the_known_ones(store: LocalStore) -> None:
    with pytest.raises(TablesError, match="no table 'use'") as error:
        read_tables(store).addresses("use")
    assert error.value.hint is not None
    assert "usage" in error.value.hint
