"""The JVM process: find, start and stop it."""

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
STOP_SECONDS = 30.0
LOCAL_IP = "SPARK_LOCAL_IP"
"""The environment variable from which Spark takes the address of this machine."""


def java_version(java: str) -> int | None:
    """The major version (8 for 1.8); None if there is no Java."""
    try:
        result = subprocess.run([java, "-version"], capture_output=True, check=False, timeout=30)  # noqa: S603
    except OSError:
        return None
    match = re.search(rb'version "(?:1\.)?(\d+)', result.stderr + result.stdout)
    return int(match[1]) if match else None


def start_jvm(conf: SparkConf, output: Mapping[str, Any]) -> None:
    """Start the JVM of this process unless it runs; its output goes to `output`."""
    if SparkContext._gateway is not None:
        _forget_local_directories(SparkContext._jvm)
        return
    launch: Callable[..., Any] = launch_gateway
    with _interrupts_deferred():
        SparkContext._gateway = launch(conf, dict(output))
        SparkContext._jvm = SparkContext._gateway.jvm


def _forget_local_directories(jvm: Any) -> None:
    """A JVM that ran a session before would create the local directory of that session again."""
    with suppress(Py4JError):  # internal to Spark; without it an empty directory is left
        getattr(getattr(jvm.org.apache.spark.util, "Utils$"), "MODULE$").clearLocalRootDirs()


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Defer Ctrl-C until py4j is connected; otherwise the JVM would be left running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        signal.raise_signal(signal.SIGINT)


def stop_jvm(timeout: float = STOP_SECONDS) -> None:
    """Close the input of the JVM, upon which it exits; kill it after `timeout` seconds."""
    gateway: Any = SparkContext._gateway
    if gateway is None or gateway.proc is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    # a thread of py4j releases Java objects, and would log that the connection is closed
    gateway._gateway_client.is_connected = False
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(timeout)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
