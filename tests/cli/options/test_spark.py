"""The Spark session of a command."""

import os
import subprocess
import sys

import pytest

from rollcall.cli.options.spark import bind_to_loopback
from rollcall.pipeline.spark.config import SessionConfig

LOCAL_IP = "SPARK_LOCAL_IP"
OWN_NAME = """
from rollcall.cli.options.spark import spark_session
from rollcall.pipeline.spark.config import SessionConfig

with spark_session(SessionConfig(master="local[1]", small=True)) as spark:
    utilities = getattr(spark._jvm.org.apache.spark.util, "Utils$")
    print(getattr(utilities, "MODULE$").localCanonicalHostName())
"""


def test_local_session_does_not_resolve_the_host_name() -> None:
    environment = {name: text for name, text in os.environ.items() if name != LOCAL_IP}
    result = subprocess.run(
        [sys.executable, "-c", OWN_NAME],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
        env=environment,
    )
    assert result.stdout.strip() in {"127.0.0.1", "localhost"}


@pytest.mark.parametrize(
    ("master", "given", "used"),
    [
        ("local[2]", None, "127.0.0.1"),
        ("local[2]", "10.0.0.9", "10.0.0.9"),
        ("spark://spark1:7077", None, None),
    ],
)
def test_local_ip_is_set_for_local_masters_only_and_never_overridden(
    monkeypatch: pytest.MonkeyPatch, master: str, given: str | None, used: str | None
) -> None:
    monkeypatch.delenv(LOCAL_IP, raising=False)
    if given is not None:
        monkeypatch.setenv(LOCAL_IP, given)
    with bind_to_loopback(SessionConfig(master=master)):
        assert os.environ.get(LOCAL_IP) == used
    assert os.environ.get(LOCAL_IP) == given
