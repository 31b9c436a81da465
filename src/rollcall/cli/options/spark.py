"""Starting Spark for a command: what the environment says, and where tables and logs lie."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollcall.cli.terminal.signals import children_stay
from rollcall.errors import ConfigError, RollcallError
from rollcall.pipeline.sources.paths import absolute, is_local, local_path
from rollcall.tables.stores import LocalStore, Store

if TYPE_CHECKING:
    from rollcall.pipeline.sources.files import Place
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


def local_store(tables: str) -> LocalStore:
    return LocalStore(absolute(local_path(tables)))


def places(spark: Any) -> Callable[[str], Place]:
    """Who can read a path; without Spark, only this machine's."""
    from rollcall.pipeline.sources.files import LocalPlace
    from rollcall.pipeline.sources.hadoop import Hadoop, HadoopPlace

    here = LocalPlace()
    elsewhere = HadoopPlace(Hadoop(spark)) if spark is not None else None

    def place_of(path: str) -> Place:
        return here if is_local(path) or elsewhere is None else elsewhere

    return place_of


def store_for(spark: Any, tables: str) -> Store:
    if is_local(tables):
        return local_store(tables)
    from rollcall.pipeline.sources.hadoop import Hadoop, HadoopStore

    return HadoopStore.at(Hadoop(spark), tables)


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
    from rollcall.pipeline.spark.errors import java_may_end
    from rollcall.pipeline.spark.session import open_session

    with ExitStack() as stack:
        stack.enter_context(java_may_end())
        with children_stay(), on_loopback(config):
            spark = stack.enter_context(open_session(config))
        yield spark


@contextmanager
def on_loopback(config: SessionConfig) -> Iterator[None]:
    """Where Spark stays on one machine. It asks for the address of the machine's name, and not
    every name has one, as in some containers and beside some VPNs."""
    from rollcall.pipeline.spark.jvm import OWN_ADDRESS

    if OWN_ADDRESS in os.environ or not config.is_local:
        yield
        return
    os.environ[OWN_ADDRESS] = "127.0.0.1"
    try:
        yield
    finally:
        del os.environ[OWN_ADDRESS]
