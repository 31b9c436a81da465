"""One writer at a time, whatever became of the one before."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rollcall.tables import manifests, writers
from rollcall.tables.errors import BusyError, OvertakenError
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.manifests import Kind, Manifest
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import Note, Writer, open_writer

HOLD = """
import sys, time
from pathlib import Path
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import open_writer
with open_writer(LocalStore(Path(sys.argv[1])), "hold"):
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    return store


def empty(number: int) -> Manifest:
    return Manifest(number, Kind.BATCH, 0)


def test_a_second_writer_is_refused_and_told_who_is_at_work(store: LocalStore) -> None:
    with open_writer(store, "rollcall pipeline stream /logs"):
        refused = pytest.raises(BusyError, match="`rollcall pipeline stream /logs`")
        with refused as error, open_writer(store, "second"):
            pass
        assert str(os.getpid()) in error.value.message
        assert error.value.hint is not None
        assert "compacts by itself" in error.value.hint


def test_after_a_writer_is_done_the_next_may_come(store: LocalStore) -> None:
    for number in (1, 2, 3):
        with open_writer(store, "test") as writer:
            assert writer.number == number
    assert read_tables(store).manifests == ()


def test_a_writer_that_failed_is_done(store: LocalStore) -> None:
    with pytest.raises(ValueError, match="bug"), open_writer(store, "test"):
        raise ValueError("bug")
    with open_writer(store, "test"):
        pass


def test_a_writer_killed_with_9_is_replaced_at_once(store: LocalStore) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(BusyError), open_writer(store, "second"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    with open_writer(store, "second") as writer:
        writer.commit(empty(writer.snapshot().next_number))
    kinds = [manifest.kind for manifest in read_tables(store).manifests]
    assert kinds == [Kind.FENCE, Kind.BATCH]


def left_by(store: LocalStore, note: Note) -> None:
    store.create(f"{writers.FOLDER}/0000000001.json", note.to_json())


def test_a_process_id_that_was_given_again_is_not_the_writer(store: LocalStore) -> None:
    left_by(store, Note(writers.socket.gethostname(), os.getpid(), "another boot 1", "old", 0))
    with open_writer(store, "test"):
        pass


@pytest.mark.parametrize(("silent_for", "dead"), [(60, False), (200, True)])
def test_on_another_host_a_writer_is_dead_when_its_heart_stopped(
    store: LocalStore, silent_for: int, dead: bool
) -> None:
    now = time.time()
    left_by(store, Note("elsewhere", 1, "", "old", 0))
    store.write(f"{writers.FOLDER}/0000000001.beat", str(int((now - silent_for) * 1000)).encode())
    if dead:
        with open_writer(store, "test", clock=lambda: now):
            pass
    else:
        with pytest.raises(BusyError), open_writer(store, "test", clock=lambda: now):
            pass


def test_a_note_that_was_cut_short_does_not_lock_for_ever(store: LocalStore) -> None:
    store.create(f"{writers.FOLDER}/0000000001.json", b'{"ho')
    with pytest.raises(BusyError), open_writer(store, "test"):
        pass
    later = time.time() + 60
    with open_writer(store, "test", clock=lambda: later):
        pass


def test_a_writer_that_wakes_up_late_cannot_commit(store: LocalStore) -> None:
    late = Writer(store, 1, Note("elsewhere", 1, "", "late", 0), time.time)
    left_by(store, late.note)
    number = late.snapshot().next_number
    with open_writer(store, "second"), pytest.raises(OvertakenError):
        late.commit(empty(number))
    assert [manifest.kind for manifest in read_tables(store).manifests] == [Kind.FENCE]


def test_a_commit_that_was_under_way_when_its_writer_was_replaced_is_no_commit(
    store: LocalStore,
) -> None:
    """The last check has passed, and the file is open: the newcomer takes it away."""
    left_by(store, Note("elsewhere", 1, "", "late", 0))
    path = store.root / manifests.file_name(1)
    path.parent.mkdir()
    with path.open("wb") as half:
        half.write(b'{"number": 1')
        half.flush()
        with open_writer(store, "second"):
            half.write(empty(1).to_json()[12:])
    assert [manifest.kind for manifest in read_tables(store).manifests] == [Kind.FENCE]


def test_of_many_that_come_at_once_one_writes(store: LocalStore) -> None:
    entered, refused = [], []
    start = threading.Barrier(8)
    leave = threading.Event()

    def come() -> None:
        start.wait(timeout=10)
        try:
            with open_writer(store, "test") as writer:
                entered.append(writer.number)
                leave.wait(timeout=10)
        except BusyError:
            refused.append(1)
        if len(refused) == 7:
            leave.set()

    threads = [threading.Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert (entered, len(refused)) == ([1], 7)


def test_the_heart_beats(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "BEAT_SECONDS", 0.01)
    with open_writer(store, "test"):
        beat = store.root / writers.FOLDER / "0000000001.beat"
        deadline = time.monotonic() + 10
        while not beat.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_a_process_of_another_user_is_the_writer_only_if_it_began_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert writers.is_running(os.getpid(), writers.process_mark())
    assert not writers.is_running(os.getpid(), "another boot 7")
    monkeypatch.setattr(writers, "process_mark", lambda _: "")  # where /proc is hidden
    assert writers.is_running(os.getpid(), "another boot 7")
