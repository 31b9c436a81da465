"""How many records a batch of a topic holds, told by its offsets and not by what was read.

Before it runs a batch, Spark notes up to which offset of each partition it goes; it begins where
the batch before ended. Some offsets hold no record: compaction or retention took it, or it is the
mark of a transaction. Then, and only then, the records are counted by reading them once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from rollcall.pipeline.errors import PipelineError
from rollcall.tables.stores import Store

Counts = Mapping[int, int]
"""By partition."""


def check_records(lines: Counts, offsets: Counts | None, recount: Callable[[], Counts]) -> Counts:
    """Every record is a line, of each partition; how many offsets hold none."""
    if offsets is not None and _same(lines, offsets):
        return {}
    records = recount()
    for partition in sorted({*lines, *records}):
        if lines.get(partition, 0) != records.get(partition, 0):
            raise PipelineError(
                f"partition {partition}: {records.get(partition, 0)} records, but "
                f"{lines.get(partition, 0)} lines were counted",
                hint="nothing was written; run the same command again, and if it is so again, "
                "please report it: it is a fault of rollcall",
            )
    empty = {key: count - records.get(key, 0) for key, count in (offsets or {}).items()}
    return {partition: count for partition, count in empty.items() if count > 0}


def _same(one: Counts, other: Counts) -> bool:
    return all(one.get(key, 0) == other.get(key, 0) for key in {*one, *other})


def noted_offsets(store: Store, notes: str, topic: str, batch: int) -> Counts | None:
    """Offsets of each partition that a batch goes over; None where Spark's notes do not tell."""
    before = f"offsets/{batch - 1}" if batch else "sources/0/0"
    try:
        last = _ends(store.read(f"{notes}/offsets/{batch}"), topic)
        first = _ends(store.read(f"{notes}/{before}"), topic)
        return {partition: end - first[partition] for partition, end in last.items()}
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return None  # another form of notes, or a partition that is new


def _ends(note: bytes, topic: str) -> dict[int, int]:
    """The last line of a note: {"topic": {"0": 17}}."""
    told = json.loads(note.decode().splitlines()[-1])[topic]
    return {int(partition): int(end) for partition, end in told.items()}
