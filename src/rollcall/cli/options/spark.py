"""Starting Spark for a command: what the environment says, and where tables and logs lie."""

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

from rollcall.cli.terminal.signals import children_stay
from rollcall.errors import ConfigError, RollcallError
from rollcall.pipeline.jobs.job import local_store
from rollcall.pipeline.sources.paths import is_local
from rollcall.tables.stores import Store

if TYPE_CHECKING:
    from rollcall.pipeline.spark.config import SessionConfig

DEFAULT_MASTER = "local[*]"
LONGEST_SECONDS = 36_500 * 86_400.0
STARTING = "starting Spark"
"""What is told while it does."""

MasterOption = Annotated[
    str, typer.Option(metavar="URL", help="Spark's master: local[4], spark://host:7077, yarn.")
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be repeated."),
]


def need_spark() -> None:
    """Spark is an extra: most of rollcall does without."""
    if find_spec("pyspark") is None:
        raise RollcallError(
            "PySpark is not installed, and the pipeline runs on it",
            hint="pip install 'rollcall[pipeline]'; it needs Java 17 or newer, too",
        )
    # py4j tells of Ctrl-C in the root logger, with a trace: what matters is raised anyway
    logging.getLogger().addHandler(logging.NullHandler())


def session_config(master: str, conf: Sequence[str]) -> SessionConfig:
    from rollcall.pipeline.spark.config import SessionConfig

    return SessionConfig(master=master, conf=parse_conf(conf), java=java(), cache=_cache_folder())


def parse_conf(conf: Sequence[str]) -> dict[str, str]:
    parsed = {}
    for each in conf:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise ConfigError(
                f"--conf {each!r} is no setting", hint="as in --conf spark.driver.memory=4g"
            )
        parsed[key.strip()] = value
    return parsed


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else shutil.which("java") or "java"


def _cache_folder() -> Path | None:
    """Where rollcall keeps what makes Spark start sooner; ROLLCALL_CACHE names another folder, and
    empty, none."""
    if (chosen := os.environ.get("ROLLCALL_CACHE")) is not None:
        return Path(chosen).absolute() if chosen else None
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "rollcall"


@contextmanager
def store_of(tables: str, conf: Sequence[str]) -> Iterator[Store]:
    """Where the tables are; only another file system than this machine's needs Java to be read."""
    if is_local(tables):
        yield local_store(tables)
        return
    need_spark()
    from rollcall.pipeline.sources.hadoop import Hadoop, HadoopStore
    from rollcall.pipeline.spark.session import open_session

    config = replace(session_config("local[1]", conf), small=True, cache=None)
    with open_session(config) as spark:
        yield HadoopStore.at(Hadoop(spark), tables)


def parse_seconds(text: str, what: str, as_in: str) -> float:
    """`10s`, `5m`, `2h`, `90d`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text.strip())
    if match is None:
        raise ConfigError(
            f"{what} is {text!r}", hint=f"use a number with ms, s, m, h or d, as in {as_in}"
        )
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    seconds = float(match[1]) * units[match[2]]
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ConfigError(f"{what} is {text!r}", hint="use more than 0, and at most 36500d")
    return seconds


@contextmanager
def spark_session(config: SessionConfig) -> Iterator[Any]:
    """Spark for a command, which may be told to stop while it works."""
    from rollcall.pipeline.spark.errors import translate_jvm_exit
    from rollcall.pipeline.spark.session import open_session

    with ExitStack() as stack:
        stack.enter_context(translate_jvm_exit())
        with children_stay(), on_loopback(config):
            spark = stack.enter_context(open_session(config))
        yield spark


@contextmanager
def on_loopback(config: SessionConfig) -> Iterator[None]:
    """Where Spark stays on one machine. It asks for the address of the machine's name, and not
    every name has one, as in some containers and beside some VPNs."""
    from rollcall.pipeline.spark.jvm import LOCAL_IP

    if LOCAL_IP in os.environ or not config.is_local:
        yield
        return
    os.environ[LOCAL_IP] = "127.0.0.1"
    try:
        yield
    finally:
        del os.environ[LOCAL_IP]
