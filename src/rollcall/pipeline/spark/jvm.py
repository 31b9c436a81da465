"""Java as a process: found, started and ended."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

OLDEST_JAVA = 17
END_SECONDS = 30.0
LOCAL_IP = "SPARK_LOCAL_IP"
"""The variable that Spark takes the address of this machine from."""


def java_version(java: str) -> int | None:
    """The number before the first dot (8 for 1.8); None when there is no Java."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, check=False, timeout=30)  # noqa: S603
    except OSError:
        return None
    match = re.search(rb'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(match[1]) if match else None


def start_jvm(conf: SparkConf, output: Mapping[str, Any]) -> None:
    """For this process; what Java has to say goes to `output`."""
    if SparkContext._gateway is not None:
        _forget_scratch(SparkContext._jvm)
        return
    launch: Callable[..., Any] = launch_gateway
    with _uninterrupted():
        SparkContext._gateway = launch(conf, dict(output))
        SparkContext._jvm = SparkContext._gateway.jvm


def _forget_scratch(jvm: Any) -> None:
    """Java is of an earlier session, and would make that one's scratch folder again."""
    with suppress(Py4JError):  # it is Spark's own, and nothing is lost without it
        getattr(getattr(jvm.org.apache.spark.util, "Utils$"), "MODULE$").clearLocalRootDirs()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until Java has been found: left half-way, Java would be left running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


def stop_jvm(patience: float = END_SECONDS) -> None:
    """Java ends when its input does, and tidies up: it is given so many seconds for that."""
    gateway: Any = SparkContext._gateway
    if gateway is None or gateway.proc is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    # a thread of py4j tells Java what Python forgot, and would complain that nobody listens
    gateway._gateway_client.is_connected = False
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(patience)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
