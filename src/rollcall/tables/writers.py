"""One writer at a time, without relying on locks that a network file system may not have.

Writers are numbered. The one with the highest number is the writer, until it leaves a `.done`
beside its note, or is found dead: by its process where that can be asked, else by a heartbeat
that stopped. Who finds it dead creates the next number, which only one can do, and then takes the
next number of a manifest too: should the dead one wake up, the commit that it was about to make
finds its number taken.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rollcall.tables import manifests
from rollcall.tables.errors import BusyError, OvertakenError, TablesError
from rollcall.tables.folder import Snapshot, read_tables
from rollcall.tables.manifests import Kind, Manifest
from rollcall.tables.stores import Store

FOLDER = "writers"
BEAT_SECONDS = 15.0
DEAD_AFTER_SECONDS = 120.0
NOTE_SECONDS = 5.0
"""A note is a few bytes: one that is not whole after this time never will be."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a writer leaves for others to see."""

    host: str
    pid: int
    process: str
    """Tells this process from another that got the same id later; empty where unknown."""
    doing: str
    began_ms: int

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


@dataclass
class Writer:
    store: Store
    number: int
    note: Note
    clock: Callable[[], float]
    _stop: threading.Event = field(default_factory=threading.Event)

    def commit(self, manifest: Manifest) -> None:
        """The one step that makes a batch part of the tables."""
        self.check()
        names = [part.name for parts in manifest.parts.values() for part in parts]
        self.store.settle(names)
        if not self.store.create(manifests.file_name(manifest.number), manifest.to_json()):
            raise _overtaken(self.store)

    def snapshot(self) -> Snapshot:
        return read_tables(self.store)

    def check(self) -> None:
        if _highest(self.store) != self.number:
            raise _overtaken(self.store)

    def now_ms(self) -> int:
        return int(self.clock() * 1000)

    def beat_until_stopped(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            with suppress(TablesError, OSError):  # the next beat may succeed
                self.store.write(_file_name(self.number, "beat"), b"%d" % self.now_ms())

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self.store.create(_file_name(self.number, "done"), b"")


@contextmanager
def open_writer(
    store: Store, doing: str, *, clock: Callable[[], float] = time.time
) -> Iterator[Writer]:
    """Become the writer of these tables, or refuse because there is one."""
    writer = _enter(store, doing, clock)
    beat = threading.Thread(target=writer.beat_until_stopped, name="heartbeat", daemon=True)
    beat.start()
    try:
        yield writer
    finally:
        writer.stop()
        beat.join()
        writer.close()


def _enter(store: Store, doing: str, clock: Callable[[], float]) -> Writer:
    last = _highest(store)
    died = last > 0 and not _is_done(store, last)
    if died:
        _refuse_if_alive(store, last, clock())
    note = Note(socket.gethostname(), os.getpid(), process_mark(), doing, int(clock() * 1000))
    writer = Writer(store, last + 1, note, clock)
    if not store.create(_file_name(writer.number), note.to_json()):
        raise _busy(store, _read_note(store, writer.number))
    if died:
        _fence(writer)
    for entry in store.list(FOLDER):
        number = manifests.number_of(Path(entry.name).stem + ".json")
        if number is not None and number < writer.number:
            store.delete(f"{FOLDER}/{entry.name}")
    return writer


def _refuse_if_alive(store: Store, number: int, now: float) -> None:
    note = _read_note(store, number)
    if note is None:  # it died over its note, or is writing it at this moment
        name = Path(_file_name(number)).name
        written = [entry.modified for entry in store.list(FOLDER) if entry.name == name]
        alive = bool(written) and now - written[0] < NOTE_SECONDS
    elif note.host == socket.gethostname():
        alive = is_running(note.pid, note.process)
    else:
        alive = now - _last_beat_ms(store, number, note) / 1000 < DEAD_AFTER_SECONDS
    if alive:
        raise _busy(store, note)


def _fence(writer: Writer) -> None:
    """Take what the dead writer may have been about to commit."""
    snapshot = writer.snapshot()
    for number in snapshot.incomplete:
        writer.store.delete(manifests.file_name(number))
    writer.commit(Manifest(writer.snapshot().next_number, Kind.FENCE, writer.now_ms()))


def is_free(store: Store) -> bool:
    """Whether nobody writes but this process, if it does."""
    last = _highest(store)
    if last == 0 or _is_done(store, last):
        return True
    note = _read_note(store, last)
    mine = (socket.gethostname(), os.getpid(), process_mark())
    return note is not None and (note.host, note.pid, note.process) == mine


def is_running(pid: int, mark: str) -> bool:
    """Whether the process that had this id and mark is still there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's, whose mark can be read, too, unless /proc hides it
        return process_mark(pid) in ("", mark)
    return process_mark(pid) == mark


def process_mark(pid: int | None = None) -> str:
    """The boot and the tick at which a process began; empty where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid or os.getpid()}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    return f"{boot} {stat.rpartition(')')[2].split()[19]}"  # the name may hold blanks


def _file_name(number: int, kind: str = "json") -> str:
    return f"{FOLDER}/{number:010}.{kind}"


def _numbers(store: Store) -> list[int]:
    found = (manifests.number_of(entry.name) for entry in store.list(FOLDER))
    return [number for number in found if number is not None]


def _is_done(store: Store, number: int) -> bool:
    done = Path(_file_name(number, "done")).name
    return any(entry.name == done for entry in store.list(FOLDER))


def _last_beat_ms(store: Store, number: int, note: Note) -> int:
    try:
        return int(store.read(_file_name(number, "beat")))
    except (FileNotFoundError, ValueError):  # none yet, or one is being written
        return note.began_ms


def _highest(store: Store) -> int:
    return max(_numbers(store), default=0)


def _read_note(store: Store, number: int) -> Note | None:
    """None when it cannot be read: it went just now, or its writer died over it."""
    try:
        raw: Mapping[str, object] = json.loads(store.read(_file_name(number)))
        return Note(**raw)  # type: ignore[arg-type]
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _busy(store: Store, note: Note | None) -> BusyError:
    who = f"`{note.doing}` (process {note.pid} on {note.host})" if note else "another writer"
    return BusyError(
        f"{who} is writing to {store.address}",
        hint="wait until it is done, or stop it; tables have one writer at a time, and a running "
        "stream compacts by itself",
    )


def _overtaken(store: Store) -> OvertakenError:
    return OvertakenError(
        f"another writer took over {store.address}",
        hint="this one was silent for so long that it was taken for dead; what it had not "
        "committed will be read again by the next run",
    )
