"""`python -m bench [--json] [--quick]`: measure, and print one table."""

import argparse
import json
import platform
import sys
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

from bench import codec
from bench.rows import Row

PEERS = ("kio", "kafka-python")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument(
        "--quick", action="store_true", help="few short rounds: to see that it runs"
    )
    options = parser.parse_args()
    rounds, seconds = (3, 0.02) if options.quick else (15, 0.15)
    console = Console(stderr=True)
    rows = []
    with console.status("measuring", spinner="dots"):
        rows.extend(codec.measure(rounds=rounds, seconds_per_run=seconds))
    if options.json:
        print(
            json.dumps({"machine": _machine(), "rows": [row.as_json() for row in rows]}, indent=2)
        )
    else:
        _print(rows)
    return 0


def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{peer: version(peer) for peer in PEERS},
    }


def _print(rows: list[Row]) -> None:
    machine = _machine()
    table = Table(caption=", ".join(f"{name} {value}" for name, value in machine.items()))
    for name in ("what", "rollcall", "peer", "its", "ratio", "bar", "met", "spread"):
        table.add_column(name, justify="right" if name in ("rollcall", "its", "ratio") else "left")
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
