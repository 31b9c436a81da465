"""Roll call of 1,000 brokers that respond after a delay, 1% of them unreachable.

One process listens on 1,000 ports (`tests.client.many_brokers`). The reference value is the delay
of one response; a roll call needs several responses from a broker, one after another.
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

BROKERS, UNREACHABLE = 1_000, 10
TIMEOUT = 1.8
BARS = {0.0: 2 + TIMEOUT, 0.05: 2 + TIMEOUT, 0.5: 3.0}
"""Maximum seconds for the roll call by delay of a response in seconds."""


@contextmanager
def _fleet(delay: float) -> Iterator[Address]:
    command = [sys.executable, "-m", "tests.client.many_brokers", "--count", str(BROKERS)]
    with subprocess.Popen(
        [*command, "--delay", str(delay), "--unreachable", str(UNREACHABLE)],
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
            process.wait(timeout=60)


async def _call(address: Address) -> float:
    config = ClientConfig(broker_timeout=TIMEOUT, api_versions_timeout=5.0)
    began = time.perf_counter()
    async with AdminClient([address], config) as client:
        calls = await roll_call(client)
    seconds = time.perf_counter() - began
    if (len(calls.rows), len(calls.missing)) != (BROKERS, UNREACHABLE):
        raise AssertionError(f"{len(calls.rows)} rows, {len(calls.missing)} missing")
    return seconds


def measure(*, rounds: int) -> Iterator[Row]:
    for delay, bar in BARS.items():
        with _fleet(delay) as address:
            samples = [_run(address) for _ in range(rounds)]
        what = f"roll call of {BROKERS:,} brokers, 1% unreachable"
        reference = f"a response after {delay * 1000:g} ms"
        yield below(what, reference, timing(samples), Timing(delay, 0.0), bar, "s")


def _run(address: Address) -> float:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_call(address))
