"""A roll call of a large cluster; how fast it is at 1,000 is for `make bench` to say."""

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
    options = ["--count", "300", "--delay", "0.1", "--dead", "6"]
    with subprocess.Popen(
        [*command, *options], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield Address.parse(process.stdout.readline())
        process.stdin.close()
        process.wait(timeout=10)


async def test_885_2_hundreds_of_brokers_are_asked_at_once(fleet: Address) -> None:
    config = ClientConfig(broker_timeout=6.0, api_versions_timeout=20.0)
    began = time.monotonic()
    async with AdminClient([fleet], config) as client:
        calls = await roll_call(client)
    took = time.monotonic() - began
    assert len(calls.rows) == 300
    assert [row.failure for row in calls.missing].count(FailureKind.REFUSED) == 3
    assert [row.failure for row in calls.missing].count(FailureKind.NO_RESPONSE) == 3
    assert len(calls.missing) == 6
    assert calls.rows[7].start_time_ms == 1_700_000_000_007
    assert took < 30  # one after another they would take a minute
