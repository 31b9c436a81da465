"""What a command of the pipeline works with: where to read, where to write, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from rollcall import __version__
from rollcall.cli.options.spark import local_store, places, spark_session, store_for
from rollcall.cli.terminal.signals import stoppable
from rollcall.pipeline.sources.paths import is_local
from rollcall.tables.fresh import tables_to_write
from rollcall.tables.writers import open_writer

if TYPE_CHECKING:
    from rollcall.pipeline.aggregates.record_types import Recipe
    from rollcall.pipeline.jobs.batch import Job
    from rollcall.pipeline.spark.config import SessionConfig

SMALL_BYTES = 8 << 20


def recipe_of(time_zone: str, layout: str | None, inter_broker: Sequence[str] | None) -> Recipe:
    from rollcall.pipeline.aggregates.record_types import request_logs
    from rollcall.pipeline.parsing.settings import SourceSettings

    settings: dict[str, Any] = {"layout": layout} if layout is not None else {}
    return request_logs(
        SourceSettings(time_zone=time_zone, inter_broker=tuple(inter_broker or ()), **settings)
    )


def is_small(logs: Sequence[str]) -> bool:
    weight = weigh(logs)
    return weight is not None and weight < SMALL_BYTES


def weigh(logs: Sequence[str]) -> int | None:
    """The bytes of logs on this machine, None if some are elsewhere. They are looked for before
    Spark is started: what is missing is told at once."""
    from rollcall.pipeline.jobs.run import find_logs
    from rollcall.pipeline.sources.planning import GZIP_RATIO

    here = [path for path in logs if is_local(path)]
    files = find_logs(places(None), here)
    weight = sum(file.bytes * (GZIP_RATIO if file.path.endswith(".gz") else 1) for file in files)
    return weight if len(here) == len(logs) else None


@contextmanager
def open_job(config: SessionConfig, tables: str, doing: str, recipe: Recipe) -> Iterator[Job]:
    from rollcall.pipeline.jobs.batch import Job
    from rollcall.pipeline.sources.paths import check_for_spark

    check_for_spark(str(local_store(tables).root) if is_local(tables) else tables)
    made_by = f"rollcall {__version__}"
    with ExitStack() as stack:
        stack.enter_context(stoppable())
        if is_local(tables):  # a wrong folder is told before Spark is started
            stack.enter_context(tables_to_write(local_store(tables), made_by))
        spark = stack.enter_context(spark_session(config))
        store = store_for(spark, tables)
        stack.enter_context(tables_to_write(store, made_by))
        writer = stack.enter_context(open_writer(store, doing))
        yield Job(spark=spark, writer=writer, place_of=places(spark), recipe=recipe)
