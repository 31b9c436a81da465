"""Shared by all tests: Hypothesis settings, options, and the distribution to test workers."""

import signal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

pytest_plugins = ["tests.spark_sessions"]


def pytest_configure(config: pytest.Config) -> None:
    # a process started in the background by a shell ignores SIGINT, and so would its children
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    set_hypothesis_home_dir(config.rootpath / ".cache" / "hypothesis")
    settings.register_profile("rollcall", parent=settings(), deadline=None)
    settings.load_profile("rollcall")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-docs", action="store_true", help="write the output of documented commands"
    )
    parser.addoption(
        "--kills",
        type=int,
        default=5,
        help="number of times the pipeline is killed with SIGKILL (default 5)",
    )
    parser.addoption(
        "--mixed-lines",
        type=int,
        default=100_000,
        help="number of generated lines compared with the reference reader (default 100,000)",
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
"""The longest tests start first, so that the workers finish at about the same time."""


def unit_of(test: str) -> str:
    """The unit of distribution: a file, or a directory of TOGETHER."""
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
