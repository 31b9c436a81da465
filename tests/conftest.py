"""What all tests share: where Hypothesis keeps its finds, that being slow is no failure, and how
they are dealt out to workers (`make test` has two)."""

import signal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

pytest_plugins = ["tests.spark_sessions"]


def pytest_configure(config: pytest.Config) -> None:
    # what a shell starts in the background ignores Ctrl-C, and so would all that tests start
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    set_hypothesis_home_dir(config.rootpath / ".cache" / "hypothesis")
    settings.register_profile("rollcall", parent=settings(), deadline=None)
    settings.load_profile("rollcall")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kills", type=int, default=5, help="how often the pipeline is killed with -9 (5)"
    )
    parser.addoption(
        "--mixed-lines",
        type=int,
        default=100_000,
        help="how many generated lines the tables are held against a plain reader's (100,000)",
    )


TOGETHER = {
    "tests/pipeline/": "tests/pipeline/",
    "tests/loggen/": "tests/pipeline/",
    "tests/docs/": "tests/docs/",
}
"""Directories whose tests stay on one worker: they share a Spark session or a cluster."""
APART = ("tests/pipeline/jobs/test_kill.py", "tests/pipeline/jobs/test_spark_cluster.py")
"""Tests in these directories that start their own processes."""
LONGEST = (
    "tests/pipeline/",
    "tests/docs/",
    "tests/kafka/test_real_kafka.py",
    "tests/kafka/test_topic_stream.py",
    "tests/kafka/test_upgrade.py",
    "tests/cli/demo/test_demo.py",
    *APART,
    "tests/cli/pipeline/test_full_disk.py",
)
"""What takes longest begins first, so that no worker waits long for the other in the end."""


def unit_of(test: str) -> str:
    """The tests that stay on one worker: those of a file, or of a folder."""
    file = test.partition("::")[0]
    if file in APART:
        return file
    return next((unit for start, unit in TOGETHER.items() if file.startswith(start)), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {unit: number for number, unit in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(unit_of(item.nodeid), len(place)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False
    return Scheduler(config, log)
