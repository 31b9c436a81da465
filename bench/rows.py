"""Measurements: rows of the result table, and how times are taken."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Growth:
    """Input size and number of cores of a measurement in a series."""

    lines: int
    cores: int


@dataclass(frozen=True)
class Row:
    """A row of the result table; `ratio` is compared with the bar."""

    what: str
    ours: float
    peer: str
    theirs: float
    unit: str
    ratio: float
    bar: str
    met: bool
    spread: float
    """Interquartile range of our runs, relative to the median."""
    growth: Growth | None = None

    def as_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Timing:
    median: float
    spread: float


def alternate(
    runs: Mapping[str, Callable[[], object]], *, rounds: int, seconds_per_run: float
) -> dict[str, Timing]:
    """CPU time of one call of each in microseconds; the runs alternate."""
    counts = {name: _calls_in(run, seconds_per_run) for name, run in runs.items()}
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            samples[name].append(_time(run, counts[name]) * 1e6)
    return {name: timing(taken) for name, taken in samples.items()}


def _calls_in(run: Callable[[], object], seconds: float) -> int:
    run()
    count = 1
    while (elapsed := _time(run, count) * count) < seconds / 4:
        count *= 2
    return max(1, int(count * seconds / elapsed))


def _time(run: Callable[[], object], count: int) -> float:
    gc.collect()
    start = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - start) / count


def timing(samples: list[float]) -> Timing:
    median = statistics.median(samples)
    low, _, high = statistics.quantiles(samples, n=4)
    return Timing(median, (high - low) / median if median else 0.0)


def faster(
    what: str, peer: str, ours: Timing, theirs: Timing, at_least: float, unit: str = "us"
) -> Row:
    """Bar: `at_least` times as fast as the peer."""
    ratio = theirs.median / ours.median
    bar = f"{at_least:g}x faster"
    return _row(what, peer, ours, theirs, unit, ratio, bar, met=ratio >= at_least)


def within(
    what: str, peer: str, ours: Timing, theirs: Timing, at_most: float, unit: str = "us"
) -> Row:
    """Bar: `at_most` times the time of the peer."""
    ratio = ours.median / theirs.median
    bar = f"at most {at_most:g}x"
    return _row(what, peer, ours, theirs, unit, ratio, bar, met=ratio <= at_most)


def below(what: str, peer: str, ours: Timing, theirs: Timing, at_most: float, unit: str) -> Row:
    """Bar: `at_most` in total; the peer is for comparison only."""
    bar = f"at most {at_most:g} {unit}"
    ratio = ours.median / theirs.median if theirs.median else 0.0
    return _row(what, peer, ours, theirs, unit, ratio, bar, met=ours.median <= at_most)


def _row(
    what: str,
    peer: str,
    ours: Timing,
    theirs: Timing,
    unit: str,
    ratio: float,
    bar: str,
    *,
    met: bool,
) -> Row:
    return Row(what, ours.median, peer, theirs.median, unit, ratio, bar, met, ours.spread)
