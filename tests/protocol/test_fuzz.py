"""A bounded run of the fuzz target; `python -m tests.protocol.fuzz` is the unbounded one."""

import gc
import random
import tracemalloc
from itertools import islice

import pytest

from rollcall.protocol.errors import RemoteProtocolError
from tests.protocol.fuzz import mutate, run, targets

FRAMES = 50_000
SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_bytes_are_read_or_refused(seed: int) -> None:
    frames = iter(range(FRAMES // len(SEEDS)))
    finds = [find for find in run(frames, seed) if find is not None]
    shown = [f"{find.target}: {find.error!r} for {find.data.hex()}" for find in finds]
    assert shown == []


def test_damaged_bytes_leave_no_memory_behind() -> None:
    frames = run(iter(range(12_000)), seed=99)
    for _ in islice(frames, 6_000):
        pass
    gc.collect()
    tracemalloc.start()
    try:
        for _ in islice(frames, 6_000):
            pass
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 500_000  # the tables of recurring values fill up to their limit


def test_the_target_reaches_good_and_bad_frames() -> None:
    """A fuzzer whose frames are all refused at the first byte would find nothing."""
    chance, refused, places = random.Random(0), 0, set()
    every = targets()
    for number in range(4_000):
        target = every[number % len(every)]
        data = mutate(chance, target.seeds[0], chance.choice(every).seeds[0])
        try:
            target.read(data)
        except RemoteProtocolError as error:
            refused += 1
            places.add(str(error).partition(": ")[2].partition(" at byte")[0])
    assert 1_000 < refused < 3_800
    assert len(places) > 200
