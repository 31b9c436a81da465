"""A bounded run of the fuzzer; `python -m tests.protocol.fuzz` runs it without a bound."""

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
def test_mutated_bytes_are_read_or_rejected(seed: int) -> None:
    frames = iter(range(FRAMES // len(SEEDS)))
    failures = [failure for failure in run(frames, seed) if failure is not None]
    assert [f"{f.target}: {f.error!r} for {f.data.hex()}" for f in failures] == []


def test_mutated_bytes_do_not_leak_memory() -> None:
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
    assert kept < 500_000  # bounded caches fill up


def test_the_fuzzer_reaches_valid_and_invalid_frames() -> None:
    """If all frames were rejected at the first byte, the fuzzer would find nothing."""
    chance, rejected, fields = random.Random(0), 0, set()
    all_targets = targets()
    for number in range(4_000):
        target = all_targets[number % len(all_targets)]
        data = mutate(chance, target.seeds[0], chance.choice(all_targets).seeds[0])
        try:
            target.read(data)
        except RemoteProtocolError as error:
            rejected += 1
            fields.add(str(error).partition(": ")[2].partition(" at byte")[0])
    assert 1_000 < rejected < 3_800
    assert len(fields) > 200
