"""The roll call of 1,000 brokers that answer after a while, 1% of them dead.

One process answers on 1,000 ports (`tests.client.many_brokers`). A roll call of one broker takes a
few answers after one another; beside it stands how long the slowest broker takes for one answer.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvloop

from bench.rows import Row, Timing, below, timing
from rollcall.client import Address, AdminClient, ClientConfig, roll_call

BROKERS, DEAD = 1_000, 10
TIMEOUT = 1.8
BARS = {0.0: 2 + TIMEOUT, 0.05: 2 + TIMEOUT, 0.5: 3.0}
"""Seconds for the whole, by how long a broker takes for an answer; the mute cost their timeout."""


@contextmanager
def _fleet(delay: float) -> Iterator[Address]:
    command = [sys.executable, "-m", "tests.client.many_brokers", "--count", str(BROKERS)]
    with subprocess.Popen(
        [*command, "--delay", str(delay), "--dead", str(DEAD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Address.parse(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(timeout=30)


async def _call(address: Address) -> float:
    config = ClientConfig(broker_timeout=TIMEOUT, api_versions_timeout=5.0)
    began = time.perf_counter()
    async with AdminClient([address], config) as client:
        calls = await roll_call(client)
    took = time.perf_counter() - began
    if (len(calls.rows), len(calls.missing)) != (BROKERS, DEAD):
        raise AssertionError(f"{len(calls.rows)} rows, {len(calls.missing)} missing")
    return took


def measure(*, rounds: int) -> Iterator[Row]:
    for delay, bar in BARS.items():
        with _fleet(delay) as address:
            samples = [_run(address) for _ in range(rounds)]
        what = f"roll call of {BROKERS:,} brokers, 1% dead"
        slowest = Timing(delay, 0.0)
        yield below(
            what, f"an answer after {delay * 1000:g} ms", timing(samples), slowest, bar, "s"
        )


def _run(address: Address) -> float:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_call(address))
