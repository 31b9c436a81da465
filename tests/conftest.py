"""What all tests share: where Hypothesis keeps its finds, and that being slow is no failure."""

import signal

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir


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
