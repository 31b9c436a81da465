"""log4j patterns: compiled, or refused with a reason."""

import pytest

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN, compile_layout


def test_kafkas_own_layout_is_the_default() -> None:
    assert compile_layout(DEFAULT_PATTERN).is_default
    assert compile_layout("[%d] %p %m (%c)").is_default
    assert not compile_layout("%d %p %m (%c)%n").is_default


def test_layout_can_shorten_the_logger_and_name_the_time_zone() -> None:
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
def test_logger_is_shortened_like_the_layout_writes_it(written: str, logger: str) -> None:
    assert compile_layout(f"%d %p {written} %m%n").logger == logger


def test_longest_conversion_name_wins() -> None:
    assert compile_layout("%d %p %location %m%n") == compile_layout("%d %p %t %m%n")
    assert compile_layout("%d %marker %p %m (%c)%n") == compile_layout("%d %X{a} %p %m (%c)%n")


@pytest.mark.parametrize(
    ("pattern", "reason"),
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
def test_unsupported_layout_is_refused_with_a_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compile_layout(pattern)
    assert reason in caught.value.message
    assert caught.value.hint is not None


def test_unknown_time_zone_is_refused() -> None:
    with pytest.raises(ConfigError, match="Mars/Olympus"):
        SourceSettings(time_zone="Mars/Olympus")
    with pytest.raises(ConfigError, match="Mars/Olympus"):
        SourceSettings(layout="%d{ISO8601}{Mars/Olympus} %p %m%n")
