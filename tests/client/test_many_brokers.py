"""Roll call of a cluster of 300 brokers; `bench/roll_call.py` measures 1,000."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.client import Address, AdminClient, ClientConfig, FailureKind, roll_call

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fleet() -> Iterator[Address]:
    command = [sys.executable, "-m", "tests.client.many_brokers"]
    options = ["--count", "300", "--delay", "0.1", "--unreachable", "6"]
    with subprocess.Popen(
        [*command, *options], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield Address.parse(process.stdout.readline())
        process.stdin.close()
        process.wait(timeout=60)


async def test_885_2_roll_call_queries_hundreds_of_brokers_in_parallel(fleet: Address) -> None:
    config = ClientConfig(broker_timeout=20, api_versions_timeout=60)
    began = time.monotonic()
    async with AdminClient([fleet], config) as client:
        calls = await roll_call(client)
    seconds = time.monotonic() - began
    assert len(calls.rows) == 300
    assert [row.failure for row in calls.missing].count(FailureKind.REFUSED) == 3
    assert [row.failure for row in calls.missing].count(FailureKind.NO_RESPONSE) == 3
    assert len(calls.missing) == 6
    assert calls.rows[7].start_time_ms == 1_700_000_000_007
    assert seconds < 60  # one by one, the 3 that do not respond would take 60 s
