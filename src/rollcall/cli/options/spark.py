"""Options of commands that run Spark, and the Spark session of a command."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollcall.cli.terminal.signals import children_ignore_sigterm
from rollcall.errors import ConfigError, RollcallError

if TYPE_CHECKING:
    from rollcall.pipeline.spark.config import SessionConfig
    from rollcall.tables.stores import Store

DEFAULT_MASTER = "local[*]"
MAX_SECONDS = 36_500 * 86_400.0
STARTING = "starting Spark"
"""Text of the progress line until the session is open."""

MasterOption = Annotated[
    str,
    typer.Option(
        metavar="URL",
        show_default=False,
        help="Spark master, for example local[4], spark://host:7077 or yarn (default local[*]).",
    ),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="Spark configuration property (repeatable)."),
]


def require_spark() -> None:
    """Raise an error if PySpark, an optional dependency, is not installed."""
    if find_spec("pyspark") is None:
        raise RollcallError(
            "PySpark is not installed",
            hint="run pip install 'rollcall[pipeline]'; it needs Java 17 or newer",
        )
    # py4j logs an interrupt with its traceback to the root logger; the exception is raised anyway
    logging.getLogger().addHandler(logging.NullHandler())


def session_config(master: str, conf: Sequence[str]) -> SessionConfig:
    from rollcall.pipeline.spark.config import SessionConfig

    return SessionConfig(
        master=master, conf=parse_conf(conf), java=java(), cache=_cache_directory()
    )


def parse_conf(conf: Sequence[str]) -> dict[str, str]:
    parsed = {}
    for setting in conf:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise ConfigError(
                f"--conf {setting!r} is not KEY=VALUE",
                hint="use for example --conf spark.driver.memory=4g",
            )
        parsed[key.strip()] = value
    return parsed


def java() -> str:
    """The Java executable: of JAVA_HOME, otherwise of the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else shutil.which("java") or "java"


def _cache_directory() -> Path | None:
    """Directory of the class archive that makes Spark start faster; None if disabled.

    Set `ROLLCALL_CACHE` to change the directory, or to an empty string to disable the cache.
    """
    if (chosen := os.environ.get("ROLLCALL_CACHE")) is not None:
        return Path(chosen).absolute() if chosen else None
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "rollcall"


@contextmanager
def open_store(tables: str, conf: Sequence[str]) -> Iterator[Store]:
    """The store of the tables. Only file systems other than the local one need Spark."""
    from rollcall.pipeline.jobs.job import local_store
    from rollcall.pipeline.sources.paths import is_local

    if is_local(tables):
        yield local_store(tables)
        return
    require_spark()
    from rollcall.pipeline.sources.hadoop import Hadoop, HadoopStore
    from rollcall.pipeline.spark.session import open_session

    config = replace(session_config("local[1]", conf), small=True, cache=None)
    with open_session(config) as spark:
        yield HadoopStore.at(Hadoop(spark), tables)


def parse_seconds(text: str, option: str, example: str) -> float:
    """`10s`, `5m`, `2h`, `90d`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text.strip())
    if match is None:
        raise ConfigError(
            f"{option} {text!r} is not a duration",
            hint=f"use a number with ms, s, m, h or d, for example {example}",
        )
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    seconds = float(match[1]) * units[match[2]]
    if not 0 < seconds <= MAX_SECONDS:
        raise ConfigError(
            f"{option} {text!r} is out of range", hint="use more than 0 and at most 36500d"
        )
    return seconds


@contextmanager
def spark_session(config: SessionConfig) -> Iterator[Any]:
    """A Spark session whose JVM outlives SIGTERM until the command has cleaned up."""
    from rollcall.pipeline.spark.errors import translate_jvm_exit
    from rollcall.pipeline.spark.session import open_session

    with ExitStack() as stack:
        stack.enter_context(translate_jvm_exit())
        with children_ignore_sigterm(), bind_to_loopback(config):
            spark = stack.enter_context(open_session(config))
        yield spark


@contextmanager
def bind_to_loopback(config: SessionConfig) -> Iterator[None]:
    """Let a local Spark use 127.0.0.1, unless SPARK_LOCAL_IP is set.

    Spark resolves the host name otherwise, which fails in some containers and VPNs.
    """
    from rollcall.pipeline.spark.jvm import LOCAL_IP

    if LOCAL_IP in os.environ or not config.is_local:
        yield
        return
    os.environ[LOCAL_IP] = "127.0.0.1"
    try:
        yield
    finally:
        del os.environ[LOCAL_IP]
