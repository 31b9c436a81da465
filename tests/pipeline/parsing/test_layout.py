"""A log4j pattern, compiled or refused."""

import pytest

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN, compile_layout


def test_kafkas_own_layout_needs_no_rewriting() -> None:
    assert compile_layout(DEFAULT_PATTERN).is_default
    assert compile_layout("[%d] %p %m (%c)").is_default
    assert not compile_layout("%d %p %m (%c)%n").is_default


def test_a_layout_may_shorten_the_logger_and_name_the_zone() -> None:
    layout = compile_layout("%d{ISO8601}{Europe/Berlin} %p %c{1} %m%n")
    assert (layout.logger, layout.time_zone) == ("logger", "Europe/Berlin")
    assert SourceSettings(layout="%d{ISO8601}{Europe/Berlin} %p %m%n").zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("written", "logger"),
    [
        ("%c", "kafka.request.logger"),
        ("%c{2}", "request.logger"),
        ("%logger{36}", "kafka.request.logger"),
        ("%c{-1}", "request.logger"),
        ("%c{-9}", "kafka.request.logger"),
        ("%c{1.}", "k.r.logger"),
    ],
)
def test_a_logger_is_known_as_short_as_the_layout_writes_it(written: str, logger: str) -> None:
    assert compile_layout(f"%d %p {written} %m%n").logger == logger


def test_the_longest_name_wins() -> None:
    assert compile_layout("%d %p %location %m%n") == compile_layout("%d %p %t %m%n")
    assert compile_layout("%d %marker %p %m (%c)%n") == compile_layout("%d %X{a} %p %m (%c)%n")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("%p %m (%c)%n", "%d"),
        ("%d %p (%c)%n", "%m"),
        ("%m %d%n", "%d comes after %m"),
        ("%d %Q %m%n", "%Q"),
        ("%d{ABSOLUTE} %m%n", "ABSOLUTE"),
        ("%d{HH:mm:ss} %m%n", "day, month, year"),
        ("%d{dd MMM yyyy HH:mm:ss} %m%n", "MMM"),
        ("%d %notEmpty{%X} %p %m%n", "%notEmpty"),
        ("%d %p %replace{%m}{a}{b}%n", "%replace"),
    ],
)
def test_a_layout_that_cannot_be_read_is_refused_with_a_reason(pattern: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_layout(pattern)
    assert why in caught.value.message
    assert caught.value.hint is not None


def test_a_time_zone_must_exist() -> None:
    with pytest.raises(ConfigError, match="Mars/Olympus"):
        SourceSettings(time_zone="Mars/Olympus")
    with pytest.raises(ConfigError, match="Mars/Olympus"):
        SourceSettings(layout="%d{ISO8601}{Mars/Olympus} %p %m%n")
