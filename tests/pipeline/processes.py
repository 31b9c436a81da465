"""Run the pipeline in a process of its own, to kill it or to use a Spark cluster."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

RUN = """
import json, os, sys
from dataclasses import replace
from pathlib import Path
from rollcall.pipeline.sources import planning
from rollcall.pipeline.spark.session import open_session
from rollcall.pipeline.spark.config import SessionConfig
from tests.pipeline.running import read

settings = json.loads(sys.argv[1])
planning.BATCH_FILES = settings.get("batch_files", planning.BATCH_FILES)
config = SessionConfig(master=settings["master"], small=True, conf=settings.get("conf", {}))
with_archive = replace(config, cache=Path(os.environ.get("ROLLCALL_CACHE") or "."))
if with_archive.archive and with_archive.archive.exists:
    config = with_archive  # a process that is killed must not write the archive
with open_session(config) as spark:
    print("ready", flush=True)
    read(spark, Path(settings["tables"]), *sys.argv[2:])
    print("done", flush=True)
"""


def start(settings: str, *logs: Path) -> subprocess.Popen[str]:
    """Start a run, which prints `ready` when Spark is up, and `done`."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, settings, *map(str, logs)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
