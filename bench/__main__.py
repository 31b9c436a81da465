"""Measure rollcall next to its peers and print one table of ratios."""

import argparse
import json
import platform
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from bench import codec, inference, pipeline, reports, roll_call, server
from bench.picture import draw
from bench.rows import Row

PEERS = ("kio", "kafka-python", "duckdb", "pyspark")

Measurement = Callable[[], Iterator[Row]]
MEASUREMENTS: dict[str, Measurement] = {
    "codec": lambda: codec.measure(rounds=15, seconds_per_run=0.15),
    "server": lambda: server.measure(rounds=7, connects=4_000, idle=10_000),
    "roll-call": lambda: roll_call.measure(rounds=5),
    "inference": inference.measure,
    "reports": lambda: reports.measure(rounds=5),
    "pipeline": lambda: pipeline.measure(lines=1_000_000, rounds=5),
}
QUICK: dict[str, Measurement] = {
    "codec": lambda: codec.measure(rounds=3, seconds_per_run=0.02),
    "server": lambda: server.measure(rounds=2, connects=500, idle=500),
    "roll-call": lambda: roll_call.measure(rounds=2),
    "inference": inference.measure,
    "reports": lambda: reports.measure(rounds=2, size=reports.Size(clients=200, brokers=12)),
    "pipeline": lambda: pipeline.measure(lines=20_000, rounds=2, growth=(0.5, 1)),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--quick", action="store_true", help="run few short rounds, to check that it works"
    )
    parser.add_argument("--only", choices=MEASUREMENTS, help="run one benchmark")
    parser.add_argument("--picture", type=Path, help="write the pipeline time per line as SVG")
    options = parser.parse_args()
    available = QUICK if options.quick else MEASUREMENTS
    chosen = {name: run for name, run in available.items() if options.only in (None, name)}
    rows: list[Row] = []
    failed = False
    try:
        rows.extend(_measured(chosen))
    except KeyboardInterrupt:  # print the rows measured so far
        print("interrupted; results so far:", file=sys.stderr)
    except Exception:  # noqa: BLE001 - print the rows measured so far
        traceback.print_exc()
        failed = True
    if options.picture and any(row.growth for row in rows):
        options.picture.write_text(draw(rows), encoding="utf-8")
    if options.json:
        print(
            json.dumps({"machine": _machine(), "rows": [row.as_json() for row in rows]}, indent=2)
        )
    else:
        _print(rows)
    return int(failed)


def _measured(chosen: dict[str, Measurement]) -> Iterator[Row]:
    with Console(stderr=True).status("measuring") as status:
        for name, measurement in chosen.items():
            status.update(f"measuring: {name}")
            try:
                for row in measurement():
                    status.update(f"measuring: {name} (last: {row.what}, {row.ratio:.2f})")
                    yield row
            except pytest.skip.Exception as reason:  # a peer is not available
                print(f"skipped {name}: {reason}", file=sys.stderr)


def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{peer: version(peer) for peer in PEERS},
    }


def _print(rows: list[Row]) -> None:
    machine = _machine()
    table = Table(caption=", ".join(f"{name} {value}" for name, value in machine.items()))
    for name in ("benchmark", "rollcall", "peer", "peer's", "ratio", "bar", "met", "spread"):
        table.add_column(
            name, justify="right" if name in ("rollcall", "peer's", "ratio") else "left"
        )
    for row in rows:
        table.add_row(
            row.what,
            f"{row.ours:,.1f} {row.unit}",
            row.peer,
            f"{row.theirs:,.1f} {row.unit}",
            f"{row.ratio:.2f}",
            row.bar,
            "yes" if row.met else "NO",
            f"{row.spread:.0%}",
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)


if __name__ == "__main__":
    sys.exit(main())
